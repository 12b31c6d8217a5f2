package clickhouse_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"callgate/clickhouse"
	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

type store struct {
	t    *testing.T
	conn driver.Conn
	url  string
}

func open(t *testing.T) store {
	t.Helper()
	url := embedded.ClickHouse(t)
	options, _, err := cluster.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := driver.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return store{t, conn, url}
}

func (s store) exec(ctx context.Context, statement string) {
	s.t.Helper()
	if err := s.conn.Exec(ctx, statement); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

// column reads one column.
func column[T any](s store, query string) (values []T) {
	s.t.Helper()
	rows, err := s.conn.Query(s.t.Context(), query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			s.t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return values
}

// as gives an INSERT a deduplication token, as the shipper does.
func as(token string) context.Context {
	return driver.Context(context.Background(), driver.WithSettings(driver.Settings{
		"insert_deduplication_token": token, "deduplicate_blocks_in_dependent_materialized_views": 1, "async_insert": 0,
	}))
}

// insertCalls inserts one call per duration on a day, all by one application, and names the batch.
func insertCalls(day, batch, durations string) string {
	return fmt.Sprintf(`INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success, ended_by, batch_id)
		SELECT toUUID('00000000-0000-7000-8000-000000000001'), toDateTime64('%s 00:00:00.000', 3, 'Asia/Shanghai') + INTERVAL rowNumberInAllBlocks() MILLISECOND,
		generateUUIDv4(), generateUUIDv4(), 'gpt', d, 200, d %% 2 = 0, 'complete', '%s' FROM (SELECT toUInt32(arrayJoin(%s)) AS d)`, day, batch, durations)
}

// daysAgo is a day that no time to live has reached.
func daysAgo(n int) string { return time.Now().UTC().AddDate(0, 0, -n).Format(time.DateOnly) }

func TestMigrationsCanRunTwice(t *testing.T) {
	s := open(t)
	if err := clickhouse.Up(t.Context(), s.url); err != nil {
		t.Fatal(err)
	}
}

func TestEveryColumnSaysWhatItHolds(t *testing.T) {
	s := open(t)
	silent := column[string](s, `SELECT table || '.' || name FROM system.columns
		WHERE database = currentDatabase() AND comment = '' AND table NOT LIKE 'calls_to_%' AND table NOT LIKE 'goose%' AND table NOT LIKE '.inner%'`)
	if len(silent) > 0 {
		t.Errorf("without a comment: %v", silent)
	}
	silent = column[string](s, `SELECT name FROM system.tables WHERE database = currentDatabase() AND comment = ''
		AND name NOT LIKE 'calls_to_%' AND name NOT LIKE 'goose%'`)
	if len(silent) > 0 {
		t.Errorf("tables without a comment: %v", silent)
	}
}

func TestARetriedInsertCountsOnceInRowsAndRollups(t *testing.T) {
	s := open(t)
	insert := insertCalls(daysAgo(3), "a", "[1, 2, 3]")
	for range 3 {
		s.exec(as("segment/day/0"), insert)
	}
	s.exec(as("segment/day/1"), insert)
	counts := column[int64](s, `SELECT toInt64(count()) FROM calls UNION ALL SELECT sum(calls) FROM usage_daily
		UNION ALL SELECT sum(calls) FROM usage_hourly UNION ALL SELECT arraySum(sumMap(durations).2) FROM usage_daily`)
	if !slices.Equal(counts, []int64{6, 6, 6, 6}) {
		t.Errorf("rows, daily, hourly, histogram: %v, want 6 each", counts)
	}
}

// TestEveryDurationFallsIntoItsBucket compares with the same formula in integers, on both sides of
// every bucket's edge.
func TestEveryDurationFallsIntoItsBucket(t *testing.T) {
	s := open(t)
	want := map[uint16]int64{}
	var durations []string
	add := func(d uint64) {
		if d >= 1<<32 {
			return
		}
		shift := 0
		for d>>shift >= 64 {
			shift++
		}
		want[uint16(32*shift+int(d>>shift))]++
		durations = append(durations, fmt.Sprint(d))
	}
	for d := range uint64(65) {
		add(d)
	}
	for shift := 1; shift <= 26; shift++ {
		for step := uint64(32); step < 64; step++ {
			add(step<<shift - 1)
			add(step << shift)
			add(step<<shift + 1)
		}
	}
	add(1<<32 - 1)
	s.exec(t.Context(), insertCalls(daysAgo(3), "a", "["+strings.Join(durations, ",")+"]"))
	s.exec(t.Context(), insertCalls(daysAgo(3), "b", "["+strings.Join(durations, ",")+"]"))
	for key := range want {
		want[key] *= 2
	}
	f := func(when, table string) {
		t.Helper()
		keys := column[[]uint16](s, "SELECT sumMap(durations).1 FROM "+table)[0]
		counts := column[[]int64](s, "SELECT sumMap(durations).2 FROM "+table)[0]
		got := map[uint16]int64{}
		for i, key := range keys {
			got[key] = counts[i]
		}
		if !reflect.DeepEqual(got, want) || !slices.IsSorted(keys) {
			t.Errorf("%s %s: %d buckets differ from the %d expected", table, when, len(got), len(want))
		}
	}
	f("as inserted", "usage_daily")
	f("as inserted", "usage_hourly")
	for _, table := range []string{"usage_daily", "usage_hourly"} {
		s.exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL")
		f("merged", table)
	}
	if rows := column[uint64](s, "SELECT count() FROM usage_daily"); rows[0] != 1 {
		t.Errorf("%d rows of one application, day and model are left after a merge", rows[0])
	}
}

// TestARepairIsAnAddedRow: sums are signed, and a bucket that adds up to nothing vanishes.
func TestARepairIsAnAddedRow(t *testing.T) {
	s := open(t)
	s.exec(t.Context(), insertCalls(daysAgo(3), "a", "[5, 5, 70]"))
	s.exec(t.Context(), `INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms, durations)
		SELECT application_id, day, model, -2, 0, -10, ([5], [-2]) FROM usage_daily`)
	s.exec(t.Context(), "OPTIMIZE TABLE usage_daily FINAL")
	got := column[string](s, "SELECT toString((sum(calls), sum(duration_ms), sumMap(durations))) FROM usage_daily")
	if got[0] != "(1,70,([67],[1]))" {
		t.Errorf("after the repair: %s", got[0])
	}
}

func TestABatchAndADayAreFoundWithoutReadingTheRest(t *testing.T) {
	s := open(t)
	for i := range 4 { // four days, and on each more batches than a granule can name one by one
		s.exec(t.Context(), fmt.Sprintf(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, ended_by, batch_id)
			SELECT toUUID('00000000-0000-7000-8000-000000000001'), toDateTime64('%s 00:00:00', 3, 'Asia/Shanghai') + INTERVAL number SECOND, generateUUIDv4(), 'gpt', 1, 'complete',
			toString(intDiv(number, 20)) || '/' || toString(%d) FROM numbers(40000)`, daysAgo(2+i), i))
	}
	s.exec(t.Context(), "OPTIMIZE TABLE calls FINAL")
	f := func(what, query, key string, most int) {
		t.Helper()
		plan := strings.Join(column[string](s, "EXPLAIN indexes = 1 "+query), "\n")
		at := strings.LastIndex(plan, key)
		if at < 0 {
			t.Errorf("%s: %s is not used\n%s", what, key, plan)
			return
		}
		var read, all int
		granules := plan[at:]
		granules = granules[strings.Index(granules, "Granules:"):]
		if _, err := fmt.Sscanf(granules, "Granules: %d/%d", &read, &all); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, plan)
		}
		if read > most || all <= read {
			t.Errorf("%s: %d of %d granules are read after %s", what, read, all, key)
		}
	}
	day := fmt.Sprintf("start_time >= toDateTime64('%[1]s', 3, 'Asia/Shanghai') AND start_time < toDateTime64('%[1]s', 3, 'Asia/Shanghai') + INTERVAL 1 DAY", daysAgo(3))
	f("a day", "SELECT count() FROM calls WHERE duration_ms = 1 AND "+day, "Min-Max", 40)
	f("a batch", "SELECT count() FROM calls WHERE batch_id = '777/1' AND "+day, "Skip", 2)
	f("a call", "SELECT duration_ms FROM calls WHERE application_id = toUUID('00000000-0000-7000-8000-000000000001') AND start_time = toDateTime64('"+daysAgo(3)+" 05:00:00', 3, 'Asia/Shanghai')", "PrimaryKey", 1)
	f("hours", fmt.Sprintf("SELECT sum(calls) FROM usage_hourly WHERE hour >= toDateTime('%s', 'Asia/Shanghai')", daysAgo(3)), "Min-Max", 2)
}

func TestViewsShowLiveApplicationsOnly(t *testing.T) {
	s := open(t)
	s.exec(t.Context(), insertCalls(daysAgo(3), "a", "[1, 2, 3]"))
	f := func(want int64) {
		t.Helper()
		got := column[int64](s, `SELECT toInt64(count()) FROM live_calls UNION ALL SELECT sum(calls) FROM live_usage_daily
			UNION ALL SELECT sum(calls) FROM live_usage_hourly UNION ALL SELECT sum(successes) + sum(failures) FROM live_usage_daily`)
		if !slices.Equal(got, []int64{want, want, want, want}) {
			t.Errorf("calls, daily, hourly, results: %v, want %d each", got, want)
		}
	}
	f(3)
	s.exec(t.Context(), "INSERT INTO deleted_applications (application_id, deleted_at) VALUES ('00000000-0000-7000-8000-000000000001', now64(3))")
	f(0)
}

// TestFailureDetailIsKeptUntilItIsSaidToBeExpiredWhateverTheServersZone: the detail of a Beijing day is
// said to be expired from the 30th midnight after it (internal/stats), and must be there until then.
// A time to live that is an instant means the same in every zone; a date is midnight in the server's.
func TestFailureDetailIsKeptUntilItIsSaidToBeExpiredWhateverTheServersZone(t *testing.T) {
	s := open(t)
	day := beijing.Today(time.Now()) - 2
	for _, start := range []time.Time{day.Start(), day.End().Add(-time.Millisecond)} {
		s.exec(t.Context(), fmt.Sprintf("INSERT INTO call_failures (application_id, start_time, call_id) SELECT generateUUIDv4(), fromUnixTimestamp64Milli(%d), generateUUIDv4()", start.UnixMilli()))
	}
	ends := column[uint32](s, `SELECT toUnixTimestamp(delete_ttl_info_min) FROM system.parts WHERE database = currentDatabase() AND table = 'call_failures' AND active`)
	if len(ends) == 0 {
		t.Fatal("no part knows when it ends")
	}
	for _, end := range ends {
		if want := (day + 31).Start(); int64(end) != want.Unix() {
			t.Errorf("the failures of %s end at %s, want %s", day, time.Unix(int64(end), 0).UTC(), want.UTC())
		}
	}
	kind := column[string](s, `SELECT toTypeName(toDateTime(toStartOfDay(start_time), 'Asia/Shanghai') + INTERVAL 31 DAY) FROM call_failures LIMIT 1`)
	if ttl := column[string](s, `SELECT extract(engine_full, 'TTL (.*) SETTINGS') FROM system.tables WHERE database = currentDatabase() AND name = 'call_failures'`); len(kind) != 1 || !strings.HasPrefix(kind[0], "DateTime(") {
		t.Errorf("%v is %v, want an instant", ttl, kind)
	}
}

func TestRowsLiveAsLongAsTheDesignSays(t *testing.T) {
	s := open(t)
	ttl := func(table, want string) {
		t.Helper()
		engine := column[string](s, "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = '"+table+"'")[0]
		if !strings.Contains(engine, want) || !strings.Contains(engine, "non_replicated_deduplication_window = 10000") || !strings.Contains(engine, " replicated_deduplication_window = 10000") {
			t.Errorf("%s: %s", table, engine)
		}
	}
	ttl("calls", "toIntervalDay(434)")
	ttl("usage_hourly", "toIntervalDay(434)")
	ttl("usage_daily", "toIntervalDay(434)")
	ttl("tokens_hourly", "toIntervalDay(434)")
	ttl("meters_daily", "toIntervalDay(434)")
	ttl("meters_hourly", "toIntervalDay(434)")
	ttl("keys_daily", "toIntervalDay(434)")
	ttl("days_closed", "toIntervalDay(434)")
	ttl("call_failures", "toIntervalDay(31)")
	ttl("app_models", "")
	ttl("app_keys", "")
}

// TestPlainViewsAreWhatTheirFilesSayAfterEveryMigrate: whatever was there of an earlier version.
func TestPlainViewsAreWhatTheirFilesSayAfterEveryMigrate(t *testing.T) {
	s := open(t)
	const asked = `SELECT create_table_query FROM system.tables WHERE database = currentDatabase() AND name = 'live_models'`
	is := column[string](s, asked)
	s.exec(t.Context(), `CREATE OR REPLACE VIEW live_models AS SELECT 1 AS earlier`)
	if err := clickhouse.Up(t.Context(), s.url); err != nil {
		t.Fatal(err)
	}
	if again := column[string](s, asked); len(is) != 1 || len(again) != 1 || again[0] != is[0] {
		t.Errorf("live_models is %q, was %q", again, is)
	}
}
