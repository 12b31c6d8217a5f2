package stats

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestArrivalsAreAskedBesideTheRollupsAndAgainIfCallsCameBetween asks for pages of applications whose newest days hold little
// and much, while calls come, now and late, after the arrivals were told and before the rollups are.
func TestArrivalsAreAskedBesideTheRollupsAndAgainIfCallsCameBetween(t *testing.T) {
	for what, limit := range map[string]int64{"little": 5_000, "much": 5} {
		t.Run(what, func(t *testing.T) {
			l := newCallStore(t)
			now := time.Now()
			random := rand.New(rand.NewPCG(23, 24))
			q := CallsQuery{Application: uuid.New(), Range: beijing.LastDays(30, beijing.Today(now)), Page: 1}
			arrive := func(ages ...time.Duration) {
				t.Helper()
				var rows []row
				for _, age := range ages {
					rows = append(rows, randomRow(random, q.Application, "gpt", now.Add(-age)))
				}
				l.rows = append(l.rows, rows...)
				if err := l.arrive(rows); err != nil {
					t.Error(err)
				}
			}
			var ages []time.Duration
			for range 60 {
				ages = append(ages, time.Duration(random.Int64N(int64(10*time.Minute))), time.Duration(8+random.IntN(12))*24*time.Hour)
			}
			arrive(ages...)
			r := l.reader(now, "")
			r.now, r.limits.day = time.Now, limit
			var asked atomic.Int64
			conn := &hooked{asker: r.conn, before: map[string]func(context.Context){askedArrivals: func(context.Context) { asked.Add(1) }}}
			r.conn = conn
			ask := func(atLeast, atMost int64) {
				t.Helper()
				asked.Store(0)
				page, err := r.Calls(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				l.mustFill(q, page)
				if n := asked.Load(); n < atLeast || n > atMost {
					t.Errorf("arrivals were asked %d times, want %d to %d", n, atLeast, atMost)
				}
			}
			// between has the rollups be asked when the arrivals were told, and something done first. One after the
			// other they would wait for ever.
			between := func(do func()) {
				told := make(chan struct{})
				tell, once := sync.OnceFunc(func() { close(told) }), sync.OnceFunc(do)
				conn.after = map[string]func(context.Context){askedArrivals: func(context.Context) { tell() }}
				conn.before[askedRollups] = func(ctx context.Context) {
					select {
					case <-told:
						once()
					case <-ctx.Done():
					}
				}
			}
			ask(1, 1)
			between(func() {})
			ask(1, 1)
			model := "gpt"
			q.Model = &model // the rollups of all are known
			ask(1, 1)
			between(func() { arrive(time.Minute) })
			ask(2, 2)
			between(func() { arrive(3*24*time.Hour, 5*24*time.Hour) })
			ask(2, 9)
		})
	}
}
