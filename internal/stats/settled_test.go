package stats

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// TestWhatIsSettledIsNeverToldForAll begins lists of a large newest hour while calls come that say when
// they were recorded, and calls of an older version that do not.
func TestWhatIsSettledIsNeverToldForAll(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	random := rand.New(rand.NewPCG(7, 8))
	application, gpt := uuid.New(), "gpt"
	lately := func(n int) (rows []row) {
		for range n {
			rows = append(rows, randomRow(random, application, testModels[1+random.IntN(2)], now.Add(-time.Duration(random.IntN(300_000))*time.Millisecond)))
		}
		return rows
	}
	r := l.reader(now, "")
	r.now = time.Now
	r.limits = scanLimits{day: 100, hour: 200}
	kept := 0
	for i, arrive := range []func([]row) error{
		func(rows []row) error { return insert(l.conn, rows) }, l.arrive,
		func(rows []row) error { return insert(l.conn, rows) }, l.arrive,
	} {
		rows := lately([]int{3 * fewRows, 3, 1, 2}[i])
		if err := arrive(rows); err != nil {
			t.Fatal(err)
		}
		l.rows = append(l.rows, rows...)
		for _, q := range []CallsQuery{{}, {Model: &gpt}, {Result: OnlyFailures}, {Model: &gpt, Result: OnlyFailures}} {
			q.Application, q.Range, q.Page = application, beijing.LastDays(7, beijing.Today(now)), 1+random.IntN(5)
			page, err := r.Calls(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := l.selected(q, 0)
			if page.Total != int64(len(want)) {
				t.Fatalf("round %d, %+v: %d calls, want %d", i, q, page.Total, len(want))
			}
			for at, c := range want[(q.Page-1)*PageSize : q.Page*PageSize] {
				if page.Items[at].CallID != c.id {
					t.Fatalf("round %d, %+v: call %d of page %d is another", i, q, at, q.Page)
				}
			}
		}
		kept = r.cache.settled.EstimatedSize()
	}
	if kept != 2 { // of all models, and of one
		t.Errorf("%d counts were remembered: this test sees nothing", kept)
	}
}

// TestWhatIsSettledForAListThatBeganEarlierHoldsForLaterOnes asks for a page as of a moment after which calls were recorded that are
// settled by now: what is remembered of it must not leave them out of lists that begin later.
func TestWhatIsSettledForAListThatBeganEarlierHoldsForLaterOnes(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	random := rand.New(rand.NewPCG(9, 10))
	application, gpt := uuid.New(), "gpt"
	recorded := func(n int, ago time.Duration) {
		batch, err := l.conn.PrepareBatch(t.Context(), `INSERT INTO calls (application_id, start_time, call_id, model, status_code, success, stamped, recorded_at)`)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			c := randomRow(random, application, gpt, now.Add(-3*unsettled-time.Duration(random.IntN(1_000))*time.Millisecond))
			if err := batch.Append(c.application, c.start, c.id, c.model, c.status, c.success, true, now.Add(-ago)); err != nil {
				t.Fatal(err)
			}
		}
		if err := batch.Send(); err != nil {
			t.Fatal(err)
		}
	}
	const before, after = 2 * fewRows, 50
	recorded(before, 8*unsettled)
	recorded(after, 4*unsettled)
	r := l.reader(now, "")
	r.now = time.Now
	between := now.Add(-6 * unsettled)
	for _, model := range []*string{nil, &gpt} {
		for _, list := range []struct {
			until *time.Time
			want  int64
		}{{&between, before}, {nil, before + after}, {&between, before}} {
			page, err := r.Calls(t.Context(), CallsQuery{Application: application, Range: beijing.LastDays(7, beijing.Today(now)), Page: 1, Model: model, Until: list.until})
			if err != nil {
				t.Fatal(err)
			}
			if page.Total != list.want || page.Summary.Calls != list.want {
				t.Errorf("as of %v: %d calls, of all %d, want %d", list.until, page.Total, page.Summary.Calls, list.want)
			}
		}
	}
	if kept := r.cache.settled.EstimatedSize(); kept != 2 {
		t.Errorf("%d counts were remembered: this test sees nothing", kept)
	}
}
