package console

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
)

// used stores n calls that started ago before now, of a key: every third fails, every fourth has lines at a tier, and a second model.
func (w *watcher) used(app, key, model string, ago time.Duration, n int) {
	w.t.Helper()
	w.exec("INSERT INTO calls (application_id, key_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, "+
		"`used.model`, `used.tier`, `used.band`, `used.meter`, `used.amount`) "+`
		WITH number % 3 != 2 AS good, number % 4 = 3 AND good AS lined, 1000 + number AS input
		SELECT $1, $2, fromUnixTimestamp64Milli($3 + number), generateUUIDv7(number), $4, 5, if(good, 200, 502), good, 'complete', if(good, 'reported', 'none'), if(good, 'gpt-x', ''),
			if(good, if(lined, input + 40, input), NULL), if(good, 7, NULL), if(good, 100, NULL),
			if(lined, ['gpt-x', 'gpt-x', 'gpt-x', 'gpt-y'], []), if(lined, ['flex', 'flex', 'flex', ''], []), if(lined, [0, 0, 0, 0], []),
			if(lined, ['input', 'cached_input', 'output', 'input'], []), if(lined, [input, 100, 7, 40], [])
		FROM numbers($5)`, app, key, w.now.Add(-ago).UnixMilli(), model, n)
}

// TestFiguresByKeyComeToThoseOfTheirApplication: of calls with lines and without, of a key that is gone too, each day by itself.
func TestFiguresByKeyComeToThoseOfTheirApplication(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed("gpt", "claude")
	ada := w.developer("ada")
	app, other := w.application(ada, "app"), w.application(ada, "other")
	today := beijing.Today(w.now)
	for i, draft := range []pricing.Draft{
		{CapabilityID: "gpt", From: (today - 400).String(), Currency: "USD", Input: "2.5", Output: "10.000001"},
		{CapabilityID: "gpt", From: (today - 1).String(), Currency: "CNY", Input: "0.333333333333", Output: "3"},
	} {
		if _, err := pricing.New(w.pool).Put(t.Context(), managingAdmin, draft); err != nil {
			t.Fatal(i, err)
		}
	}
	base := "/api/applications/" + app + "/keys"
	first := field[[]openapi.Key](t, ada.must(200, "GET", base, ""), "items")[0].ID.String()
	batch := field[string](t, ada.must(201, "POST", base, `{"name":"Batch job"}`), "id")
	unused := field[string](t, ada.must(201, "POST", base, `{"name":"Spare"}`), "id")
	gone := field[string](t, ada.must(201, "POST", base, `{"name":"Old"}`), "id")
	ada.must(200, "DELETE", base+"/"+gone, "")
	const day = 24 * time.Hour
	w.used(app, first, "gpt", 3*day, 20)
	w.used(app, first, "claude", time.Minute, 5)
	w.used(app, batch, "gpt", day, 41)
	w.used(app, batch, "", time.Minute, 3)
	w.used(app, gone, "gpt", time.Minute, 9)
	w.used(app, gone, "gpt", 100*day, 9)
	w.used(other, first, "gpt", time.Minute, 9) // of another application

	answer := dataOf[openapi.ApplicationKeys](t, ada.must(200, "GET", "/api/statistics/applications/"+app+"/keys?interval=day", ""))
	whole := dataOf[openapi.ApplicationStatistics](t, ada.must(200, "GET", "/api/statistics/applications/"+app, ""))
	var told []string
	for _, k := range answer.Items {
		name := "gone"
		if k.Name != nil {
			name = *k.Name
		}
		told = append(told, fmt.Sprintf("%s %s %v %v %d %d %v", k.ID, name, k.MaskedAccessKey != nil, k.First, k.Calls, k.Failures, k.LastUsedAt != nil))
	}
	want := []string{batch + " Batch job true false 44 14 true", first + " default true true 25 7 true", gone + " gone false false 9 3 true", unused + " Spare true false 0 0 false"}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("keys:\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	sum, byDay, byModel := figureSum{}, map[beijing.Day]*figureSum{}, map[string]*figureSum{}
	for _, k := range answer.Items {
		sum.add(k.KeyMetricsFields)
		for _, d := range *k.Daily {
			if byDay[d.Date] == nil {
				byDay[d.Date] = &figureSum{}
			}
			byDay[d.Date].add(d.KeyMetricsFields)
		}
		for _, m := range k.Models {
			if byModel[m.Model] == nil {
				byModel[m.Model] = &figureSum{}
			}
			byModel[m.Model].add(m.KeyMetricsFields)
		}
	}
	sum.is(t, "all", whole.Summary.MetricsFields)
	for _, d := range whole.Daily {
		if d.Calls > 0 {
			byDay[d.Date].is(t, d.Date.String(), d.MetricsFields)
		}
	}
	for _, m := range whole.Models {
		byModel[m.Model].is(t, m.Model, m.MetricsFields)
	}
	if len(byDay) != 3 || len(byModel) != 3 || len(whole.Summary.Cost) != 2 {
		t.Errorf("%d days, %d capabilities, cost %+v", len(byDay), len(byModel), whole.Summary.Cost)
	}
	plain := ada.must(200, "GET", "/api/statistics/applications/"+app+"/keys", "")
	if items := dataOf[openapi.ApplicationKeys](t, plain).Items; items[0].Daily != nil || items[0].Calls != 44 {
		t.Errorf("without days: %+v", items[0])
	}
}

// figureSum is the figures of keys together.
type figureSum struct {
	calls, successes, input, output, cached, unpriced int64
	amounts                                           map[string]decimal.Decimal
}

func (s *figureSum) add(of openapi.KeyMetricsFields) {
	s.calls, s.successes = s.calls+of.Calls, s.successes+of.Successes
	for _, to := range []struct {
		sum *int64
		n   *int64
	}{{&s.input, of.Tokens.Input}, {&s.output, of.Tokens.Output}, {&s.cached, of.Tokens.Cached}} {
		if to.n != nil {
			*to.sum += *to.n
		}
	}
	for i, cost := range of.Cost {
		if i == 0 {
			s.unpriced += cost.UnpricedCalls
		}
		if cost.Currency != nil {
			if s.amounts == nil {
				s.amounts = map[string]decimal.Decimal{}
			}
			s.amounts[*cost.Currency] = s.amounts[*cost.Currency].Add(decimal.RequireFromString(*cost.Amount))
		}
	}
}

func (s *figureSum) is(t *testing.T, of string, all openapi.MetricsFields) {
	t.Helper()
	number := func(n *int64) int64 {
		if n == nil {
			return 0
		}
		return *n
	}
	got := []int64{s.calls, s.successes, s.input, s.output, s.cached}
	want := []int64{all.Calls, all.Successes, number(all.Tokens.Input), number(all.Tokens.Output), number(all.Tokens.Cached)}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: keys come to %v, the application has %v", of, got, want)
	}
	for i, cost := range all.Cost {
		if i == 0 && cost.UnpricedCalls != s.unpriced {
			t.Errorf("%s: %d calls of keys have no price, of all %d", of, s.unpriced, cost.UnpricedCalls)
		}
		if cost.Currency != nil && s.amounts[*cost.Currency].String() != *cost.Amount {
			t.Errorf("%s: keys cost %s %s, all calls %s", of, *cost.Currency, s.amounts[*cost.Currency], *cost.Amount)
		}
	}
}

// TestCallsAreNarrowedByTheirKey: where rollups know every call's key, where they do not, and together with other filters.
func TestCallsAreNarrowedByTheirKey(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	ada, eve := w.developer("ada"), w.developer("eve")
	app, theirs := w.application(ada, "app"), w.application(eve, "theirs")
	one, two := uuid.NewString(), uuid.NewString()
	const day = 24 * time.Hour
	w.used(app, one, "gpt", 5*day, 12)
	w.used(app, two, "gpt", 5*day, 30)
	w.used(app, one, "gpt", 4*day, 7)
	w.called(app, "gpt", 4*day, 10, 200) // before keys were told apart
	w.used(app, one, "claude", time.Minute, 6)
	w.used(theirs, one, "gpt", time.Minute, 9)
	base := "/api/statistics/applications/" + app + "/calls"
	for query, want := range map[string]string{
		"?key=" + one: "25 17", "?key=" + two: "30 20", "?key=" + uuid.NewString(): "0 0",
		"?key=" + one + "&model=gpt": "19 13", "?key=" + one + "&model=": "0 0", "?key=" + one + "&status=502": "8 0",
		"?key=" + one + "&reason=": "8 0", "?key=" + one + "&text=x": "0 0",
	} {
		reply := ada.must(200, "GET", base+query, "")
		summary := field[openapi.CallsSummary](t, reply, "summary")
		var calls int
		for page := 1; ; page++ {
			items := field[[]openapi.Call](t, ada.must(200, "GET", fmt.Sprintf("%s%s&page=%d", base, query, page), ""), "items")
			for _, c := range items {
				if c.KeyID == nil || !strings.Contains(query, c.KeyID.String()) {
					t.Errorf("%s: a call of key %v", query, c.KeyID)
				}
			}
			if calls += len(items); len(items) == 0 {
				break
			}
		}
		if got := fmt.Sprint(summary.Calls, summary.Successes); got != want || int64(calls) != summary.Calls {
			t.Errorf("%s: %s, %d on pages, want %s", query, got, calls, want)
		}
		file, _ := ada.send("GET", base+".csv"+query, "")
		lines, err := csv.NewReader(strings.NewReader(file.raw)).ReadAll()
		if err != nil || len(lines)-1 != calls {
			t.Errorf("%s: %d lines of CSV for %d calls, %v", query, len(lines)-1, calls, err)
		}
	}
	for _, wrong := range []string{"?key=", "?key=x", "?key=" + uuid.Nil.String()} {
		if got := ada.must(400, "GET", base+wrong, ""); !strings.Contains(got.raw, "must be the id of a key") {
			t.Errorf("%s: %s", wrong, got.raw)
		}
	}
	if got := ada.must(400, "GET", "/api/statistics/applications/"+app+"/keys?interval=hour", ""); !strings.Contains(got.raw, "must be day, or left out") {
		t.Errorf("an interval: %s", got.raw)
	}
	ada.must(404, "GET", "/api/statistics/applications/"+theirs+"/keys", "")
}
