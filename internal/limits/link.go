package limits

import (
	"sync"
	"time"
)

// link knows whether Redis answers. After failures everybody spends a share, and goes on with it for a while when Redis
// is back: until every gateway has told what it spent.
type link struct {
	mu       sync.Mutex
	failures int
	until    time.Duration // of sharing although Redis answers
}

// manyFailures in a row are an outage, and not a slow answer.
const manyFailures = 2

func (k *link) sharing(now time.Duration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failures >= manyFailures || now < k.until
}

// away tells whether Redis is only tried, and not relied upon.
func (k *link) away() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failures >= manyFailures
}

func (k *link) failed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures++
}

// answered ends an outage; pause is how long the others may need to find that out.
func (k *link) answered(now, pause time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failures >= manyFailures {
		k.until = now + pause
	}
	k.failures = 0
}

// lost says that Redis answers and has forgotten.
func (k *link) lost(now, pause time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.until = now + pause
}
