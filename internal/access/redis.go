package access

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"callgate/internal/secret"
)

const (
	grantPrefix = "callgate:grant:"
	channel     = "callgate:access" // its messages say only: read the feed now

	redisTimeout  = 150 * time.Millisecond
	redisLifetime = 60 * time.Second // ± a tenth, so that entries do not expire together
	redisInFlight = 64

	breakerFailures = 3
	breakerPause    = time.Second
)

// grantKey is the Redis key of a grant: prefix and look-up hash, never the Access Key.
func grantKey(lookup []byte) string {
	return grantPrefix + base64.RawURLEncoding.EncodeToString(lookup)
}

var (
	errRedisPaused = errors.New("redis is left alone after repeated failures")
	errRedisBusy   = errors.New("too many redis commands are under way")
)

// link bounds every use of Redis: in time, whatever the client's own settings are (a client
// without ContextTimeoutEnabled ignores deadlines), in number, and after repeated failures by a
// breaker that lets one attempt a second through.
type link struct {
	client redis.UniversalClient
	slots  chan struct{}

	mu       sync.Mutex
	failures int
	retryAt  time.Time
}

func newLink(client redis.UniversalClient) *link {
	return &link{client: client, slots: make(chan struct{}, redisInFlight)}
}

func (l *link) allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures < breakerFailures {
		return true
	}
	now := time.Now()
	if now.Before(l.retryAt) {
		return false
	}
	l.retryAt = now.Add(breakerPause)
	return true
}

// paused tells whether the breaker keeps commands back.
func (l *link) paused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures >= breakerFailures
}

func (l *link) report(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.failures = 0
		return
	}
	l.failures++
	l.retryAt = time.Now().Add(breakerPause)
}

// onRedis runs one command within redisTimeout. The command's goroutine may outlive the wait when
// the client ignores deadlines; there are never more than redisInFlight of them.
func onRedis[T any](ctx context.Context, l *link, command func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if !l.allow() {
		return none, errRedisPaused
	}
	select {
	case l.slots <- struct{}{}:
	default:
		return none, errRedisBusy
	}
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		defer func() { <-l.slots }()
		value, err := command(ctx)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		l.report(r.err)
		return r.value, r.err
	case <-ctx.Done():
		l.report(ctx.Err())
		return none, fmt.Errorf("redis: %w", ctx.Err())
	}
}

// grantCache is the Redis layer: grants by look-up hash.
type grantCache struct {
	link   *link
	pepper secret.Pepper
}

// get returns the grant of a key; found is false for a miss and for a value that cannot be read.
func (c *grantCache) get(ctx context.Context, lookup [sha256.Size]byte) (r reading, found bool, err error) {
	value, err := onRedis(ctx, c.link, func(ctx context.Context) ([]byte, error) {
		value, err := c.link.client.Get(ctx, grantKey(lookup[:])).Bytes()
		if errors.Is(err, redis.Nil) {
			return nil, nil
		}
		return value, err
	})
	if err != nil {
		return reading{}, false, err
	}
	r, found = decodeGrant(c.pepper, lookup, value)
	return r, found, nil
}

func (c *grantCache) set(ctx context.Context, lookup [sha256.Size]byte, r reading) error {
	lifetime := redisLifetime - redisLifetime/10 + rand.N(redisLifetime/5) //nolint:gosec // jitter, not a secret
	value := encodeGrant(c.pepper, lookup, r)
	_, err := onRedis(ctx, c.link, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.link.client.Set(ctx, grantKey(lookup[:]), value, lifetime).Err()
	})
	return err
}
