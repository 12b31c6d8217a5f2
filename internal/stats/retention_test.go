package stats

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/retention"
)

// TestFiguresOutliveTheirCallsAndNoPageShowsAPart: what is listed begins where calls are kept, in totals, pages,
// exports and detail alike, while figures go back further.
func TestFiguresOutliveTheirCallsAndNoPageShowsAPart(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	today := beijing.Today(now)
	r := l.reader(now, "")
	r.Keep(retention.Days{Statistics: 40, Calls: 20, Failures: 10})
	application := uuid.New()
	random := rand.New(rand.NewPCG(3, 3))
	at := func(ago beijing.Day) row {
		c := failedRow(application, (today - ago).Start().Add(time.Hour))
		l.add(c, randomRow(random, application, "gpt", c.start.Add(time.Minute)))
		l.addDetail(detail{call: c, message: "m", method: "POST", path: "/", body: "{}", query: "{}"})
		return c
	}
	beyond, figures, listed, expired, whole := at(41), at(40), at(20), at(10), at(9)
	days := beijing.Range{Start: today - 60, End: today}

	usage, err := r.Usage(t.Context(), []uuid.UUID{application}, days)
	if err != nil || usage.Summary.Calls != 8 || usage.Daily[60-40].Calls != 2 || usage.Daily[60-41].Calls != 0 {
		t.Errorf("figures of 40 days: %+v, %v", usage.Summary, err)
	}
	totals, err := r.Totals(t.Context(), []uuid.UUID{application}, days)
	if err != nil || totals[application].Calls != 8 {
		t.Errorf("totals of 40 days: %+v, %v", totals, err)
	}
	page, err := r.Calls(t.Context(), CallsQuery{Applications: []uuid.UUID{application}, Range: days, Page: 1})
	if err != nil || page.Total != 6 || page.Summary.Calls != 6 || len(page.Items) != 6 {
		t.Errorf("calls of 20 days: %d, %+v, %d items, %v", page.Total, page.Summary, len(page.Items), err)
	}
	before := CallsQuery{Applications: []uuid.UUID{application}, Range: beijing.Range{Start: today - 60, End: today - 21}, Page: 1}
	if page, err := r.Calls(t.Context(), before); err != nil || page.Total != 0 || len(page.Items) != 0 {
		t.Errorf("days whose calls are not kept: %+v, %v", page, err)
	}
	walked := 0
	if err := r.Walk(t.Context(), CallsQuery{Applications: []uuid.UUID{application}, Range: days}, func(OwnedCall) error { walked++; return nil }); err != nil || walked != 6 {
		t.Errorf("%d calls exported, %v", walked, err)
	}
	if kept := r.KeptCalls(days); kept != (beijing.Range{Start: today - 20, End: today}) {
		t.Errorf("the days whose calls are kept: %+v", kept)
	}
	for i, c := range []row{beyond, figures} {
		if _, err := r.Call(t.Context(), application, c.id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("call %d beyond what is kept: %v", i, err)
		}
	}
	for i, c := range []row{listed, expired} {
		if got, err := r.Call(t.Context(), application, c.id); err != nil || got.Failure.BodyNote == nil || *got.Failure.BodyNote != "expired" {
			t.Errorf("call %d past its detail: %+v, %v", i, got, err)
		}
	}
	if got, err := r.Call(t.Context(), application, whole.id); err != nil || got.Failure.BodyNote != nil || got.Failure.Request == nil {
		t.Errorf("the oldest with its detail: %+v, %v", got, err)
	}
}
