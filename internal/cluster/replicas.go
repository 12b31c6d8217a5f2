package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

const (
	// keeperTimeout bounds what Keeper is asked for; after it did not answer it is not asked for so long.
	keeperTimeout = 1500 * time.Millisecond
	keeperPause   = 10 * time.Second
	// looks is how often replicas are looked at until each has fetched what the log held at the first look.
	looks     = 6
	firstLook = 10 * time.Millisecond // the pause after it, doubled from one to the next
)

// replicasQuery asks every replica that can be reached about each table. Those of a shard have the path of a table in
// Keeper in common (shardNum is another number for each here). What the log in Keeper holds and a replica has not
// heard of is in none of its delays; without Keeper nothing is known of the log.
func replicasQuery(withKeeper bool) string {
	log := "toUInt64(0), toUInt64(0), 'not asked'"
	if withKeeper {
		log = "log_max_index, log_pointer, zookeeper_exception"
	}
	return `
SELECT zookeeper_path, replica_name, absolute_delay, is_readonly OR is_session_expired, inserts_in_queue, ` + log + `
FROM clusterAllReplicas({cluster:String}, system.replicas)
WHERE database = {database:String}
SETTINGS skip_unavailable_shards = 1`
}

// copyOf is a table of a shard, by its path in Keeper, on one replica.
type copyOf struct{ path, replica string }

// tableCopy is what a replica says of one of its tables.
type tableCopy struct {
	copyOf
	delay         uint64 // seconds
	blind         uint8  // it has lost its session
	queued        uint32 // inserts it has heard of and not fetched
	logged, heard uint64 // the last entry of the log, and the first one it has not heard of
	fault         string // why Keeper could not be asked
	whole         bool   // it has everything that was inserted before it was asked
}

// has tells whether a copy holds all that the log did when its last entry was that.
func (c *tableCopy) has(logged uint64) bool {
	return c.fault == "" && c.blind == 0 && c.queued == 0 && (c.heard > logged || c.heard == 0 && logged == 0)
}

// copies asks all replicas how far they are, and gives each a moment to fetch what there was when the first were asked.
func (p *Pool) copies(ctx context.Context) ([]tableCopy, error) {
	logged, had := map[string]uint64{}, map[copyOf]bool{}
	for look := 0; ; look++ {
		copies, err := p.look(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range copies {
			if look == 0 {
				logged[c.path] = max(logged[c.path], c.logged)
			}
		}
		waits := false
		for i := range copies {
			c := &copies[i]
			c.whole = had[c.copyOf] || c.has(logged[c.path])
			had[c.copyOf] = c.whole
			waits = waits || !c.whole && c.fault == "" && c.delay < staleAfter
		}
		if !waits || look == looks-1 {
			return copies, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("ask replicas how far they are: %w", ctx.Err())
		case <-time.After(firstLook << look):
		}
	}
}

// look asks with Keeper's part, or without when that does not come.
func (p *Pool) look(ctx context.Context) ([]tableCopy, error) {
	p.mu.Lock()
	withKeeper, plain := time.Now().After(p.keeperAway), p.plain
	p.mu.Unlock()
	if withKeeper {
		limited, cancel := context.WithTimeout(ctx, keeperTimeout)
		copies, err := p.copiesBy(limited, replicasQuery(true))
		cancel()
		if err == nil || ctx.Err() != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.plain = err == nil && len(copies) == 0
			return copies, err
		}
		p.mu.Lock()
		p.keeperAway = time.Now().Add(keeperPause)
		p.mu.Unlock()
	}
	if plain {
		return nil, nil // it is another shard that does not answer
	}
	return p.copiesBy(ctx, replicasQuery(false))
}

func (p *Pool) copiesBy(ctx context.Context, query string) (copies []tableCopy, err error) {
	rows, err := p.ask(ctx, query, clickhouse.Named("cluster", p.name), clickhouse.Named("database", p.database))
	if err != nil {
		return nil, fmt.Errorf("ask replicas how far they are: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c tableCopy
		if err := rows.Scan(&c.path, &c.replica, &c.delay, &c.blind, &c.queued, &c.logged, &c.heard, &c.fault); err != nil {
			return nil, fmt.Errorf("ask replicas how far they are: %w", err)
		}
		copies = append(copies, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ask replicas how far they are: %w", err)
	}
	return copies, nil
}
