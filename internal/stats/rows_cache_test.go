package stats

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestCallsOfScatteredDaysAreReadOnceAndALateOneShows pages through months of one or two calls a day, again and again, in
// every filter, while calls come late to some of these days.
func TestCallsOfScatteredDaysAreReadOnceAndALateOneShows(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	today := beijing.Today(now)
	random := rand.New(rand.NewPCG(9, 10))
	application, gpt := uuid.New(), "gpt"
	on := func(day beijing.Day) row {
		return randomRow(random, application, testModels[1+random.IntN(2)], day.Start().Add(time.Duration(random.IntN(86_400_000))*time.Millisecond))
	}
	var rows []row
	for day := today - 120; day <= today-1; day++ {
		for range random.IntN(3) {
			rows = append(rows, on(day))
		}
	}
	l.add(rows...)
	r := l.reader(now, "")
	reads := &counted{asker: r.conn, like: "LIMIT {count:Int64}"}
	r.conn = reads
	ask := func(pages int) {
		t.Helper()
		for range pages {
			q := []CallsQuery{{}, {Model: &gpt}, {Result: OnlyFailures}, {Result: OnlySuccesses}, {Model: &gpt, Result: OnlyFailures}}[random.IntN(5)]
			q.Application, q.Range = application, beijing.LastDays(120-random.IntN(3), today)
			want, _ := l.selected(q, 0)
			q.Page = 1 + random.IntN(len(want)/PageSize)
			page, err := r.Calls(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			l.mustFill(q, page)
		}
	}
	ask(150)
	if before := reads.asked.Swap(0); before < 20 {
		t.Errorf("%d reads: this test sees nothing", before)
	}
	ask(50)
	if again := reads.asked.Load(); again > 30 {
		t.Errorf("50 pages of calls that were seen before were read %d times", again)
	}
	for range 5 {
		l.add(on(today-20-beijing.Day(random.IntN(90))), on(today-3))
		ask(10)
	}
}
