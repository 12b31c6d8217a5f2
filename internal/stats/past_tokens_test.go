package stats

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestTheTokensOfPastDaysAreReadOnceAndWhatChangesShows asks for the same months of one application and of two again and
// again, while calls come of today, late ones of past days and ones that report nothing, and a day is repaired.
func TestTheTokensOfPastDaysAreReadOnceAndWhatChangesShows(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	today := beijing.Today(now)
	random := rand.New(rand.NewPCG(21, 22))
	applications := []uuid.UUID{uuid.New(), uuid.New()}
	call := func(application uuid.UUID, model string, day beijing.Day, state string) string {
		start := day.Start().Add(time.Duration(random.Int64N(min(day.End().UnixMilli(), now.UnixMilli())-day.Start().UnixMilli())) * time.Millisecond)
		tokens := "NULL, NULL, NULL, NULL, NULL"
		if state == "reported" || state == "partial" {
			tokens = fmt.Sprintf("%d, %d, %s, NULL, %s", random.IntN(9), random.IntN(900), []string{"NULL", "3"}[random.IntN(2)], []string{"NULL", "0", "7"}[random.IntN(3)])
		}
		return fmt.Sprintf("('%s', fromUnixTimestamp64Milli(%d), '%s', '%s', 5, 200, true, %t, 'complete', '%s', 'answered-%d', %s)",
			application, start.UnixMilli(), uuid.New(), model, random.IntN(2) == 0, state, random.IntN(3), tokens)
	}
	add := func(calls ...string) {
		t.Helper()
		query := `INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, streamed, ended_by, usage_state, upstream_model,
			input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens) SETTINGS max_partitions_per_insert_block = 0 VALUES `
		if err := l.conn.Exec(t.Context(), query+strings.Join(calls, ", ")); err != nil {
			t.Fatal(err)
		}
	}
	var calls []string
	for day := today - 70; day <= today; day++ {
		for range random.IntN(8) {
			calls = append(calls, call(applications[random.IntN(2)], testModels[1+random.IntN(2)], day, []string{"reported", "partial", "absent", "unreadable", "none", ""}[random.IntN(6)]))
		}
	}
	add(append(calls, call(applications[0], "gpt", today-70, "reported"), call(applications[0], "gpt", today, "reported"))...)

	r, fresh := l.reader(now, ""), l.reader(now, "")
	wholly := &counted{asker: r.conn, like: "{start:Date} AND {end:Date}"}
	r.conn, fresh.past.atLeast = wholly, 1<<20
	type kind struct {
		day       beijing.Day
		of, named string
	}
	read := func(r *Reader, of []uuid.UUID, days beijing.Range, named []string) map[kind]ModelTokens {
		t.Helper()
		rows := map[kind]ModelTokens{}
		err := r.DayTokens(t.Context(), of, days, named, func(m *ModelTokens) {
			at := kind{m.Day, m.Model, m.UpstreamModel}
			if _, twice := rows[at]; twice {
				t.Errorf("%+v comes twice", at)
			}
			rows[at] = *m
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	asked := []struct {
		of    []uuid.UUID
		days  beijing.Range
		named []string
	}{
		{applications[:1], beijing.Range{Start: today - 70, End: today}, nil},
		{applications, beijing.Range{Start: today - 70, End: today}, nil},
		{applications, beijing.Range{Start: today - 70, End: today}, []string{"answered-1", "answered-2"}},
		{applications, beijing.Range{Start: today - 60, End: today - 1}, []string{"answered-1"}},
	}
	ask := func() {
		t.Helper()
		for _, q := range asked {
			got, want := read(r, q.of, q.days, q.named), read(fresh, q.of, q.days, q.named)
			if len(want) == 0 || !maps.Equal(got, want) {
				t.Fatalf("%v: %v\nwant %v", q.days, got, want)
			}
		}
	}
	changed := func(what string, all bool, change func()) {
		t.Helper()
		change()
		wholly.asked.Store(0)
		ask()
		if reads := wholly.asked.Load(); (reads == int64(len(asked))) != all || reads != 0 && !all {
			t.Errorf("%s: %d of %d were read wholly", what, reads, len(asked))
		}
	}
	changed("all", true, func() {})
	changed("nothing", false, func() {})
	changed("calls of today", false, func() {
		add(call(applications[0], "gpt", today, "reported"), call(applications[1], "never before", today, "partial"))
	})
	for _, state := range []string{"reported", "partial", "absent", "unreadable"} {
		changed("a late call that is "+state, true, func() { add(call(applications[0], "gpt", today-30, state)) })
	}
	changed("a late call without a 2xx answer", false, func() { add(call(applications[0], "gpt", today-30, "none")) })
	repair := func(column string, day beijing.Day, n int) {
		t.Helper()
		err := l.conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO tokens_daily (application_id, day, model, upstream_model, %s) VALUES ('%s', '%s', 'gpt', 'answered-1', %d)`,
			column, applications[0], day, n))
		if err != nil {
			t.Fatal(err)
		}
	}
	changed("a repair of input", true, func() { repair("input", today-33, 5); repair("input_calls", today-33, 1) })
	changed("a repair of output", true, func() { repair("output", today-33, 11); repair("output_calls", today-33, 2) })
	changed("a repair of days", true, func() { repair("absent", today-33, -1); repair("absent", today-34, 1) })
	changed("nothing again", false, func() {})
}
