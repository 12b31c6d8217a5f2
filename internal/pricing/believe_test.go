package pricing

import (
	"fmt"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func TestWhereAProviderIsBelievedACallCostsWhatItSays(t *testing.T) {
	day := beijing.Date(2026, time.January, 1)
	prices := []Price{written(t, Draft{CapabilityID: "router", From: day.String(), Currency: "CNY", Input: "2", Output: "8"})}
	book := newBook(prices, nil, []Believed{{CapabilityID: "router"}})
	usage := func(capability string, meters ...any) Usage {
		u := Usage{Capability: capability, Day: day, Calls: 2}
		for i := 0; i < len(meters); i += 2 {
			u.Add(meters[i].(string), int64(meters[i+1].(int)))
		}
		return u
	}
	for name, c := range map[string]struct {
		of   Usage
		want string
	}{
		"what it says":           {usage("router", "input", 1_000_000, "cost_reports", 2, "reported_cost", 12_345), "USD 0.0000012345 of 2"},
		"that it is for nothing": {usage("router", "input", 1_000_000, "cost_reports", 2), "USD 0 of 2"},
		"where it says nothing":  {usage("router", "input", 1_000_000), "CNY 2 of 2"},
		"of another capability":  {usage("other", "input", 1_000_000, "cost_reports", 2, "reported_cost", 12_345), " 0 of 0"},
	} {
		costs := book.Cost([]Usage{c.of})
		if len(costs) != 1 || inShort(costs[0]) != c.want {
			t.Errorf("%s: %+v", name, costs)
		}
	}
	if costs := NewBook(prices).Cost([]Usage{usage("router", "input", 1_000_000, "cost_reports", 2, "reported_cost", 12_345)}); inShort(costs[0]) != "CNY 2 of 2" {
		t.Errorf("not believed: %+v", costs)
	}
}

func TestBelievingAProviderIsAuditedAndHoldsAtOnceInEveryProcess(t *testing.T) {
	w := newWorld(t)
	other := New(w.Pool)
	for i, step := range []struct {
		believed bool
		entries  int
		last     string
	}{
		{true, 1, "admin@example.com capability.update chat [{costBelieved false true}]"},
		{true, 1, "admin@example.com capability.update chat [{costBelieved false true}]"},
		{false, 2, "admin@example.com capability.update chat [{costBelieved true false}]"},
		{false, 2, "admin@example.com capability.update chat [{costBelieved true false}]"},
	} {
		if err := w.Believe(w.Ctx, admin, "chat", step.believed); err != nil {
			t.Fatal(err)
		}
		book, err := other.Book(w.Ctx)
		if err != nil || book.Believes("chat") != step.believed || book.Believes("embed") {
			t.Errorf("step %d: %v", i, err)
		}
		if n := w.Count(`SELECT count(*) FROM audit_log`); n != step.entries || w.lastEntry() != step.last {
			t.Errorf("step %d: %d entries, the last %s", i, n, w.lastEntry())
		}
		all, err := other.Believed(w.Ctx)
		if err != nil || (len(all) == 1) != step.believed || step.believed && (all[0].CapabilityID != "chat" || all[0].CreatedBy != admin || all[0].CreatedAt.IsZero()) {
			t.Errorf("step %d: %+v, %v", i, all, err)
		}
	}
	databasetest.MustFail(t, w.Believe(w.Ctx, admin, "nothing", true), fault.Invalid, "capabilityId")
}

func inShort(c Cost) string { return fmt.Sprintf("%s %s of %d", c.Currency, c.Amount, c.PricedCalls) }
