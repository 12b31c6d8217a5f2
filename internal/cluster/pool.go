package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	// dialTimeout bounds the way to a node, silence how long one that answers may say nothing: while it works
	// it tells its progress ten times a second. Together with what a node waits for another one they make
	// an answer about a shard that hangs come within three seconds.
	dialTimeout = 700 * time.Millisecond
	silence     = 2 * time.Second
	// awayFor is how long a node that did not answer is asked last.
	awayFor = 5 * time.Second
)

// reading are the settings of questions to Distributed tables. A shard is asked only where the key of a
// question's applications leads; one that does not answer makes an error, never a smaller number; and a
// replica that is behind is not asked, unless it is known that no other one is current (see Promise).
var reading = clickhouse.Settings{
	"optimize_skip_unused_shards":       1,
	"optimize_skip_unused_shards_limit": 1_000_000, // applications of one question
	"skip_unavailable_shards":           0,

	"connect_timeout_with_failover_ms":        700,
	"connect_timeout_with_failover_secure_ms": 700,
	"handshake_timeout_ms":                    700,
	"connections_with_failover_max_tries":     1,
	"receive_timeout":                         2,

	"max_replica_delay_for_distributed_queries":          staleAfter,
	"fallback_to_stale_replicas_for_distributed_queries": 0,
}

// fallback are the settings while no replica of some shard is current.
var fallback = clickhouse.WithSettings(clickhouse.Settings{"fallback_to_stale_replicas_for_distributed_queries": 1})

// Pool asks a cluster through any of the nodes of its address: one, as long as it answers, so that consecutive
// questions see the same. It is safe for concurrent use.
type Pool struct {
	name     string
	database string // of the shards
	nodes    []node
	turns    *turns
	looks    bool // how far replicas are before each question

	mu         sync.Mutex
	sample     sample
	keeperAway time.Time // until then Keeper is not asked
	plain      bool      // nothing is replicated
}

type node struct {
	address string
	conn    driver.Conn
}

// turns tells which node is asked first, and which last.
type turns struct {
	mu      sync.Mutex
	current int
	away    []time.Time // of each node: asked last until then
	stale   bool        // some shard had no current replica
}

// Open prepares connections to each node; it dials nothing.
func Open(options *clickhouse.Options, name string) (*Pool, error) {
	return open(options, name, &turns{current: rand.IntN(len(options.Addr)), away: make([]time.Time, len(options.Addr))}) //nolint:gosec // any will do
}

// Beside opens more connections to the nodes of p, for questions before which nobody asks for a Promise. What one of the
// pools learns about a node the other knows.
func (p *Pool) Beside(options *clickhouse.Options) (*Pool, error) {
	beside, err := open(options, p.name, p.turns)
	if err == nil {
		beside.looks = true
	}
	return beside, err
}

func open(options *clickhouse.Options, name string, turns *turns) (*Pool, error) {
	p := &Pool{name: name, database: ShardDatabase(options.Auth.Database), turns: turns, sample: newSample()}
	for _, address := range options.Addr {
		of := OfNode(options, address, options.Auth.Database)
		for setting, value := range reading {
			if _, set := of.Settings[setting]; !set {
				of.Settings[setting] = value
			}
		}
		of.DialTimeout = dialTimeout
		of.DialContext = dialer{tls: of.TLS}.dial
		conn, err := clickhouse.Open(of)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open clickhouse: %w", err), p.Close())
		}
		p.nodes = append(p.nodes, node{address, conn})
	}
	return p, nil
}

// Close closes all connections.
func (p *Pool) Close() error {
	var faults []error
	for _, n := range p.nodes {
		faults = append(faults, n.conn.Close())
	}
	return errors.Join(faults...)
}

// Query asks a node, and another one when that cannot be reached or says nothing. What a node answers is the
// answer, be it an error.
func (p *Pool) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	if p.looks {
		if _, _, err := p.Promise(ctx, nothingThrough); err != nil {
			return nil, err
		}
	}
	return p.ask(ctx, query, args...)
}

func nothingThrough(context.Context) (time.Time, error) { return never, nil }

func (p *Pool) ask(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	if p.turns.isStale() {
		ctx = clickhouse.Context(ctx, fallback)
	}
	var faults []error
	for _, i := range p.turns.order() {
		rows, err := p.nodes[i].conn.Query(ctx, query, args...)
		if err == nil {
			return rows, nil
		}
		faults = append(faults, fmt.Errorf("node %s: %w", p.nodes[i].address, err))
		var answered *clickhouse.Exception
		if errors.As(err, &answered) || ctx.Err() != nil || errors.Is(err, clickhouse.ErrAcquireConnTimeout) {
			break
		}
		p.turns.failed(i)
	}
	return nil, errors.Join(faults...)
}

// Ping asks whether every shard answers.
func (p *Pool) Ping(ctx context.Context) error {
	rows, err := p.ask(ctx, `SELECT count() FROM cluster({cluster:String}, system.one)`, clickhouse.Named("cluster", p.name))
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		continue
	}
	return rows.Err()
}

// Prefer makes a node, by its place in the address, the one that is asked first.
func (p *Pool) Prefer(node int) {
	p.turns.mu.Lock()
	defer p.turns.mu.Unlock()
	p.turns.current = node % len(p.nodes)
	clear(p.turns.away)
}

// order is the nodes in the order to ask them. A name that stands alone is tried again, for it may lead to another
// of several nodes.
func (t *turns) order() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.away) == 1 {
		return []int{0, 0}
	}
	now := time.Now()
	var present, away []int
	for i := range t.away {
		i = (t.current + i) % len(t.away)
		if t.away[i].After(now) {
			away = append(away, i)
		} else {
			present = append(present, i)
		}
	}
	return append(present, away...)
}

func (t *turns) isStale() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stale
}

func (t *turns) setStale(stale bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stale = stale
}

func (t *turns) failed(node int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away[node] = time.Now().Add(awayFor)
	if t.current == node {
		t.current = (t.current + 1) % len(t.away)
	}
}
