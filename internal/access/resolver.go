package access

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/singleflight"

	"callgate/internal/secret"
)

// Config bounds a Resolver. Zero values mean the defaults.
type Config struct {
	// StaleOnError is how long after the last successful read of the change feed grants from memory
	// and Redis may be used while Postgres cannot be read. Default 60 s.
	StaleOnError time.Duration
	// MemoryEntries bounds the grants held in memory. Default 100,000.
	MemoryEntries int
	// MaxLoads bounds the grants read from Postgres at a time. Default 8.
	MaxLoads int
}

// Resolver turns Access Keys into grants and capability ids into capabilities. Safe for concurrent
// use; neither method takes a lock or asks a store when the key is in memory.
type Resolver struct {
	pool    *pgxpool.Pool
	pepper  secret.Pepper
	log     *slog.Logger
	config  Config
	began   time.Time
	memory  *memory
	catalog *catalog
	feed    *feed
	cache   *grantCache
	flights singleflight.Group
	slots   chan struct{}
	metrics *metrics

	ctx     context.Context // of everything that runs beside calls; ends with Close
	cancel  context.CancelFunc
	mu      sync.Mutex // closed, and working against a Wait under way
	closed  bool
	working sync.WaitGroup
}

// Open reads catalog and change feed once and goes on reading in the background until Close. When
// Postgres cannot be read now, it starts all the same: Ready tells, and every key is ErrUnavailable
// until it can. The pool and rdb stay the caller's and are closed after the Resolver.
func Open(ctx context.Context, config Config, pool *pgxpool.Pool, rdb redis.UniversalClient,
	pepper secret.Pepper, log *slog.Logger, reg prometheus.Registerer) (*Resolver, error) {
	if config.StaleOnError < 0 || config.MemoryEntries < 0 || config.MaxLoads < 0 {
		return nil, errors.New("a bound is negative")
	}
	config.StaleOnError = orDefault(config.StaleOnError, time.Minute)
	config.MemoryEntries = orDefault(config.MemoryEntries, 100_000)
	config.MaxLoads = orDefault(config.MaxLoads, 8)
	r := &Resolver{
		pool:    pool,
		pepper:  pepper,
		log:     log,
		config:  config,
		began:   time.Now(),
		memory:  newMemory(config.MemoryEntries),
		catalog: newCatalog(),
		cache:   &grantCache{link: newLink(rdb), pepper: pepper},
		slots:   make(chan struct{}, config.MaxLoads),
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.feed = newFeed(pool.Config().ConnConfig, r.elapsed, r.memory, r.catalog, log)
	r.metrics = newMetrics(reg, r.feedAge, r.memory.grants.EstimatedSize, r.cache.link.paused)
	r.feed.metrics = r.metrics
	r.feed.step(ctx)
	r.aside(func() { r.feed.run(r.ctx) })
	r.aside(func() { r.listen(r.ctx, rdb) })
	r.aside(func() { r.clean(r.ctx, cleanInterval) })
	return r, nil
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// Grant returns what an Access Key is allowed. The errors are ErrUnknownKey and ErrUnavailable; the
// latter may wrap the end of ctx, which ends the wait but not the load others may share.
// The key's bytes are not kept.
func (r *Resolver) Grant(ctx context.Context, accessKey string) (*Grant, error) {
	return r.grant(ctx, fingerprintOf(accessKey), accessKey)
}

func (r *Resolver) grant(ctx context.Context, id fingerprint, accessKey string) (*Grant, error) {
	now := r.elapsed()
	if kept, ok := r.memory.grants.GetIfPresent(id); ok && r.usable(kept, accessKey, now) {
		return kept.grant, nil
	}
	return r.resolve(ctx, id, accessKey, now)
}

// usable tells whether what memory holds for a key may be used. It sees to it that it is read again in time.
func (r *Resolver) usable(kept *entry, accessKey string, now time.Duration) bool {
	if !r.trusted(now) || !r.feed.allows(kept.grant) {
		return false
	}
	if due := kept.readAgain.Load(); int64(now) > due && kept.readAgain.CompareAndSwap(due, int64(now+retryReadAgain)) {
		r.readAgain(fingerprintOf(accessKey), r.pepper.Lookup(accessKey))
	}
	r.metrics.memory.Inc()
	return true
}

// resolve is the way of a key that is not in memory. A malformed key never reaches a store.
func (r *Resolver) resolve(ctx context.Context, id fingerprint, accessKey string, now time.Duration) (*Grant, error) {
	if r.memory.isUnknown(id, now) {
		r.metrics.unknown.Inc()
		return nil, ErrUnknownKey
	}
	if !r.pepper.WellFormed(accessKey) {
		r.metrics.malformed.Inc()
		return nil, ErrUnknownKey
	}
	if _, loaded := r.feed.age(now); !loaded {
		r.metrics.unavailable.Inc()
		return nil, ErrUnavailable
	}
	grant, err := r.shared(ctx, id, r.pepper.Lookup(accessKey))
	switch {
	case err == nil:
		return grant, nil
	case errors.Is(err, ErrUnknownKey):
		r.metrics.unknown.Inc()
	default:
		r.metrics.unavailable.Inc()
	}
	return nil, err
}

// recall returns the grant in memory if it may be used.
func (r *Resolver) recall(id fingerprint, now time.Duration) *Grant {
	kept, ok := r.memory.grants.GetIfPresent(id)
	if !ok || !r.trusted(now) || !r.feed.allows(kept.grant) {
		return nil
	}
	return kept.grant
}

// Capability returns a capability of the catalog snapshot, or nil when there is none of that id.
func (r *Resolver) Capability(id string) *Capability { return r.catalog.find(id) }

// OnEnding sets what the reader of the change feed calls when running calls are to end. The same may be told several times,
// and to must not wait.
func (r *Resolver) OnEnding(to func([]Ending)) { r.feed.onEnds.Store(&to) }

// Ready returns an error until catalog and change feed were read once. It is the process's own: a store that is away afterwards is
// away for all gateways, and they had better answer 503 than be taken out of rotation together.
func (r *Resolver) Ready() error {
	if r.feed.confirmed.Load() == 0 {
		return errors.New("the catalog has not been read from Postgres yet")
	}
	return nil
}

// Close ends loads and background work and waits for them.
func (r *Resolver) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.working.Wait()
	r.memory.close()
}

// trusted tells whether what memory and Redis hold may be used at all.
func (r *Resolver) trusted(now time.Duration) bool {
	age, loaded := r.feed.age(now)
	return loaded && age <= r.config.StaleOnError
}

// elapsed is the clock of everything here but what Postgres tells: monotonic.
func (r *Resolver) elapsed() time.Duration { return time.Since(r.began) }

func (r *Resolver) feedAge() time.Duration {
	age, _ := r.feed.age(r.elapsed())
	return age
}

// enter announces work that Close must wait for; false when it is closed already.
func (r *Resolver) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.working.Add(1)
	return true
}

func (r *Resolver) leave() { r.working.Done() }

// aside runs work beside the calls, until Close.
func (r *Resolver) aside(work func()) {
	if !r.enter() {
		return
	}
	go func() {
		defer r.leave()
		work()
	}()
}
