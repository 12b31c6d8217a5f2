package stats

import (
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// TestAllPagesHoldEveryCallOnceInOrderWhileCallsArriveOnOtherDays turns every page of an application,
// from the first to the last, while calls are written to days before and after. PAGES_CALLS raises
// the number of calls.
func TestAllPagesHoldEveryCallOnceInOrderWhileCallsArriveOnOtherDays(t *testing.T) {
	calls, limits := 2_000, scanLimits{day: 300, hour: 100}
	if text := os.Getenv("PAGES_CALLS"); text != "" {
		var err error
		if calls, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		limits = defaultScanLimits
	}
	l := newCallStore(t)
	now := clocks()[0]
	today := beijing.Today(now)
	random := rand.New(rand.NewPCG(11, 12))
	application := uuid.New()
	for range calls { // three days; a fifth in ten minutes of one hour, many in the same millisecond
		start := (today - 5 + beijing.Day(random.IntN(3))).Start().Add(time.Duration(random.Int64N(int64(24 * time.Hour))))
		if random.IntN(5) == 0 {
			start = (today - 4).Start().Add(9*time.Hour + time.Duration(random.IntN(600_000))*time.Millisecond)
		}
		l.rows = append(l.rows, randomRow(random, application, testModels[random.IntN(3)], start))
	}
	for part := range slices.Chunk(l.rows, 100_000) {
		if err := insert(l.conn, part); err != nil {
			t.Fatal(err)
		}
	}
	q := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.Range{Start: today - 9, End: today - 3}}
	want, _ := l.selected(q, 0)

	stop := make(chan struct{})
	var writer sync.WaitGroup
	arrived := 0
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
			var rows []row
			for _, day := range []beijing.Day{today - 9, today - 6, today - 2, today} {
				rows = append(rows, randomRow(random, application, "gpt", day.Start().Add(time.Duration(random.Int64N(int64(12*time.Hour))))))
			}
			if err := insert(l.conn, rows); err != nil {
				t.Error(err)
				return
			}
			arrived += len(rows)
		}
	})
	r := l.reader(now, "")
	r.limits = limits
	began := time.Now()
	var group errgroup.Group
	group.SetLimit(3)
	pages := (calls + PageSize - 1) / PageSize
	for page := 1; page <= pages; page++ {
		q := q
		q.Page = page
		group.Go(func() error {
			got, err := r.Calls(t.Context(), q)
			if err != nil {
				return err
			}
			for i, c := range want[(page-1)*PageSize : min(page*PageSize, calls)] {
				if i >= len(got.Items) || !reflect.DeepEqual(got.Items[i], c.asCall()) {
					t.Errorf("page %d: call %d is not %+v in\n%+v", page, i, c.asCall(), got.Items)
					break
				}
			}
			return nil
		})
	}
	err := group.Wait()
	close(stop)
	writer.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if arrived == 0 {
		t.Error("no call arrived meanwhile")
	}
	t.Logf("%d pages of %d calls, each call once and in order; %d calls arrived on other days; %s a page with three readers",
		pages, calls, arrived, (time.Since(began) * 3 / time.Duration(pages)).Round(10*time.Microsecond))
}
