package ledger

import (
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/retention"
)

func TestWhatAShorterRetentionTookAwayIsNeverSaidToBeThereAgain(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	l, today := New(s.pool), beijing.Today(time.Now())
	note := func(lived, days retention.Days) {
		t.Helper()
		for range 2 {
			if err := NoteRetention(t.Context(), s.pool, lived.Lives(), days, today); err != nil {
				t.Fatal(err)
			}
		}
	}
	left := func(statistics, calls beijing.Day) {
		t.Helper()
		got, err := l.Left(t.Context(), today)
		if want := (Left{today - statistics, today - calls}); err != nil || got != want {
			t.Errorf("left from %v, %v; want %v", got, err, want)
		}
	}
	long := retention.Days{Statistics: 800, Calls: 600, Failures: 30}
	note(retention.Default, long)
	left(800, 600) // it began to collect today: nothing can be gone
	s.execute(t, `UPDATE collection SET started_at = now() - interval '900 days'`)
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
	if err := m.servers.found[0].conn().Exec(t.Context(), `ALTER TABLE calls DROP PARTITION ID '`+partitionOf(first)+`'`); err != nil {
		t.Fatal(err)
	}
	s.execute(t, `INSERT INTO rollup_doubts (day, noted_at) VALUES ($1, now() - interval '1 second') ON CONFLICT DO NOTHING`, date(first))
	s.execute(t, `UPDATE collection SET calls_from = $1`, date(first+1))
	for range 6 {
		if err := m.reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.number(t, `SELECT toInt64(sum(calls)) FROM usage_daily`); n != 120 {
		t.Errorf("%d calls in the rollups, 120 were made", n)
	}
	var doubts, days int
	if err := s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM rollup_doubts), (SELECT count(*) FROM day_checks)`).Scan(&doubts, &days); err != nil || doubts != 0 || days != 2 {
		t.Errorf("%d days of doubt, %d compared, %v", doubts, days, err)
	}
}

func partitionOf(day beijing.Day) string { return day.Start().Format("20060102") }
