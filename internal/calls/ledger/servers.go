package ledger

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

// refreshEvery is at most between two looks at a cluster's replicas.
const refreshEvery = time.Minute

// servers are where the rows are: a single server, or the shards of a cluster. Those are found when they are first
// needed, for ClickHouse may be away when a process starts.
type servers struct {
	options *clickhouse.Options
	name    string // of the cluster; empty: a single server

	mu    sync.Mutex
	found []*shard
	asked time.Time
}

// openServers prepares connections; it dials nothing.
func openServers(address string) (*servers, error) {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return nil, err
	}
	s := &servers{options: options, name: name}
	if name == "" {
		conn, err := openClickHouse(options)
		if err != nil {
			return nil, err
		}
		s.found = []*shard{{replicas: []replica{{conn: conn}}}}
	}
	return s, nil
}

// shards are all shards. Replicas that were added or replaced are found within a minute.
func (s *servers) shards(ctx context.Context) ([]*shard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.name == "" || len(s.found) > 0 && time.Since(s.asked) < refreshEvery {
		return s.found, nil
	}
	layout, err := cluster.Discover(ctx, s.options, s.name)
	s.asked = time.Now()
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
			s.found = append(s.found, &shard{number: of.Number, of: len(layout)})
		}
		if err := s.connect(s.found[i], of.Replicas); err != nil {
			return nil, err
		}
	}
	return s.found, nil
}

// connect makes the replicas of a shard those at some addresses.
func (s *servers) connect(to *shard, addresses []string) error {
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

func (s *servers) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults []error
	for _, shard := range s.found {
		faults = append(faults, shard.close())
	}
	return errors.Join(faults...)
}

// each runs a task on every shard, whatever becomes of it on others: through the replica that is used, and when
// it fails there through each other one in turn. The task must bear being repeated.
func (s *servers) each(ctx context.Context, task func(context.Context, *shard) error) error {
	shards, err := s.shards(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, one := range shards {
		if err := one.try(ctx, task); err != nil {
			if s.name != "" {
				err = fmt.Errorf("shard %d: %w", one.number, err)
			}
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// try runs a task through one replica after the other until it succeeds.
func (s *shard) try(ctx context.Context, task func(context.Context, *shard) error) error {
	var faults []error
	for range s.all() {
		err := task(ctx, s)
		if err == nil {
			return nil
		}
		faults = append(faults, err)
		s.failed()
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(faults...)
}
