package audit

import (
	"log/slog"
	"testing"
	"time"

	"callgate/internal/beijing"
)

func TestEntriesAreKeptForTheirDaysAndNoLonger(t *testing.T) {
	pool := newPool(t)
	today := beijing.Today(time.Now())
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO audit_log (at, actor, action, target_type, target_id, target_name, changes)
		SELECT at, 'a@example.com', 'group.create', '', '', '', '[]' FROM generate_series(1, 12000), (VALUES ($1::timestamptz)) AS old (at)
		UNION ALL VALUES ($2::timestamptz, 'a@example.com', 'group.update', '', '', '', '[]'::jsonb)`,
		(today - 99).Start().Add(-time.Millisecond), (today - 99).Start()); err != nil {
		t.Fatal(err)
	}
	k := Keep(pool, 99, slog.New(slog.DiscardHandler))
	defer k.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		rows, total, err := List(t.Context(), pool, Filter{}, 1, 10)
		if err != nil {
			t.Fatal(err)
		}
		if total == 1 && rows[0].Action == "group.update" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d entries are left", total)
		}
	}
}
