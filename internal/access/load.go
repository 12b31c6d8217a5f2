package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	loadTimeout        = 2 * time.Second        // of a whole load, waiting for a slot included
	loadTimeoutInDoubt = 500 * time.Millisecond // the same while the feed cannot be read
	loadAttempts       = 3
	rememberWithin     = 5 * time.Second // a reading older than this is remembered nowhere
)

// shared joins the callers that miss the same key into one load. The load does not end with the
// caller who happened to start it.
func (r *Resolver) shared(ctx context.Context, id fingerprint, lookup [sha256.Size]byte) (*Grant, error) {
	result := r.flights.DoChan(string(id[:]), func() (any, error) {
		if !r.enter() {
			return nil, fmt.Errorf("%w: closed", ErrUnavailable)
		}
		defer r.leave()
		return r.load(id, lookup)
	})
	select {
	case done := <-result:
		if done.Shared {
			r.metrics.shared.Inc()
		}
		grant, _ := done.Val.(*Grant)
		return grant, done.Err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
}

// load asks Redis, then Postgres.
func (r *Resolver) load(id fingerprint, lookup [sha256.Size]byte) (*Grant, error) {
	if grant := r.recall(id, r.elapsed()); grant != nil { // loaded since the caller looked
		return grant, nil
	}
	timeout := loadTimeout
	if r.feed.failing.Load() {
		timeout = loadTimeoutInDoubt
	}
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	if grant := r.fromRedis(ctx, id, lookup); grant != nil {
		return grant, nil
	}
	return r.fromPostgres(ctx, id, lookup)
}

// fromRedis returns nil for everything but a grant that the change feed vouches for.
func (r *Resolver) fromRedis(ctx context.Context, id fingerprint, lookup [sha256.Size]byte) *Grant {
	began := r.elapsed()
	if !r.trusted(began) {
		return nil
	}
	found, ok, err := r.cache.get(ctx, lookup)
	switch {
	case err != nil:
		r.metrics.loads.WithLabelValues("redis", "error").Inc()
		return nil
	case !ok:
		r.metrics.loads.WithLabelValues("redis", "miss").Inc()
		return nil
	case found.readAt < r.feed.reach.Load() || !r.feed.allows(found.grant):
		r.metrics.loads.WithLabelValues("redis", "stale").Inc()
		return nil
	}
	r.metrics.loads.WithLabelValues("redis", "hit").Inc()
	r.acquaint(ctx, found.grant)
	if r.elapsed()-began < rememberWithin {
		r.memory.remember(id, found.grant, r.elapsed())
	}
	r.metrics.redis.Inc()
	return found.grant
}

// fromPostgres reads until the grant is not below its floor: the feed may have learnt of a change
// while the read was under way. Its errors are ErrUnknownKey and ErrUnavailable.
func (r *Resolver) fromPostgres(ctx context.Context, id fingerprint, lookup [sha256.Size]byte) (*Grant, error) {
	for range loadAttempts {
		began := r.elapsed()
		read, err := r.query(ctx, lookup)
		fresh := r.elapsed()-began < rememberWithin
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			r.metrics.loads.WithLabelValues("postgres", "miss").Inc()
			if fresh {
				r.memory.rememberUnknown(id, r.elapsed())
			}
			return nil, ErrUnknownKey
		case err != nil:
			r.metrics.loads.WithLabelValues("postgres", "error").Inc()
			return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		case !r.feed.allows(read.grant):
			r.metrics.loads.WithLabelValues("postgres", "stale").Inc()
			continue
		}
		r.metrics.loads.WithLabelValues("postgres", "hit").Inc()
		r.acquaint(ctx, read.grant)
		if fresh {
			r.memory.remember(id, read.grant, r.elapsed())
			r.fill(began, lookup, read)
		}
		r.metrics.postgres.Inc()
		return read.grant, nil
	}
	return nil, fmt.Errorf("%w: Postgres answers with less than the change feed told", ErrUnavailable)
}

// acquaint makes the catalog know what the grant is bound to: a capability that is newer than the
// snapshot can be called as soon as it is bound.
func (r *Resolver) acquaint(ctx context.Context, g *Grant) {
	if !r.catalog.intern(g.capabilities) {
		r.feed.await(ctx)
		r.catalog.intern(g.capabilities)
	}
}

// query reads one grant in one statement, so from one snapshot. At most Config.MaxLoads run.
func (r *Resolver) query(ctx context.Context, lookup [sha256.Size]byte) (reading, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return reading{}, fmt.Errorf("wait for a load: %w", ctx.Err())
	}
	return queryGrant(ctx, r.pool, lookup)
}

// queryGrant returns pgx.ErrNoRows when no application has the key. now() is the start of the
// transaction, so not later than the statement's snapshot.
func queryGrant(ctx context.Context, pool *pgxpool.Pool, lookup [sha256.Size]byte) (reading, error) {
	read := reading{grant: &Grant{}}
	g := read.grant
	err := pool.QueryRow(ctx, `
		SELECT a.id, a.owner_id, a.status = 'active', a.version,
		       ARRAY(SELECT b.capability_id FROM application_capabilities b
		             WHERE b.application_id = a.id ORDER BY b.capability_id),
		       (extract(epoch FROM now()) * 1000000)::bigint,
		       k.id, coalesce(extract(epoch FROM k.expires_at) * 1000, 0)::bigint, k.allowed_cidrs
		FROM application_keys k JOIN applications a ON a.id = k.application_id
		WHERE k.lookup = $1`, lookup[:]).
		Scan(&g.ApplicationID, &g.OwnerID, &g.Active, &g.Version, &g.capabilities, &read.readAt, &g.KeyID, &g.expires, &g.allowed)
	if err != nil {
		return reading{}, fmt.Errorf("read grant: %w", err)
	}
	return read, nil
}

// fill puts a reading into Redis beside the call, within 5 s of its beginning or not at all.
func (r *Resolver) fill(began time.Duration, lookup [sha256.Size]byte, read reading) {
	r.aside(func() {
		if r.elapsed()-began > rememberWithin {
			return
		}
		if err := r.cache.set(r.ctx, lookup, read); err != nil {
			r.metrics.loads.WithLabelValues("redis", "fill_error").Inc()
		}
	})
}

// readAgain replaces a grant in memory from Postgres without anybody waiting for it.
func (r *Resolver) readAgain(id fingerprint, lookup [sha256.Size]byte) {
	r.aside(func() {
		ctx, cancel := context.WithTimeout(r.ctx, loadTimeout)
		defer cancel()
		_, _ = r.fromPostgres(ctx, id, lookup) // errors are counted there; the grant stays
	})
}
