package stats

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestTheUsageOfPastDaysIsReadOnceAndWhatChangesShows asks for the same months of one application and of two again and again, while calls come of today,
// late ones of past days and of a capability that was not called before, and a day is repaired.
func TestTheUsageOfPastDaysIsReadOnceAndWhatChangesShows(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	today := beijing.Today(now)
	random := rand.New(rand.NewPCG(11, 12))
	application, other := uuid.New(), uuid.New()
	on := func(model string, day beijing.Day) row {
		since := min(day.End().UnixMilli(), now.UnixMilli()) - day.Start().UnixMilli()
		return randomRow(random, application, model, day.Start().Add(time.Duration(random.Int64N(since))*time.Millisecond))
	}
	var rows []row
	for day := today - 100; day <= today; day++ {
		for range random.IntN(8) {
			rows = append(rows, on(testModels[random.IntN(len(testModels))], day))
		}
	}
	l.add(append(rows, on("gpt", today-100), on("gpt", today))...)
	for i := range rows[:100] {
		rows[i].application, rows[i].id = other, uuid.New()
	}
	l.add(rows[:100]...)

	r, fresh := l.reader(now, ""), l.reader(now, "")
	wholly := &counted{asker: r.conn, like: "quantiles"}
	r.conn, fresh.past.atLeast = wholly, 1<<20
	ranges := []beijing.Range{{Start: today - 100, End: today}, {Start: today - 60, End: today}, {Start: today - 90, End: today - 5}}
	asked := 2 * len(ranges)
	ask := func() {
		t.Helper()
		for i := range asked {
			days, of := ranges[i/2], [][]uuid.UUID{{application}, {other, application}}[i%2]
			got, err := r.Usage(t.Context(), of, days)
			if err != nil {
				t.Fatal(err)
			}
			want, err := fresh.Usage(t.Context(), of, days)
			if err != nil || want.Summary.Calls == 0 {
				t.Fatal(want.Summary, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%v: not what is read wholly:\n%s\nwant\n%s", days, told(got), told(want))
			}
		}
	}
	changed := func(what string, all bool, change func()) {
		t.Helper()
		change()
		wholly.asked.Store(0)
		ask()
		if reads := wholly.asked.Load(); (reads == int64(asked)) != all || reads != 0 && !all {
			t.Errorf("%s: %d of %d were read wholly", what, reads, asked)
		}
	}
	changed("all", true, func() {})
	changed("nothing", false, func() {})
	changed("calls of today", false, func() { l.add(on("gpt", today), on(testModels[2], today)) })
	changed("the first call of a capability, of today", false, func() { l.add(on("never before", today)) })
	changed("a late call", true, func() { l.add(on("gpt", today-30)) })
	changed("a late call of a day without one", true, func() { l.add(on("seldom", today-31)) })
	// Each is of other figures: what is inserted twice counts once.
	repair := func(model string, day beijing.Day, calls, ms int) {
		err := l.conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms, durations)
			VALUES ('%s', '%s', '%s', %d, 0, %d, ([%d], [%[4]d]))`, application, day, model, calls, calls*ms, ms))
		if err != nil {
			t.Fatal(err)
		}
	}
	changed("calls that are not there", true, func() { repair("gpt", today-33, 3, 20); repair("gpt", today-33, 3, 21); repair("gpt", today-33, 3, 22) })
	changed("a repair of durations", true, func() { repair("gpt", today-33, 1, 40); repair("gpt", today-33, -1, 20) })
	changed("a repair of capabilities", true, func() { repair("gpt", today-33, -1, 21); repair(testModels[2], today-33, 1, 21) })
	changed("a repair of days", true, func() { repair("gpt", today-33, -1, 22); repair("gpt", today-34, 1, 22) })
	changed("today and a late call", true, func() { l.add(on(testModels[2], today), on(testModels[2], today-34)) })
	for _, day := range []beijing.Day{today, today - 33} { // whose histograms lack calls: nothing is worked out from them
		err := l.conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms)
			VALUES ('%s', '%s', 'gpt', 30, 0, 20)`, application, day))
		if err != nil {
			t.Fatal(err)
		}
		ask()
		ask()
	}
}

// TestAHistogramThatIsCutOffOrOfAnotherFormIsNone cuts a state of many calls and one of few everywhere.
func TestAHistogramThatIsCutOffOrOfAnotherFormIsNone(t *testing.T) {
	l := newCallStore(t)
	for _, c := range []struct{ what, weights string }{{"many", "[5000, 2000, -1000, 1000000]"}, {"few", "[2000, 1000, -4000, 1000]"}, {"none", "[0, 0, 0, 0]"}} {
		var state string
		err := l.conn.QueryRow(t.Context(), `SELECT toString(quantilesTimingWeightedArrayState(0.5)([3, 63, 64, 895]::Array(UInt16),
			arrayMap(n -> toUInt64(n), `+c.weights+`::Array(Int64))))`).Scan(&state)
		if err != nil {
			t.Fatal(err)
		}
		var m aggregate
		if !m.readTiming(state) {
			t.Fatalf("%s: not read: %x", c.what, state[:min(len(state), 60)])
		}
		if c.what != "none" && (len(m.buckets) != 896 || m.buckets[3] < 2 || m.buckets[64] > -1 || m.buckets[895] < 1) {
			t.Errorf("%s: %v", c.what, m.buckets)
		}
		whole := state[:min(len(state), maxTimingState)]
		if again := (&aggregate{}); !again.readTiming(whole) || !reflect.DeepEqual(*again, m) {
			t.Errorf("%s: %d bytes are not enough", c.what, maxTimingState)
		}
		needed := timingHead + 8*timingNumbers
		for n := range min(needed, len(whole)) {
			if (&aggregate{}).readTiming(whole[:n]) && c.what != "none" {
				t.Fatalf("%s: read from its first %d bytes", c.what, n)
			}
		}
		if (&aggregate{}).readTiming("\x02" + state[1:]) {
			t.Errorf("%s: a state of another kind was read", c.what)
		}
	}
}

// told is a usage without its pointers.
func told(u Usage) string {
	text := fmt.Sprintln(u.Summary.Calls, u.Summary.Successes, *u.Summary.AvgDurationMs, *u.Summary.P50Ms, *u.Summary.P95Ms, *u.Summary.P99Ms)
	for _, m := range u.Models {
		text += fmt.Sprintln(m.Model, m.Calls, m.Successes, *m.AvgDurationMs, *m.P50Ms, *m.P95Ms, *m.P99Ms)
	}
	for _, d := range u.Daily {
		if d.Calls > 0 {
			text += fmt.Sprintln(d.Date, d.Calls, d.Successes, *d.AvgDurationMs, *d.P50Ms, *d.P95Ms, *d.P99Ms)
		}
	}
	return text
}
