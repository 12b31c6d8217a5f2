package stats

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestAPageOfLongAgoIsReadWhileArrivalsAreAskedAndWhatArrivesMovesIt: calls that arrive between the
// two are in the list.
func TestAPageOfLongAgoIsReadWhileArrivalsAreAskedAndWhatArrivesMovesIt(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	today := newestDay(now)
	random := rand.New(rand.NewPCG(11, 12))
	q := CallsQuery{Application: uuid.New(), Range: beijing.LastDays(60, today)}
	on := func(day beijing.Day, second int) row {
		return randomRow(random, q.Application, "gpt", day.Start().Add(time.Duration(second)*time.Second))
	}
	arrive := func(rows ...row) {
		l.rows = append(l.rows, rows...)
		if err := l.arrive(rows); err != nil {
			t.Error(err)
		}
	}
	for day := today - 50; day <= today-1; day++ {
		l.add(on(day, 100), on(day, 200), on(day, 300), on(day, 400))
	}
	r := l.reader(now, "")
	r.now = time.Now
	rowsAsked := make(chan struct{}, 100)
	conn := &hooked{asker: r.conn, before: map[string]func(context.Context){
		askedRows: func(context.Context) { rowsAsked <- struct{}{} },
	}}
	r.conn = conn
	ask := func(page int) {
		t.Helper()
		q.Page = page
		got, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		l.mustFill(q, got)
	}
	conn.before[askedArrivals] = func(ctx context.Context) { // one after the other, this would wait for ever
		select {
		case <-rowsAsked:
		case <-ctx.Done():
		}
	}
	ask(9)
	once := func(rows ...row) func(context.Context) {
		do := sync.OnceFunc(func() { arrive(rows...) })
		return func(context.Context) { do() }
	}
	conn.before[askedArrivals] = once(on(today, 1), on(today, 2), on(today, 3))
	ask(10)
	conn.before[askedArrivals] = once(on(today-2, 150), on(today-2, 250))
	ask(11)
	ask(12)
}
