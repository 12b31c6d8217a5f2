package cluster_test

import (
	"fmt"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// TestTheShardOfAnApplicationIsTheOneTheEngineTakes: batches are cut by the one and questions sent by the other.
func TestTheShardOfAnApplicationIsTheOneTheEngineTakes(t *testing.T) {
	options, _, err := cluster.Parse(embedded.ClickHouse(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ids := []uuid.UUID{uuid.Nil, uuid.Max}
	for range 2000 {
		ids = append(ids, uuid.New(), uuid.Must(uuid.NewV7()))
	}
	for _, shards := range []int{1, 2, 3, 7} {
		var got []uint64
		query := fmt.Sprintf("SELECT groupArray(toUInt64(%s)) FROM (SELECT arrayJoin({ids:Array(UUID)}) AS application_id)", cluster.Key(shards))
		if err := conn.QueryRow(t.Context(), query, clickhouse.Named("ids", ids)).Scan(&got); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if int(got[i]) != cluster.Of(id, shards) {
				t.Fatalf("%s lies on shard %d of %d, not %d", id, got[i], shards, cluster.Of(id, shards))
			}
		}
	}
}
