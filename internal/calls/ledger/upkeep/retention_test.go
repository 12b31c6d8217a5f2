package upkeep

import (
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/retention"
)

func TestWhatAShorterRetentionTookAwayIsNeverSaidToBeThereAgain(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	l, today := ledger.New(s.Pool), beijing.Today(time.Now())
	note := func(lived, days retention.Days) {
		t.Helper()
		for range 2 {
			if err := NoteRetention(t.Context(), s.Pool, lived.Lives(), days, today); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func(statistics, calls beijing.Day) {
		t.Helper()
		got, err := l.Left(t.Context(), today)
		if want := (ledger.Left{Statistics: today - statistics, Calls: today - calls}); err != nil || got != want {
			t.Errorf("left from %v, %v; want %v", got, err, want)
		}
	}
	long := retention.Days{Statistics: 800, Calls: 600, Failures: 30}
	note(retention.Default, long)
	left(800, 600) // it began to collect today: nothing can be gone
	s.Execute(t, `UPDATE collection SET started_at = now() - interval '900 days'`)
	note(long, retention.Default)
	left(399, 399)
	note(retention.Default, long)
	left(399+35-2, 399+35-2)
	short := retention.Days{Statistics: 399, Calls: 20, Failures: 7}
	note(long, short)
	left(399, 20)
	note(short, long)
	left(399+35-2, 20+35-2)
	note(long, retention.Days{Statistics: 1000, Calls: 1000, Failures: 30}) // nothing more is lost than was
	left(399+35-2, 20+35-2)
}

// TestRollupsAreNotRepairedByCallsThatHaveExpired: they outlive their calls, and would lose them with them.
func TestRollupsAreNotRepairedByCallsThatHaveExpired(t *testing.T) {
	t.Parallel()
	s, m, first := threeDays(t)
	if err := server(t, m.servers).Exec(t.Context(), `ALTER TABLE calls DROP PARTITION ID '`+partitionOf(first)+`'`); err != nil {
		t.Fatal(err)
	}
	s.Execute(t, `INSERT INTO rollup_doubts (day, noted_at) VALUES ($1, now() - interval '1 second') ON CONFLICT DO NOTHING`, first.UTC())
	s.Execute(t, `UPDATE collection SET calls_from = $1`, (first + 1).UTC())
	for range 6 {
		if err := m.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Number(t, `SELECT toInt64(sum(calls)) FROM usage_daily`); n != 120 {
		t.Errorf("%d calls in the rollups, 120 were made", n)
	}
	var doubts, days int
	if err := s.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM rollup_doubts), (SELECT count(*) FROM day_checks)`).Scan(&doubts, &days); err != nil || doubts != 0 || days != 2 {
		t.Errorf("%d days of doubt, %d compared, %v", doubts, days, err)
	}
}

func partitionOf(day beijing.Day) string { return day.Start().Format("20060102") }
