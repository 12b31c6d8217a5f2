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
	reads := &counted{asker: r.conn, like: askedRows}
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

// TestAPageIsReadAnewOnceACallOfItsHourCame asks for pages of crowded days, also as of before, while calls come now and late.
func TestAPageIsReadAnewOnceACallOfItsHourCame(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	random := rand.New(rand.NewPCG(19, 20))
	application, gpt := uuid.New(), "gpt"
	arrive := func(count int, within time.Duration) {
		t.Helper()
		rows := make([]row, count)
		for i := range rows {
			rows[i] = randomRow(random, application, testModels[1+random.IntN(2)], now.Add(-time.Duration(random.Int64N(int64(within)))))
		}
		if err := l.arrive(rows); err != nil {
			t.Fatal(err)
		}
		l.rows = append(l.rows, rows...)
	}
	arrive(300, time.Hour)
	arrive(600, 20*24*time.Hour)
	r := l.reader(now, "")
	r.now = time.Now
	r.limits = scanLimits{day: 20, hour: 30}
	reads := &counted{asker: r.conn, like: askedRows}
	r.conn = reads
	ask := func() {
		t.Helper()
		for _, q := range []CallsQuery{{}, {Model: &gpt}, {Result: OnlyFailures}, {Model: &gpt, Result: OnlySuccesses}} {
			q.Application, q.Range = application, beijing.LastDays(30, beijing.Today(now))
			for _, q.Page = range []int{1, 2, 5, 3, 7} {
				page, err := r.Calls(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				l.mustFill(q, page)
				q.Until = &page.Until // the others are of this list
			}
		}
	}
	ask()
	if first := reads.asked.Swap(0); first < 15 {
		t.Errorf("20 pages were read %d times: this test sees nothing", first)
	}
	ask()
	if again := reads.asked.Swap(0); again > 0 {
		t.Errorf("20 pages without a new call were read %d times", again)
	}
	for range 12 {
		arrive(1+random.IntN(2), []time.Duration{time.Minute, time.Hour, 6 * 24 * time.Hour, 20 * 24 * time.Hour}[random.IntN(4)])
		ask()
	}
}
