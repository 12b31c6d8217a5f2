package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	feedInterval  = 500 * time.Millisecond // between the beginnings of two reads
	feedTimeout   = time.Second            // of one read, connecting included
	feedRetry     = 200 * time.Millisecond // after a failed read
	feedSpacing   = 20 * time.Millisecond  // least distance of reads, however many changes are announced
	feedReread    = 30 * time.Second       // what every read returns again
	feedForget    = 30 * time.Minute       // a longer gap empties memory; rows are kept an hour
	floorLifetime = 2 * time.Minute
	evictInterval = 30 * time.Second

	// redisReach is how old, by the clock of Postgres, a reading from Redis may be: more than the
	// lifetime of an entry, and less than that of a floor by what the clocks of two Postgres servers
	// may differ at a failover.
	redisReach = 90 * time.Second
)

// nothingSeen is the snapshot of a reader that has read nothing: no transaction is visible in it.
const nothingSeen = "1:1:"

// floor is the least version of an application's grants that may be used.
type floor struct {
	version int64
	seen    time.Duration // elapsed time of the resolver when it was read
}

// feed reads access_changes. Its goroutine is the only writer; calls read the atomics.
type feed struct {
	connConfig *pgx.ConnConfig
	elapsed    func() time.Duration
	memory     *memory
	catalog    *catalog
	log        *slog.Logger
	metrics    *metrics
	kicked     chan struct{} // capacity 1
	lifetime   time.Duration // of a floor
	evictEvery time.Duration

	onEnds    atomic.Pointer[func([]Ending)]
	floors    atomic.Pointer[map[uuid.UUID]floor]
	confirmed atomic.Int64 // elapsed time at which the last successful read began; 0: none yet
	reach     atomic.Int64 // readings before this time of Postgres (microseconds) are not covered by floors
	failing   atomic.Bool

	conn     *pgx.Conn
	snapshot string
	evicted  time.Duration
}

func newFeed(connConfig *pgx.ConnConfig, elapsed func() time.Duration, m *memory, c *catalog, log *slog.Logger) *feed {
	connConfig.ConnectTimeout = feedTimeout
	connConfig.RuntimeParams["application_name"] = "callgate access feed"
	f := &feed{
		connConfig: connConfig,
		elapsed:    elapsed,
		memory:     m,
		catalog:    c,
		log:        log,
		kicked:     make(chan struct{}, 1),
		lifetime:   floorLifetime,
		evictEvery: evictInterval,
		snapshot:   nothingSeen,
	}
	f.floors.Store(&map[uuid.UUID]floor{})
	return f
}

// allows tells whether a grant is not below its floor.
func (f *feed) allows(g *Grant) bool {
	floors := *f.floors.Load()
	return len(floors) == 0 || g.Version >= floors[g.ApplicationID].version
}

// age is the time since everything then committed was known here; ok is false before the first read.
func (f *feed) age(now time.Duration) (age time.Duration, ok bool) {
	confirmed := f.confirmed.Load()
	return now - time.Duration(confirmed), confirmed != 0
}

// kick makes the next read begin at once. It never blocks.
func (f *feed) kick() {
	select {
	case f.kicked <- struct{}{}:
	default:
	}
}

// await returns when a read that began after this call was made, when reads fail, or when ctx is done.
func (f *feed) await(ctx context.Context) {
	for since := f.elapsed(); f.confirmed.Load() <= int64(since) && !f.failing.Load() && ctx.Err() == nil; {
		f.kick()
		wait(ctx, time.Millisecond, nil)
	}
}

// run reads until ctx is done, then closes the connection.
func (f *feed) run(ctx context.Context) {
	defer f.disconnect()
	for {
		began := f.elapsed()
		pause, kicked := feedRetry, (<-chan struct{})(nil)
		if f.step(ctx) {
			pause, kicked = feedInterval-(f.elapsed()-began), f.kicked
			if !wait(ctx, feedSpacing, nil) {
				return
			}
			pause -= feedSpacing
		}
		if !wait(ctx, pause, kicked) {
			return
		}
	}
}

// wait returns after pause or when kicked; false when ctx is done.
func wait(ctx context.Context, pause time.Duration, kicked <-chan struct{}) bool {
	timer := time.NewTimer(max(0, pause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-kicked:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// step reads once, keeps the books on success and failure, and tells which it was.
func (f *feed) step(ctx context.Context) bool {
	now := f.elapsed()
	age, known := f.age(now)
	err := f.read(ctx, now)
	if err == nil {
		if f.failing.Swap(false) {
			f.log.Info("access change feed is read again", "gap", age.Round(time.Millisecond))
		}
		return true
	}
	f.disconnect()
	if ctx.Err() != nil {
		return false
	}
	f.metrics.feedErrors.Inc()
	if !f.failing.Swap(true) {
		f.log.Warn("access change feed cannot be read", "error", err, "age", age.Round(time.Millisecond), "loaded", known)
	}
	return false
}

// read brings floors and catalog to what was committed when it began (now), and confirms that.
func (f *feed) read(ctx context.Context, now time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, feedTimeout)
	defer cancel()
	if f.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, f.connConfig)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		f.conn = conn
	}
	news, err := f.query(ctx)
	if err != nil {
		return err
	}
	if news.regressed {
		return f.startOver(news)
	}
	catalogBehind := f.raise(news.changes, now)
	if catalogBehind || now-f.catalog.loaded > catalogReload || f.confirmed.Load() == 0 {
		if err := f.catalog.load(ctx, f.conn); err != nil {
			return err
		}
		f.catalog.loaded = now
		f.metrics.capabilities.Set(float64(len(*f.catalog.byID.Load())))
	}
	f.tellEnds(news.changes)
	if age, known := f.age(now); known && age > feedForget {
		f.memory.forget()
	}
	f.snapshot = news.snapshot
	f.reach.Store(max(f.reach.Load(), news.at-redisReach.Microseconds()))
	f.confirmed.Store(int64(max(now, 1)))
	return nil
}

// startOver forgets everything: the database is another one, or has lost transactions. The read
// counts as failed, and the next one begins with the whole table.
func (f *feed) startOver(news news) error {
	f.snapshot = nothingSeen
	f.memory.forget()
	f.floors.Store(&map[uuid.UUID]floor{})
	f.confirmed.Store(0)
	f.reach.Store(news.at)
	return errors.New("transaction ids went back: the database was replaced; starting over")
}

// raise puts changes into the floors, drops the old ones every now and then, and tells whether a
// change of a capability is missing from the catalog.
func (f *feed) raise(changes []change, now time.Duration) (catalogBehind bool) {
	old := *f.floors.Load()
	next, copied := old, false // copied before it is written: calls are reading it
	for _, c := range changes {
		var isNew bool
		switch {
		case c.CapabilityID != nil:
			isNew = f.catalog.behind(*c.CapabilityID, c.Version)
			catalogBehind = catalogBehind || isNew
		case old[*c.ApplicationID].version < c.Version:
			isNew = true
			if !copied {
				next, copied = maps.Clone(old), true
			}
			next[*c.ApplicationID] = floor{version: c.Version, seen: now}
		}
		if isNew && f.confirmed.Load() != 0 {
			f.metrics.lag.Observe(c.Lag)
		}
	}
	f.floors.Store(&next)
	if now-f.evicted > f.evictEvery {
		f.evicted = now
		f.dropFloors(next, now)
	}
	f.metrics.floors.Set(float64(len(*f.floors.Load())))
	return catalogBehind
}

// dropFloors clears memory of what is below the floors past their lifetime, then drops those.
func (f *feed) dropFloors(floors map[uuid.UUID]floor, now time.Duration) {
	kept, dropped := make(map[uuid.UUID]floor), make(map[uuid.UUID]int64)
	for id, at := range floors {
		if now-at.seen > f.lifetime {
			dropped[id] = at.version
		} else {
			kept[id] = at
		}
	}
	if len(dropped) > 0 {
		f.memory.evictBelow(dropped)
		f.floors.Store(&kept)
	}
}

func (f *feed) disconnect() {
	if f.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), feedSpacing)
	defer cancel()
	_ = f.conn.Close(ctx) // it is given up either way
	f.conn = nil
}

// Ending says that calls which run may not go on: those of an application, or of a capability, that were let in by what it was
// before a version.
type Ending struct {
	ApplicationID uuid.UUID // uuid.Nil: of a capability
	CapabilityID  string
	Version       int64
}

// tellEnds tells of the calls that are to end, and again with every read that still has the row: a call that was being let in
// when it was told first is found the next time. By then nothing lets another one in.
func (f *feed) tellEnds(changes []change) {
	to := f.onEnds.Load()
	if to == nil {
		return
	}
	var all []Ending
	for _, c := range changes {
		switch {
		case c.Ends == 0:
		case c.CapabilityID != nil:
			all = append(all, Ending{CapabilityID: *c.CapabilityID, Version: c.Ends})
		default:
			all = append(all, Ending{ApplicationID: *c.ApplicationID, Version: c.Ends})
		}
	}
	if len(all) > 0 {
		(*to)(all)
	}
}

// change is the newest row of one application or capability in access_changes. Calls under a version before Ends are to end; 0: none are.
type change struct {
	ApplicationID *uuid.UUID
	CapabilityID  *string
	Version       int64
	Ends          int64
	Lag           float64 // seconds from the change to this read, by the clock of Postgres
}

// news is what one read of the feed returned.
type news struct {
	snapshot  string
	at        int64 // time of Postgres, microseconds, not later than the snapshot
	regressed bool
	changes   []change
}

// query returns the rows the last snapshot did not show, and those of the last 30 s.
// now() is the start of the transaction, so not later than the statement's snapshot.
func (f *feed) query(ctx context.Context) (news, error) {
	rows, err := f.conn.Query(ctx, `
		SELECT here.snapshot, here.at, here.regressed, here.standby,
		       changed.application_id, changed.capability_id, coalesce(changed.version, 0), coalesce(changed.ends, 0), coalesce(changed.lag, 0)
		FROM (SELECT pg_current_snapshot()::text AS snapshot,
		             (extract(epoch FROM now()) * 1000000)::bigint AS at,
		             pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax($1::text::pg_snapshot) AS regressed,
		             pg_is_in_recovery() AS standby) here
		LEFT JOIN (
			SELECT application_id, capability_id, max(version) AS version,
			       max(version) FILTER (WHERE ends_calls) AS ends,
			       extract(epoch FROM clock_timestamp() - max(changed_at))::float8 AS lag
			FROM (
				SELECT application_id, capability_id, version, ends_calls, changed_at FROM access_changes
				WHERE xid >= pg_snapshot_xmin($1::text::pg_snapshot)
				  AND NOT pg_visible_in_snapshot(xid, $1::text::pg_snapshot)
				UNION ALL
				SELECT application_id, capability_id, version, ends_calls, changed_at FROM access_changes
				WHERE changed_at > now() - make_interval(secs => $2)
			) rows
			GROUP BY application_id, capability_id
		) changed ON true`, f.snapshot, feedReread.Seconds())
	if err != nil {
		return news{}, fmt.Errorf("read access_changes: %w", err)
	}
	var n news
	var standby bool
	var row change
	_, err = pgx.ForEachRow(rows, []any{&n.snapshot, &n.at, &n.regressed, &standby,
		&row.ApplicationID, &row.CapabilityID, &row.Version, &row.Ends, &row.Lag}, func() error {
		if row.ApplicationID != nil || row.CapabilityID != nil {
			n.changes = append(n.changes, row)
		}
		return nil
	})
	if err != nil {
		return news{}, fmt.Errorf("read access_changes: %w", err)
	}
	if standby {
		return news{}, errors.New("read access_changes: the server is a standby")
	}
	return n, nil
}
