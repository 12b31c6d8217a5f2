package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const (
	// staleAfter is by how many seconds a replica may be behind and still be asked while another is current.
	staleAfter = 2
	// sampleFor is how long what replicas said of themselves is used.
	sampleFor = time.Second
)

// sample is how far the replicas were when they were last asked.
type sample struct {
	at      time.Time
	fetched time.Time            // zero: nothing is replicated
	healthy map[string]time.Time // when a replica last knew what there is to fetch, by host and port
}

func newSample() sample { return sample{healthy: map[string]time.Time{}} }

// lagQuery asks every replica that can be reached. One that has lost its session knows nothing of what it lacks.
const lagQuery = `
SELECT shardNum(), hostName() || ':' || toString(tcpPort()), max(absolute_delay), max(is_readonly OR is_session_expired)
FROM clusterAllReplicas({cluster:String}, system.replicas)
WHERE database = {database:String}
GROUP BY 1, 2
SETTINGS skip_unavailable_shards = 1`

// Fetched is the time before which every row that was inserted is on whichever replica answers a question that
// is asked from now on; zero when no table is replicated. A replica that is far behind is not asked while
// another is current (max_replica_delay_for_distributed_queries).
func (p *Pool) Fetched(ctx context.Context) (time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.sample.at) < sampleFor {
		return p.sample.fetched, nil
	}
	p.mu.Unlock()
	began := time.Now()
	replicas, err := p.replicas(ctx)
	p.mu.Lock()
	if err != nil {
		return time.Time{}, err
	}
	p.sample.take(began, replicas)
	return p.sample.fetched, nil
}

// replicaState is what one replica says of itself.
type replicaState struct {
	shard uint32
	host  string
	delay uint64 // seconds
	blind bool   // it does not know what there is to fetch
}

func (p *Pool) replicas(ctx context.Context) ([]replicaState, error) {
	rows, err := p.Query(ctx, lagQuery, clickhouse.Named("cluster", p.name), clickhouse.Named("database", p.database))
	if err != nil {
		return nil, fmt.Errorf("ask replicas how far they are: %w", err)
	}
	return scanReplicas(rows)
}

func scanReplicas(rows driver.Rows) (replicas []replicaState, err error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r replicaState
		var blind uint8
		if err := rows.Scan(&r.shard, &r.host, &r.delay, &blind); err != nil {
			return nil, fmt.Errorf("ask replicas how far they are: %w", err)
		}
		r.blind = blind != 0
		replicas = append(replicas, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ask replicas how far they are: %w", err)
	}
	return replicas, nil
}

// take keeps the least time of the shards: of each, that of the replica furthest behind among those that are
// asked, or of the most current one when all are stale.
func (s *sample) take(now time.Time, replicas []replicaState) {
	asked, best := map[uint32]time.Time{}, map[uint32]time.Time{}
	for _, r := range replicas {
		has := now.Add(-time.Duration(1+r.delay) * time.Second) // a delay is told in whole seconds
		if r.blind {
			if has = s.healthy[r.host]; has.IsZero() {
				has = time.UnixMilli(0) // it may lack anything
			}
		} else {
			s.healthy[r.host] = has
		}
		if known, ok := best[r.shard]; !ok || has.After(known) {
			best[r.shard] = has
		}
		if known, ok := asked[r.shard]; r.delay < staleAfter && (!ok || has.Before(known)) {
			asked[r.shard] = has
		}
	}
	s.at, s.fetched = now, time.Time{}
	for shard, has := range best {
		if of, ok := asked[shard]; ok {
			has = of
		}
		if s.fetched.IsZero() || has.Before(s.fetched) {
			s.fetched = has
		}
	}
}
