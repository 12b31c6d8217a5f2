package clickhouse_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/clickhouse"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// nodesOf connects to each node of a cluster, in the database of its address.
func nodesOf(t *testing.T, address string) (nodes []store) {
	t.Helper()
	options, _, err := cluster.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range options.Addr {
		conn, err := driver.Open(cluster.OfNode(options, host, options.Auth.Database))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		nodes = append(nodes, store{t, conn, address})
	}
	return nodes
}

const manyIDs = 500

// insertOfMany inserts a call of each of many applications, and gives these.
func insertOfMany(s store) (applications []uuid.UUID) {
	var ids []string
	for range manyIDs {
		applications = append(applications, uuid.New())
		ids = append(ids, "'"+applications[len(applications)-1].String()+"'")
	}
	s.exec(s.t.Context(), `INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, success, key_id)
		SELECT toUUID(arrayJoin([`+strings.Join(ids, ",")+`])), now64(3), generateUUIDv4(), 'gpt', 7, true, generateUUIDv4()`)
	return applications
}

// TestEveryNodeOfAClusterAnswersForAllOfIt: tables and views are on each, and rows on the shard that the key says.
func TestEveryNodeOfAClusterAnswersForAllOfIt(t *testing.T) {
	engines := embedded.OwnCluster(t, 2)
	nodes := nodesOf(t, engines.ClickHouseURL())
	applications := insertOfMany(nodes[0])
	gone := []uuid.UUID{applications[0], applications[1]}
	for i, s := range nodes {
		s.exec(t.Context(), fmt.Sprintf(`INSERT INTO callgate_shard.deleted_applications (application_id, deleted_at) VALUES ('%s', now64(3))`, gone[i]))
	}
	for i, s := range nodes {
		for query, want := range map[string]int64{
			"SELECT toInt64(count()) FROM calls":                         manyIDs,
			"SELECT sum(calls) FROM usage_daily":                         manyIDs,
			"SELECT sum(calls) FROM usage_hourly":                        manyIDs,
			"SELECT toInt64(count()) FROM app_models":                    manyIDs,
			"SELECT toInt64(count()) FROM app_keys":                      manyIDs,
			"SELECT sumIf(amount, meter = 'total') FROM keys_daily":      manyIDs,
			"SELECT sumIf(amount, meter = 'total') FROM live_keys_daily": manyIDs - 2,
			"SELECT toInt64(count()) FROM live_calls":                    manyIDs - 2,
			"SELECT sum(calls) FROM live_usage_daily":                    manyIDs - 2,
			"SELECT sum(calls) FROM live_usage_hourly":                   manyIDs - 2,
			"SELECT sum(calls) FROM live_durations":                      manyIDs - 2,
			"SELECT toInt64(uniqExact(application_id)) FROM live_models": manyIDs - 2,
		} {
			if got := column[int64](s, query); !slices.Equal(got, []int64{want}) {
				t.Errorf("node %d, %s: %v, want %d", i, query, got, want)
			}
		}
		here := column[uuid.UUID](s, "SELECT application_id FROM callgate_shard.calls")
		want := 0
		for _, id := range applications {
			if cluster.Of(id, 2) == i {
				want++
				if !slices.Contains(here, id) {
					t.Errorf("shard %d has no call of %s", i, id)
				}
			}
		}
		if len(here) != want || want == 0 || want == manyIDs {
			t.Errorf("shard %d has %d calls, want %d", i, len(here), want)
		}
		if silent := column[string](s, `SELECT table || '.' || name FROM system.columns WHERE database = currentDatabase() AND comment = '' AND table NOT LIKE 'goose%'`); len(silent) > 0 {
			t.Errorf("without a comment: %v", silent)
		}
	}
}

// TestAClustersMigrationIsRepeatedAndCompleted: what a node lacks it gets by the next run, and Distributed tables
// follow the columns of those behind them.
func TestAClustersMigrationIsRepeatedAndCompleted(t *testing.T) {
	engines := embedded.OwnCluster(t, 2)
	nodes := nodesOf(t, engines.ClickHouseURL())
	insertOfMany(nodes[0])
	for _, s := range nodes {
		s.exec(t.Context(), "ALTER TABLE callgate_shard.calls ADD COLUMN later UInt8 COMMENT 'of a later version'")
	}
	nodes[1].exec(t.Context(), "DROP VIEW live_models")
	nodes[1].exec(t.Context(), "DROP TABLE goose_db_version")
	up, err := engines.Down("clickhouse")
	if err != nil {
		t.Fatal(err)
	}
	if err := clickhouse.Up(t.Context(), engines.ClickHouseURL()); err == nil {
		t.Error("nothing is said about a node that is away")
	}
	if err := up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := clickhouse.Up(t.Context(), engines.ClickHouseURL()); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range nodes {
		if n := column[uint64](s, "SELECT count() FROM calls WHERE later = 0"); n[0] != manyIDs {
			t.Errorf("node %d answers %d calls with the new column", i, n[0])
		}
		if n := column[uint64](s, "SELECT uniqExact(application_id) FROM live_models"); n[0] != manyIDs {
			t.Errorf("node %d shows models of %d applications", i, n[0])
		}
	}
}

func TestASingleServersDatabaseIsNotMadeAClusters(t *testing.T) {
	engines := embedded.OwnCluster(t, 2)
	s := nodesOf(t, engines.ClickHouseURL())[0]
	s.exec(t.Context(), "CREATE DATABASE single")
	s.exec(t.Context(), "CREATE TABLE single.calls (application_id UUID) ENGINE = MergeTree ORDER BY application_id")
	address := strings.Replace(engines.ClickHouseURL(), "/callgate?", "/single?", 1)
	if err := clickhouse.Up(t.Context(), address); err == nil || !strings.Contains(err.Error(), "tables of a single server") {
		t.Errorf("%v", err)
	}
	if err := clickhouse.Up(t.Context(), cluster.Address(engines.ClickHouseDSN(), "unheard of")); err == nil || !strings.Contains(err.Error(), "remote_servers") {
		t.Errorf("%v", err)
	}
}

// TestReplicatedTablesAreMadeByStatementsTheEngineKnows: without Keeper they can only be read by its parser here.
func TestReplicatedTablesAreMadeByStatementsTheEngineKnows(t *testing.T) {
	s := open(t)
	files, err := clickhouse.ForShard(true)
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for name, sql := range statementsOf(t, files) {
		for _, statement := range sql {
			rows, err := s.conn.Query(t.Context(), "SELECT formatQuerySingleLine({statement:String})", driver.Named("statement", statement))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_ = rows.Close()
			if strings.HasPrefix(statement, "CREATE TABLE") {
				tables++
				if !strings.Contains(statement, "MergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')") {
					t.Errorf("not replicated: %s", statement)
				}
			}
			if strings.Contains(statement, "live_") {
				t.Errorf("a view stands in the shard's database: %s", statement)
			}
		}
	}
	if tables != 14 {
		t.Errorf("%d tables", tables)
	}
}

func statementsOf(t *testing.T, files fs.FS) map[string][]string {
	t.Helper()
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	found := map[string][]string{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "-- +goose StatementBegin\n") {
			if statement, _, ok := strings.Cut(part, "-- +goose StatementEnd"); ok {
				found[name] = append(found[name], strings.TrimSuffix(strings.TrimSpace(statement), ";"))
			}
		}
	}
	return found
}

// TestANewReplicasTablesAreThoseOfItsShardByNow: here two servers stand for replicas of one shard.
func TestANewReplicasTablesAreThoseOfItsShardByNow(t *testing.T) {
	engines := embedded.OwnCluster(t, 2)
	nodes := nodesOf(t, engines.ClickHouseURL())
	options, _, err := cluster.Parse(engines.ClickHouseURL())
	if err != nil {
		t.Fatal(err)
	}
	nodes[1].exec(t.Context(), "DROP DATABASE callgate_shard")
	layout := cluster.Layout{{Number: 1, Replicas: options.Addr}}
	for range 2 {
		if err := clickhouse.Join(t.Context(), options, options.Addr[1], layout); err != nil {
			t.Fatal(err)
		}
	}
	const structure = `SELECT table || '.' || name || ' ' || type || ' ' || default_expression FROM system.columns
		WHERE database = 'callgate_shard' AND table IN (SELECT name FROM system.tables WHERE database = 'callgate_shard' AND engine LIKE '%MergeTree' AND name NOT LIKE 'goose%')
		ORDER BY table, position`
	if was, is := column[string](nodes[0], structure), column[string](nodes[1], structure); len(was) < 40 || !slices.Equal(was, is) {
		t.Errorf("%d columns, then %d:\n%v", len(was), len(is), is)
	}
	if err := clickhouse.Up(t.Context(), engines.ClickHouseURL()); err != nil {
		t.Fatal(err)
	}
	insertOfMany(nodes[1])
	if n := column[int64](nodes[1], "SELECT sum(calls) FROM usage_hourly"); n[0] != manyIDs {
		t.Errorf("%d calls are counted of %d", n[0], manyIDs)
	}
}
