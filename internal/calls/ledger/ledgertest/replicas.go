//go:build replicas

package ledgertest

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"callgate/internal/cluster"
	"callgate/internal/embedded"
	_ "callgate/internal/embedded/replicapatch" // without a clickhouse-server
)

// OnReplicas runs a test on one shard of two replicas and on two shards of two.
func OnReplicas(t *testing.T, test func(t *testing.T, r *Replicated)) {
	for shards := 1; shards <= 2; shards++ {
		t.Run(fmt.Sprintf("%d x 2", shards), func(t *testing.T) {
			engines := embedded.OwnReplicas(t, shards, 2)
			r := &Replicated{Stores: Connect(t, engines.ClickHouseURL(), engines.DatabaseURL()), Engines: engines, Shards: shards}
			for i := range 6 {
				id := uuid.New()
				for cluster.Of(id, shards) != i%shards {
					id = uuid.New()
				}
				r.Applications = append(r.Applications, id)
			}
			test(t, r)
		})
	}
}

// Replicated is a cluster whose shards have two replicas each.
type Replicated struct {
	*Stores
	Engines      *embedded.Engines
	Shards       int
	Applications []uuid.UUID
}

// EngineOf names the engine of a replica of a shard, both from 0.
func (r *Replicated) EngineOf(shard, replica int) string {
	if n := 2*shard + replica; n > 0 {
		return fmt.Sprint("clickhouse", n+1)
	}
	return "clickhouse"
}

// Node connects to the rows of one replica.
func (r *Replicated) Node(t *testing.T, shard, replica int) *Stores {
	t.Helper()
	return Connect(t, r.Engines.ClickHouseDSNOf(r.EngineOf(shard, replica), cluster.ShardDatabase("callgate")), r.Engines.DatabaseURL())
}

// Alike waits until both replicas of every shard have fetched everything, and demands that they hold the same: so many
// calls over all shards, each once, and rollups that agree with them.
func (r *Replicated) Alike(t *testing.T, want int64) {
	t.Helper()
	total := int64(0)
	for shard := range r.Shards {
		var counts [2]int64
		for replica := range counts {
			of := r.Node(t, shard, replica)
			for _, table := range append([]string{"deleted_applications"}, Tables...) {
				if err := of.Conn.Exec(t.Context(), `SYSTEM SYNC REPLICA `+table); err != nil {
					t.Fatal(err)
				}
			}
			counts[replica] = of.Counted(t)
		}
		if counts[0] != counts[1] {
			t.Errorf("the replicas of shard %d hold %v calls", shard+1, counts)
		}
		total += counts[0]
	}
	if total != want {
		t.Errorf("%d calls are counted of %d", total, want)
	}
}
