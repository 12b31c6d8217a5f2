package audit

import (
	"log/slog"
	"testing"
	"time"
)

func TestEntriesAreKeptForTheirTimeAndNoLonger(t *testing.T) {
	pool := newPool(t)
	since := time.Now().Add(-99 * 24 * time.Hour).Round(time.Millisecond)
	if _, err := pool.Exec(t.Context(), `
		INSERT INTO audit_log (at, actor, action, target_type, target_id, target_name, changes)
		SELECT at, 'a@example.com', 'group.create', '', '', '', '[]' FROM generate_series(1, 12000), (VALUES ($1::timestamptz)) AS old (at)
		UNION ALL VALUES ($2::timestamptz, 'a@example.com', 'group.update', '', '', '', '[]'::jsonb)`,
		since.Add(-time.Millisecond), since); err != nil {
		t.Fatal(err)
	}
	k := Keep(pool, func() time.Time { return since }, slog.New(slog.DiscardHandler))
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
