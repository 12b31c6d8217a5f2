package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

// Shard is where batches go: a single server, or one shard of a cluster through any of its replicas.
type Shard struct {
	Number, Of int // from 1; both 0 of a single server

	mu       sync.Mutex
	replicas []replica
	current  int // the replica that is used as long as it works
	live     liveReplicas
}

type replica struct {
	address string
	conn    driver.Conn
}

// Conn is the replica that is used now.
func (s *Shard) Conn() driver.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replicas[s.current%len(s.replicas)].conn
}

// Failed makes another replica the one that is used.
func (s *Shard) Failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = (s.current + 1) % len(s.replicas)
	s.live = liveReplicas{}
}

func (s *Shard) all() []replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.replicas)
}

// Token names a batch: its segment, day, shard of a cluster, and number.
func (s *Shard) Token(segment fmt.Stringer, day fmt.Stringer, n int) string {
	if s.Of == 0 {
		return fmt.Sprintf("%s/%s/%d", segment, day, n)
	}
	return fmt.Sprintf("%s/%s/%d-of-%d/%d", segment, day, s.Number, s.Of, n)
}

// Insert sends columns as one block under a deduplication token. On replicas it is durable when as many have it
// as the quorum says; then deduplication is Keeper's, and a retry through another replica counts once too.
func (s *Shard) Insert(ctx context.Context, query, token string, columns []any) error {
	settings := clickhouse.Settings{"insert_deduplication_token": token}
	if quorum := s.quorum(ctx); quorum != "" {
		settings["insert_quorum"], settings["insert_quorum_timeout"] = quorum, quorumTimeout.Milliseconds()
	}
	return insert(ctx, s.Conn(), query, settings, columns)
}

const (
	quorumTimeout = 6 * time.Second
	liveFor       = 5 * time.Second
	// keepsUpWithin is how many seconds a replica may be behind and still be waited for.
	keepsUpWithin = 3
	// answerTimeout bounds what a replica is asked about itself: one that hangs holds up the others no longer.
	answerTimeout = 3 * time.Second
)

// liveReplicas is how many replicas of a shard kept up, and when that was asked.
type liveReplicas struct {
	count   int
	askedAt time.Time
}

// quorum is how many replicas must have a batch: most of three and more, both of two unless one is away or does not
// keep up, which fetches it later. Empty where there are no replicas.
func (s *Shard) quorum(ctx context.Context) string {
	s.mu.Lock()
	replicas, live := len(s.replicas), s.live
	s.mu.Unlock()
	switch {
	case replicas < 2:
		return ""
	case replicas > 2:
		return "auto"
	}
	if time.Since(live.askedAt) > liveFor {
		live = liveReplicas{s.keepingUp(ctx), time.Now()}
		s.mu.Lock()
		s.live = live
		s.mu.Unlock()
	}
	if live.count < 2 {
		return ""
	}
	return "2"
}

// keepingUp counts the replicas that answer and are not far behind. Each is asked
// itself: Keeper takes one for live until its session ends, and also one that fetches nothing.
func (s *Shard) keepingUp(ctx context.Context) (count int) {
	var counting sync.WaitGroup
	var live atomic.Int64
	for _, r := range s.all() {
		counting.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, answerTimeout)
			defer cancel()
			var tables, failing uint64
			err := r.conn.QueryRow(ctx, `SELECT count(), countIf(is_readonly OR is_session_expired OR absolute_delay >= {delay:UInt64})
				FROM system.replicas WHERE database = currentDatabase()`, clickhouse.Named("delay", fmt.Sprint(keepsUpWithin))).Scan(&tables, &failing)
			if err == nil && tables > 0 && failing == 0 {
				live.Add(1)
			}
		})
	}
	counting.Wait()
	return int(live.Load())
}

// ErrUncertain means that no replica that could be asked has everything, so that rows it lacks may be elsewhere.
var ErrUncertain = errors.New("no replica that answers has fetched everything")

// Count asks how many rows of a batch a table ("calls" or "call_failures") holds. Of replicas any may have them;
// that there are none counts only from one that had fetched everything before it was asked.
func (s *Shard) Count(ctx context.Context, table string, day beijing.Day, token string) (int, error) {
	replicas := s.all()
	if len(replicas) == 1 {
		return countRows(ctx, replicas[0].conn, table, day, token)
	}
	var faults []error
	sure := false
	for _, r := range replicas {
		current, err := isCurrent(ctx, r.conn, table, upToDate)
		if err == nil {
			var found int
			if found, err = countRows(ctx, r.conn, table, day, token); err == nil && found > 0 {
				return found, nil
			}
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		sure = sure || current
	}
	if sure {
		return 0, nil
	}
	return 0, errors.Join(append(faults, fmt.Errorf("look for batch %s: %w", token, ErrUncertain))...)
}

// upToDate is how far a replica's table is: everything it has fetched, and all of the log in Keeper it has upToDate of.
const upToDate = `NOT is_readonly AND NOT is_session_expired AND inserts_in_queue = 0 AND log_pointer > log_max_index`

// unused is a table that nothing was ever inserted into.
const unused = `NOT is_readonly AND NOT is_session_expired AND log_pointer = 0 AND log_max_index = 0 AND zookeeper_exception = ''`

// isCurrent tells whether a replica's table is in a state: upToDate, or unused.
func isCurrent(ctx context.Context, conn driver.Conn, table, state string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var current uint64
	err := conn.QueryRow(ctx, `SELECT count() FROM system.replicas WHERE database = currentDatabase() AND table = {table:String} AND (`+state+`)`,
		clickhouse.Named("table", table)).Scan(&current)
	if err != nil {
		return false, fmt.Errorf("ask a replica how far it is: %w", err)
	}
	return current > 0, nil
}

// Started asks when the server was started, within a second; of replicas the latest one that answers.
func (s *Shard) Started(ctx context.Context) (latest time.Time, err error) {
	replicas := s.all()
	times, faults := make([]time.Time, len(replicas)), make([]error, len(replicas))
	var asking sync.WaitGroup
	for i, r := range replicas {
		asking.Go(func() { times[i], faults[i] = serverStart(ctx, r.conn) })
	}
	asking.Wait()
	if latest = slices.MaxFunc(times, time.Time.Compare); latest.IsZero() {
		return latest, errors.Join(faults...)
	}
	return latest, nil
}

// ErrNotCertain means that something could not be told for certain because calls kept arriving, or a replica or a
// spool is behind.
var ErrNotCertain = errors.New("differences are not certain yet")

// catchUpWithin is how long a replica may take to fetch what others have before it is said to be behind.
const catchUpWithin = 3 * time.Second

// CaughtUp waits until the replica that is used has what others have of some tables: they arrive there one after
// the other, and would seem to disagree. ErrNotCertain when it does not get that far.
func (s *Shard) CaughtUp(ctx context.Context, tables ...string) error {
	if len(s.all()) < 2 {
		return nil
	}
	conn, until := s.Conn(), time.Now().Add(catchUpWithin)
	for _, table := range tables {
		for {
			current, err := isCurrent(ctx, conn, table, upToDate+" OR "+unused)
			if err != nil {
				return err
			}
			if current {
				break
			}
			if time.Now().After(until) {
				return fmt.Errorf("%w: the replica lacks parts of %s that others have", ErrNotCertain, table)
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return nil
}

func (s *Shard) close() error {
	var faults []error
	for _, r := range s.all() {
		faults = append(faults, r.conn.Close())
	}
	return errors.Join(faults...)
}
