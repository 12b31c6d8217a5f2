package clickhouse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate/clickhouse"
	"callgate/internal/embedded"
	"callgate/internal/retention"
)

// lives are the tables of a database that rows expire from, and after how many days.
func (s store) lives(database string) []string {
	s.t.Helper()
	return column[string](s, `SELECT name || ' ' || extract(engine_full, 'toIntervalDay\\((\\d+)\\)') FROM system.tables
		WHERE database = `+database+` AND engine LIKE '%MergeTree' AND engine_full LIKE '% TTL %' ORDER BY name`)
}

func TestRetentionIsSetOnEveryTableAndOnlyWhereItDiffers(t *testing.T) {
	s := open(t)
	changes := func() string {
		return strings.Join(column[string](s, `SELECT toString(metadata_modification_time) || name FROM system.tables WHERE database = currentDatabase() ORDER BY name`), " ") +
			fmt.Sprint(column[uint64](s, `SELECT count() FROM system.mutations WHERE database = currentDatabase()`))
	}
	set := func(days retention.Days, statistics, calls, failures int) {
		t.Helper()
		if err := clickhouse.Retain(t.Context(), s.url, days); err != nil {
			t.Fatal(err)
		}
		for _, table := range s.lives("currentDatabase()") {
			want := statistics
			switch name, _, _ := strings.Cut(table, " "); name {
			case "calls":
				want = calls
			case "call_failures":
				want = failures
			}
			if !strings.HasSuffix(table, fmt.Sprint(" ", want)) {
				t.Errorf("%s days, want %d", table, want)
			}
		}
		if lived, err := clickhouse.Lived(t.Context(), s.url); err != nil || lived != (retention.Days{Statistics: statistics, Calls: calls, Failures: failures}) {
			t.Errorf("they live %+v, %v", lived, err)
		}
		for _, comment := range column[string](s, `SELECT comment FROM system.tables WHERE database = currentDatabase() AND name IN ('call_failures', 'live_failures')`) {
			if !strings.HasSuffix(comment, fmt.Sprintf("kept %d days", days.Failures)) {
				t.Errorf("a comment says %q", comment)
			}
		}
	}
	s.exec(as("a"), insertCalls(daysAgo(1), "a", "[1]"))
	s.exec(as("a"), `INSERT INTO call_failures (start_time) VALUES (now())`)
	if n := len(s.lives("currentDatabase()")); n < 4 {
		t.Fatalf("%d tables expire", n)
	}
	before := changes()
	set(retention.Default, 434, 434, 31) // what migrations make
	if after := changes(); after != before {
		t.Errorf("what was right already was changed:\n%s\n%s", before, after)
	}
	shorter := retention.Days{Statistics: 200, Calls: 60, Failures: 10}
	set(shorter, 235, 95, 11)
	before = changes()
	set(shorter, 235, 95, 11)
	if after := changes(); after != before {
		t.Errorf("a second run changed something:\n%s\n%s", before, after)
	}
	set(retention.Days{Statistics: 3650, Calls: 3650, Failures: 300}, 3685, 3685, 301)
}

// TestALongerRetentionHoldsForWhatIsThere: parts remember when they end.
func TestALongerRetentionHoldsForWhatIsThere(t *testing.T) {
	s := open(t)
	keep := func(days int) {
		t.Helper()
		if err := clickhouse.Retain(t.Context(), s.url, retention.Days{Statistics: days, Calls: days, Failures: 7}); err != nil {
			t.Fatal(err)
		}
	}
	keep(100)
	s.exec(as("a"), insertCalls(daysAgo(120), "a", "[1, 2, 3]"))
	s.exec(as("b"), insertCalls(daysAgo(10), "b", "[1, 2]"))
	count := func() []uint64 {
		return append(column[uint64](s, `SELECT count() FROM calls`), column[uint64](s, `SELECT toUInt64(sum(calls)) FROM usage_daily`)...)
	}
	await := func(what string, done func() bool) {
		t.Helper()
		for until := time.Now().Add(time.Minute); !done(); {
			if time.Now().After(until) {
				t.Fatalf("%s: %v", what, count())
			}
			s.exec(t.Context(), `OPTIMIZE TABLE calls FINAL`)
			s.exec(t.Context(), `OPTIMIZE TABLE usage_daily FINAL`)
		}
	}
	keep(300)
	earliest := time.Now().AddDate(0, 0, 200) // 120 days ago and 335 more
	await("the parts end later", func() bool {
		ends := column[time.Time](s, `SELECT delete_ttl_info_min FROM system.parts WHERE database = currentDatabase() AND active AND table IN ('calls', 'usage_daily', 'usage_hourly')`)
		return !slices.ContainsFunc(ends, func(end time.Time) bool { return end.Before(earliest) })
	})
	if got := count(); !slices.Equal(got, []uint64{5, 5}) {
		t.Fatalf("after a longer retention: %v", got)
	}
	keep(50)
	await("what is past its end goes", func() bool { return slices.Equal(count(), []uint64{2, 2}) })
}

// TestATableThatWasJustMadeHasLostNothing: a migration makes it with the days of the default.
func TestATableThatWasJustMadeHasLostNothing(t *testing.T) {
	s := open(t)
	long := retention.Days{Statistics: 800, Calls: 800, Failures: 30}
	if err := clickhouse.Retain(t.Context(), s.url, long); err != nil {
		t.Fatal(err)
	}
	s.exec(as("a"), insertCalls(daysAgo(1), "a", "[1]"))
	s.exec(t.Context(), `CREATE TABLE fresh (day Date) ENGINE = MergeTree ORDER BY day TTL day + INTERVAL 434 DAY`)
	if lived, err := clickhouse.Lived(t.Context(), s.url); err != nil || lived.Statistics != 835 || lived.Calls != 835 || lived.Failures != 0 {
		t.Errorf("they live %+v, %v", lived, err)
	}
}

func TestRetentionIsSetOnEveryNodeOfACluster(t *testing.T) {
	engines := embedded.OwnCluster(t, 2)
	if err := clickhouse.Retain(t.Context(), engines.ClickHouseURL(), retention.Days{Statistics: 200, Calls: 60, Failures: 10}); err != nil {
		t.Fatal(err)
	}
	for i, s := range nodesOf(t, engines.ClickHouseURL()) {
		lives := s.lives("'callgate_shard'")
		for _, want := range []string{"calls 95", "call_failures 11", "usage_daily 235", "usage_hourly 235"} {
			if !slices.Contains(lives, want) {
				t.Errorf("node %d: %q, want %s", i, lives, want)
			}
		}
		comments := column[string](s, `SELECT comment FROM system.tables WHERE database IN ('callgate', 'callgate_shard') AND name IN ('call_failures', 'live_failures')`)
		if len(comments) != 3 || slices.ContainsFunc(comments, func(c string) bool { return !strings.Contains(c, "kept 10 days") }) {
			t.Errorf("node %d: %q", i, comments)
		}
	}
}
