package access

import (
	"crypto/sha256"
	"iter"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"
)

// fingerprint is what memory is keyed by: SHA-256 of the Access Key.
type fingerprint [sha256.Size]byte

func fingerprintOf(accessKey string) fingerprint {
	var buffer [64]byte // on the stack; longer texts, which are no keys, allocate
	return sha256.Sum256(append(buffer[:0], accessKey...))
}

// entry is a grant in memory. readAgain is when (elapsed time of the resolver) it is next read in
// the background.
type entry struct {
	grant     *Grant
	readAgain atomic.Int64
}

const (
	readAgainAfter  = 5 * time.Minute
	retryReadAgain  = 30 * time.Second
	unknownEntries  = 16_384          // not-founds remembered, apart from grants: a flood evicts no grant
	unknownLifetime = 5 * time.Second // longest a not-found is remembered
)

// cache is an otter.Cache. As an interface it is compiled here alone, and not once more by each package that
// imports this one; values that are pointers share what is compiled.
type cache[V any] interface {
	GetIfPresent(id fingerprint) (V, bool)
	Set(id fingerprint, value V) (V, bool)
	Invalidate(id fingerprint) (V, bool)
	InvalidateAll()
	All() iter.Seq2[fingerprint, V]
	EstimatedSize() int
	CleanUp()
	StopAllGoroutines() bool
}

// memory holds grants and not-founds, both bounded by their number.
type memory struct {
	grants  cache[*entry]
	unknown cache[*time.Duration] // until when
	changes atomic.Uint64         // counted after each, see Recent
}

func newMemory(entries int) *memory {
	return &memory{
		grants:  otter.Must(&otter.Options[fingerprint, *entry]{MaximumSize: entries}),
		unknown: otter.Must(&otter.Options[fingerprint, *time.Duration]{MaximumSize: unknownEntries}),
	}
}

func (m *memory) remember(id fingerprint, grant *Grant, now time.Duration) {
	kept := &entry{grant: grant}
	kept.readAgain.Store(int64(now + readAgainAfter + rand.N(readAgainAfter/5))) //nolint:gosec // jitter, not a secret
	m.grants.Set(id, kept)
	m.changes.Add(1)
	m.unknown.Invalidate(id)
}

func (m *memory) rememberUnknown(id fingerprint, now time.Duration) {
	until := now + unknownLifetime
	m.unknown.Set(id, &until)
	if _, known := m.grants.Invalidate(id); known {
		m.changes.Add(1)
	}
}

func (m *memory) isUnknown(id fingerprint, now time.Duration) bool {
	until, ok := m.unknown.GetIfPresent(id)
	return ok && now < *until
}

// evictBelow removes the grants below floors that are about to be dropped. One that was replaced in
// between by a newer grant is lost with it, which costs a load.
func (m *memory) evictBelow(dropped map[uuid.UUID]int64) {
	for id, kept := range m.grants.All() {
		if version, ok := dropped[kept.grant.ApplicationID]; ok && kept.grant.Version < version {
			m.grants.Invalidate(id)
		}
	}
	m.changes.Add(1)
}

func (m *memory) forget() {
	m.grants.InvalidateAll()
	m.changes.Add(1)
	m.unknown.InvalidateAll()
}

func (m *memory) close() {
	m.grants.StopAllGoroutines()
	m.unknown.StopAllGoroutines()
}
