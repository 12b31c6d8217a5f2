// Package stats answers the questions of the console from ClickHouse: usage of
// applications, their call flow, and why one call failed. It only reads; internal/calls writes.
//
// The hard decision is how to page through a year of calls at the cost of the first page: counts
// per day, hour and at need second (series.go) find the rows of a page (page_window.go), and no others are read (flow.go).
package stats

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/fault"
	"callgate/internal/retention"
)

const (
	queryTimeout = 20 * time.Second
	dialTimeout  = 3 * time.Second
	retryAfter   = 2 * time.Second

	maxConnections  = 16
	idleConnections = 8
	connectionLife  = 30 * time.Minute

	// Exports are as slow as who downloads them, so they have a few connections of their own.
	exportConnections = 8
	idleExports       = 1
)

// Reader asks ClickHouse. It is safe for concurrent use.
type Reader struct {
	conn   asker
	slow   asker         // for what is read at the pace of a client
	pool   *cluster.Pool // conn, of a cluster
	pulse  *pulse        // of a single server
	tls    *tls.Config   // of all connections; nil: none
	days   retention.Days
	log    *slog.Logger
	now    func() time.Time
	limits scanLimits

	parallel      int
	upstreamCalls int64
	longest       time.Duration // that a call may take
}

// projections is the setting that has ClickHouse look for a projection to answer from. At a hundred million calls that takes
// 13 ms of a question which finds none, so only those ask for it that are answered from one.
const projections = "optimize_use_projections"

func fromProjections(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{projections: 1}))
}

// concurrently has several threads share a read of few rows that take long: by their number ClickHouse would give them to one.
func concurrently(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"merge_tree_min_rows_for_concurrent_read": 1024, "merge_tree_min_bytes_for_concurrent_read": 1 << 20,
	}))
}

// inOneThread has a query that reads few rows, as most do, read by one thread: starting another takes longer than it saves.
func inOneThread(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"max_threads": 1}))
}

// asker is one server, or a cluster through any of its nodes.
type asker interface {
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	Ping(ctx context.Context) error
	Close() error
}

// Open returns a reader of the database of an address (native or HTTP DSN, or a cluster's). Nothing is connected
// before the first question, so it succeeds while ClickHouse is down; the error is about the address only, and
// does not repeat it.
func Open(_ context.Context, address string, log *slog.Logger) (*Reader, error) {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("open statistics: %w", err)
	}
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	options.Settings[projections] = 0
	options.DialTimeout = cmp.Or(options.DialTimeout, dialTimeout)
	options.ConnMaxLifetime = cmp.Or(options.ConnMaxLifetime, connectionLife)
	exports := *options
	exports.MaxOpenConns, exports.MaxIdleConns = exportConnections, idleExports
	if options.Protocol == clickhouse.HTTP { // else a question goes on there after it was given up here
		options.Settings["cancel_http_readonly_queries_on_client_close"] = 1
	}
	options.MaxOpenConns = cmp.Or(options.MaxOpenConns, maxConnections)
	options.MaxIdleConns = cmp.Or(options.MaxIdleConns, idleConnections)
	r := &Reader{days: retention.Default, tls: options.TLS, log: log, now: time.Now, limits: defaultScanLimits, parallel: defaultParallel, upstreamCalls: upstreamCalls, longest: longestCall}
	if name == "" {
		err = r.connect(options, &exports)
	} else {
		err = r.join(options, &exports, name)
	}
	if err != nil {
		return nil, fmt.Errorf("open statistics: %w", err)
	}
	return r, nil
}

// Keep says how far back is answered, where that is not retention.Default; before anything is asked.
func (r *Reader) Keep(days retention.Days) { r.days = days }

// Expect says how long a call may take; before anything is asked.
func (r *Reader) Expect(longest time.Duration) { r.longest = max(longestCall, longest+clockSkew) }

// WatchTLS has watch given the configuration of all connections, nil for those without TLS; before anything is asked.
func (r *Reader) WatchTLS(watch func(*tls.Config)) { watch(r.tls) }

// connect prepares the connections to a single server.
func (r *Reader) connect(options, exports *clickhouse.Options) error {
	conn, err := clickhouse.Open(options)
	if err != nil {
		return err
	}
	slow, err := clickhouse.Open(exports)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	pulse, err := newPulse(options)
	if err != nil {
		return errors.Join(err, conn.Close(), slow.Close())
	}
	r.conn, r.slow, r.pulse = conn, slow, pulse
	return nil
}

// join prepares those to a cluster.
func (r *Reader) join(options, exports *clickhouse.Options, name string) error {
	pool, err := cluster.Open(options, name)
	if err != nil {
		return err
	}
	slow, err := pool.Beside(exports)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	r.conn, r.slow, r.pool = pool, slow, pool
	return nil
}

// Promise bounds dataThrough on a cluster whose replicas fetch from each other: what may be promised of the answers to
// what is asked from now on. through tells until when everything was inserted somewhere. ok is false where nothing is
// fetched, and nothing is asked of a single server. Faults: Unavailable.
func (r *Reader) Promise(ctx context.Context, through func(context.Context) (time.Time, error)) (promised time.Time, ok bool, err error) {
	if r.pool == nil {
		return time.Time{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	if promised, ok, err = r.pool.Promise(ctx, through); err != nil {
		return time.Time{}, false, unavailable(err, "lag of replicas")
	}
	return promised, ok, nil
}

// Close closes the connections.
func (r *Reader) Close() error {
	if err := errors.Join(r.conn.Close(), r.slow.Close(), r.pulse.close()); err != nil {
		return fmt.Errorf("close statistics: %w", err)
	}
	return nil
}

// KeptStatistics cuts what is older than the statistics that are answered off a range. The result may hold no day.
func (r *Reader) KeptStatistics(days beijing.Range) beijing.Range {
	days.Start = max(days.Start, r.days.StatisticsFrom(beijing.Today(r.now())))
	return days
}

// KeptCalls is KeptStatistics for the calls themselves, of which less may be kept.
func (r *Reader) KeptCalls(days beijing.Range) beijing.Range {
	days.Start = max(days.Start, r.days.CallsFrom(beijing.Today(r.now())))
	return days
}

// each runs a query and hands every row to scan, then what it knows beside them to last. A store that cannot answer is
// fault.Unavailable.
func (r *Reader) each(ctx context.Context, doing, query string, args []any, scan func(driver.Rows) error, last ...func(driver.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	return r.stream(ctx, r.conn, doing, query, args, scan, last...)
}

// stream is each without a time limit of its own.
func (r *Reader) stream(ctx context.Context, conn asker, doing, query string, args []any, scan func(driver.Rows) error, last ...func(driver.Rows) error) error {
	leave, err := enter(ctx)
	if err != nil {
		return unavailable(err, doing)
	}
	defer leave()
	ctx, done := r.pulse.follow(ctx)
	defer done()
	rows, err := ask(ctx, conn, query, args)
	if err != nil {
		return unavailable(err, doing)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return unavailable(errors.Join(err, context.Cause(ctx)), doing)
	}
	for _, take := range last {
		if err := take(rows); err != nil {
			return err
		}
	}
	return nil
}

// Stream runs a query of who counts for himself and hands every row to take, whose scan reads the columns. pairs are names and
// values of {name:Type} parameters, in turns. There is no time limit. Faults: Unavailable.
func (r *Reader) Stream(ctx context.Context, doing, query string, pairs []any, take func(scan func(columns ...any) error) error) error {
	return r.stream(ctx, r.conn, doing, query, args(pairs...), func(rows driver.Rows) error {
		return take(func(columns ...any) error {
			if err := rows.Scan(columns...); err != nil {
				return unavailable(err, doing)
			}
			return nil
		})
	})
}

func unavailable(err error, doing string) error {
	return &fault.Error{
		Kind:       fault.Unavailable,
		Message:    "statistics are unavailable; try again shortly",
		RetryAfter: retryAfter,
		Cause:      fmt.Errorf("%s: %w", doing, err),
	}
}

// args turns alternating names and values into typed {name:Type} parameters.
func args(pairs ...any) []any {
	named := make([]any, 0, len(pairs)/2)
	for pair := range slices.Chunk(pairs, 2) {
		named = append(named, clickhouse.Named(pair[0].(string), pair[1]))
	}
	return named
}
