//go:build replicas

package clickhouse_test

import (
	"strings"
	"testing"

	"callgate/clickhouse"
	"callgate/internal/embedded"
	_ "callgate/internal/embedded/replicapatch"
)

// TestAReplacedReplicaGetsItsTablesAndFetchesItsRowsWhileAnotherNodeIsAway: that one is named, and migrated later.
func TestAReplacedReplicaGetsItsTablesAndFetchesItsRowsWhileAnotherNodeIsAway(t *testing.T) {
	engines := embedded.OwnReplicas(t, 2, 2)
	address := engines.ClickHouseURL()
	nodes := nodesOf(t, address)
	insertOfMany(nodes[0])
	for _, database := range []string{"callgate", "callgate_shard"} {
		nodes[1].exec(t.Context(), "DROP DATABASE "+database+" SYNC")
	}
	up, err := engines.Down("clickhouse4")
	if err != nil {
		t.Fatal(err)
	}
	if err := clickhouse.Up(t.Context(), address); err == nil || strings.Count(err.Error(), "node ") != 1 {
		t.Fatalf("with a node away: %v", err)
	}
	if err := up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := clickhouse.Up(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	}
	const tables = `SELECT engine || ' ' || name FROM system.tables WHERE database IN ('callgate', 'callgate_shard') ORDER BY database, name`
	first := column[string](nodes[0], tables)
	for i, s := range nodes {
		if is := column[string](s, tables); len(is) < 20 || strings.Join(is, ",") != strings.Join(first, ",") {
			t.Errorf("node %d has %v, the first one %v", i, is, first)
		}
		if n := column[uint64](s, "SELECT count() FROM system.replicas WHERE database = 'callgate_shard' AND (is_readonly OR total_replicas != 2)"); n[0] != 0 {
			t.Errorf("node %d has %d tables that do not replicate", i, n[0])
		}
	}
	for _, table := range []string{"calls", "usage_daily", "usage_hourly"} {
		nodes[1].exec(t.Context(), "SYSTEM SYNC REPLICA callgate_shard."+table)
	}
	var of []uint64
	for _, s := range nodes[:2] {
		of = append(of, column[uint64](s, "SELECT count() FROM callgate_shard.calls")[0], uint64(column[int64](s, "SELECT sum(calls) FROM callgate_shard.usage_daily")[0]))
	}
	if of[0] == 0 || of[0] != of[1] || of[0] != of[2] || of[0] != of[3] {
		t.Errorf("the replicas of the first shard hold calls and rollups %v", of)
	}
	for i, s := range nodes {
		if n := column[uint64](s, "SELECT count() FROM live_calls"); n[0] != manyIDs {
			t.Errorf("node %d answers %d calls of %d", i, n[0], manyIDs)
		}
	}
}
