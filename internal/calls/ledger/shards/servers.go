// Package shards is where the calls lie, for those who write them: the one server of ClickHouse, or the shards of a
// cluster, each through any of its replicas.
package shards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"callgate/internal/cluster"
)

// RefreshEvery is at most between two looks at a cluster's replicas.
const RefreshEvery = time.Minute

// Servers are where the rows are: a single server, or the shards of a cluster. Those are found when they are first
// needed, for ClickHouse may be away when a process starts.
type Servers struct {
	options *clickhouse.Options
	name    string // of the cluster; empty: a single server

	mu      sync.Mutex
	found   []*Shard
	askedAt time.Time
}

// Open prepares connections; it dials nothing.
func Open(address string) (*Servers, error) {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return nil, err
	}
	s := &Servers{options: options, name: name}
	if name == "" {
		conn, err := openClickHouse(options)
		if err != nil {
			return nil, err
		}
		s.found = []*Shard{{replicas: []replica{{conn: conn}}}}
	}
	return s, nil
}

// Shards are all shards. Replicas that were added or replaced are found within a minute.
func (s *Servers) Shards(ctx context.Context) ([]*Shard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name == "" || len(s.found) > 0 && time.Since(s.askedAt) < RefreshEvery {
		return s.found, nil
	}
	layout, err := cluster.Discover(ctx, s.options, s.name)
	s.askedAt = time.Now()
	if err != nil {
		if len(s.found) > 0 {
			return s.found, nil // those that are known may answer
		}
		return nil, err
	}
	if len(s.found) > 0 && len(s.found) != len(layout) {
		return nil, fmt.Errorf("the cluster's tables were on %d shards when this process began and are on %d now: restart it", len(s.found), len(layout))
	}
	for i, of := range layout {
		if len(s.found) == i {
			s.found = append(s.found, &Shard{Number: of.Number, Of: len(layout)})
		}
		if err := s.connect(s.found[i], of.Replicas); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

// connect makes the replicas of a shard those at some addresses.
func (s *Servers) connect(to *Shard, addresses []string) error {
	to.mu.Lock()
	defer to.mu.Unlock()
	kept := to.replicas
	if slices.EqualFunc(kept, addresses, func(r replica, address string) bool { return r.address == address }) {
		return nil
	}
	var replicas []replica
	for _, address := range addresses {
		at := slices.IndexFunc(kept, func(r replica) bool { return r.address == address })
		if at >= 0 {
			replicas = append(replicas, kept[at])
			continue
		}
		conn, err := openClickHouse(cluster.OfNode(s.options, address, cluster.ShardDatabase(s.options.Auth.Database)))
		if err != nil {
			return err
		}
		replicas = append(replicas, replica{address, conn})
	}
	to.replicas, to.current = replicas, 0
	for _, r := range kept {
		if !slices.Contains(addresses, r.address) {
			_ = r.conn.Close()
		}
	}
	return nil
}

// Options are those of connections that are yet to be made.
func (s *Servers) Options() *clickhouse.Options { return s.options }

// Close closes all connections.
func (s *Servers) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults []error
	for _, shard := range s.found {
		faults = append(faults, shard.close())
	}
	return errors.Join(faults...)
}

// Each runs a task on every shard, whatever becomes of it on others: through the replica that is used, and when
// it fails there through each other one in turn. The task must bear being repeated.
func (s *Servers) Each(ctx context.Context, task func(context.Context, *Shard) error) error {
	shards, err := s.Shards(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, one := range shards {
		if err := one.Try(ctx, task); err != nil {
			if s.name != "" {
				err = fmt.Errorf("shard %d: %w", one.Number, err)
			}
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// Try runs a task through one replica after the other until it succeeds.
func (s *Shard) Try(ctx context.Context, task func(context.Context, *Shard) error) error {
	var faults []error
	for range s.all() {
		err := task(ctx, s)
		if err == nil {
			return nil
		}
		faults = append(faults, err)
		s.Failed()
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(faults...)
}
