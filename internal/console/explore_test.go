package console

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/report"
)

// TestExploreAndTheStatisticsTellTheSame of calls with lines and without, under prices that change, in two currencies; and the file
// has what the answer has. Nothing of others is in it.
func TestExploreAndTheStatisticsTellTheSame(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed("gpt", "claude")
	ada, eve := w.developer("ada"), w.developer("eve")
	app, other, theirs := w.application(ada, "app"), w.application(ada, "other"), w.application(eve, "theirs")
	today := beijing.Today(w.now)
	for i, draft := range []pricing.Draft{
		{CapabilityID: "gpt", From: (today - 400).String(), Currency: "USD", Input: "2.5", Output: "10.000001"},
		{CapabilityID: "gpt", From: (today - 1).String(), Currency: "CNY", Input: "0.333333333333", Output: "3"},
		{CapabilityID: "claude", From: (today - 400).String(), Currency: "CNY", Input: "7", Output: "9"},
	} {
		if _, err := pricing.New(w.pool).Put(t.Context(), managingAdmin, draft); err != nil {
			t.Fatal(i, err)
		}
	}
	const day = 24 * time.Hour
	key := field[[]openapi.Key](t, ada.must(200, "GET", "/api/applications/"+app+"/keys", ""), "items")[0].ID.String()
	w.used(app, key, "gpt", 3*day, 20)
	w.used(app, key, "claude", time.Minute, 5)
	w.used(app, uuid.NewString(), "gpt", day, 41)
	w.used(other, uuid.Nil.String(), "", time.Minute, 3)
	w.used(theirs, uuid.NewString(), "gpt", time.Minute, 100)
	w.exec("ALTER TABLE calls UPDATE `tags.name` = ['team'], `tags.value` = [if(model = 'gpt', '=search', 'ads')], end_user = 'u' WHERE model != '' SETTINGS mutations_sync = 1")

	ask := func(query string) openapi.Exploration {
		t.Helper()
		return dataOf[openapi.Exploration](t, ada.must(200, "GET", "/api/statistics/explore?"+query, ""))
	}
	whole := dataOf[openapi.Overview](t, ada.must(200, "GET", "/api/statistics/applications/overview", ""))
	byModel, byDay := map[string]openapi.MetricsFields{}, map[string]openapi.MetricsFields{}
	for _, m := range whole.Models {
		byModel[m.Model] = m.MetricsFields
	}
	for _, d := range whole.Daily {
		byDay[beijing.Format(d.Date.Start())] = d.MetricsFields
	}
	for metric, of := range map[string]func(openapi.MetricsFields) string{
		"calls": func(m openapi.MetricsFields) string { return fmt.Sprint(m.Calls) }, "failures": func(m openapi.MetricsFields) string { return fmt.Sprint(m.Failures) },
		"inputTokens": func(m openapi.MetricsFields) string { return number(m.Tokens.Input) }, "outputTokens": func(m openapi.MetricsFields) string { return number(m.Tokens.Output) },
		"cachedTokens":      func(m openapi.MetricsFields) string { return number(m.Tokens.Cached) },
		"cost&currency=CNY": func(m openapi.MetricsFields) string { return costIn(m, "CNY") }, "cost&currency=USD": func(m openapi.MetricsFields) string { return costIn(m, "USD") },
		"p50": func(m openapi.MetricsFields) string { return number(m.P50Ms) }, "p99": func(m openapi.MetricsFields) string { return number(m.P99Ms) },
	} {
		e := ask("metric=" + metric + "&groupBy=capability&interval=day&top=1")
		if len(e.Items) != 1 || e.Other == nil || *e.Items[0].Value != of(byModel[e.Items[0].Group]) || *e.Total.Value != of(whole.MetricsFields) || len(e.Parts) != 7 {
			t.Errorf("%s: %+v", metric, e)
			continue
		}
		for i, part := range e.Parts {
			if got := e.Total.Values[i]; got == nil && byDay[part].Calls != 0 || got != nil && *got != of(byDay[part]) {
				t.Errorf("%s of %s: %v, want %s", metric, part, got, of(byDay[part]))
			}
		}
		lines, err := csv.NewReader(strings.NewReader(textOf(t, ada, "/api/statistics/explore.csv?metric="+metric+"&groupBy=capability&interval=day&top=1"))).ReadAll()
		if err != nil || len(lines) != 4 || lines[1][3] != *e.Items[0].Value || lines[2][3] != *e.Other.Value || lines[3][3] != *e.Total.Value ||
			!slices.Equal(lines[0][6:], e.Parts) || lines[3][12] != *e.Total.Values[6] {
			t.Errorf("%s: %v %q", metric, err, lines)
		}
	}
	for query, want := range map[string]string{
		"groupBy=application":                              "app 66, other 3",
		"groupBy=application&application=" + other:         "other 3",
		"groupBy=application&application=" + theirs:        "",
		"groupBy=capability":                               "Name of gpt 61, Name of claude 5,  3",
		"groupBy=tag:team":                                 "=search 61, ads 5,  3",
		"groupBy=tag:team&model=gpt&result=failure":        "=search 19",
		"groupBy=user":                                     "u 66,  3",
		"groupBy=user&user=u&tag=team:ads":                 "u 5",
		"groupBy=key&application=" + app + "&model=claude": "app · default 5",
		"groupBy=status":                                   "200 48, 502 21",
		"groupBy=status&status=502":                        "502 21",
		"":                                                 " 69",
		"groupBy=capability&metric=failureRate":            "Name of gpt 0.3115, Name of claude 0.2,  0.3333",
		"groupBy=capability&metric=p95&top=1":              "Name of gpt 5",
		"groupBy=capability&metric=cost&currency=EUR":      "Name of claude 0, Name of gpt 0,  0",
	} {
		var told []string
		for _, item := range ask(query).Items {
			name := item.Group
			if item.Name != nil {
				name = *item.Name
			}
			told = append(told, name+" "+*item.Value)
		}
		if got := strings.Join(told, ", "); !sameGroups(query, got, want) {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
	before := ask("groupBy=capability&compare=previous&start=" + today.String() + "&end=" + today.String())
	if *before.Total.Value != "8" || *before.Total.Previous != "41" || *before.Items[0].Previous != "0" {
		t.Errorf("%+v", before)
	}
	year := ask("metric=cost&currency=CNY&interval=month&groupBy=capability&start=" + (today - 365).String())
	if *year.Total.Value != costIn(whole.MetricsFields, "CNY") || len(year.Parts) < 12 {
		t.Errorf("%+v", year)
	}
	for query, says := range map[string]string{
		"metric=smell": "must be one of cacheWriteTokens, cachedTokens, calls, cost", "groupBy=colour": "must be application, capability", "groupBy=tag:Team": "must be application, capability",
		"interval=year": "must be hour, day, week or month", "top=0": "must be an integer from 1 to 50", "top=51": "must be an integer from 1 to 50", "compare=year": "must be previous or month",
		"application=x": "must be the id of an application", "currency=usd": "currency", "text=x": "cannot be asked for here", "metric=firstByteP50&start=" + (today - 31).String(): "must be at most 30 days before the end",
		"interval=hour&start=" + (today - 31).String(): "must be at most 30 days before the end", "groupBy=user&start=" + (today - 31).String(): "must be at most 30 days before the end",
		"tag=x": "must be name:value", "result=maybe": "must be success or failure",
	} {
		if got := ada.must(400, "GET", "/api/statistics/explore?"+query, ""); !strings.Contains(got.raw, says) {
			t.Errorf("%s: %s, want %q", query, got.raw, says)
		}
	}
}

// sameGroups compares groups in their order, but where they are alike.
func sameGroups(query, got, want string) bool {
	if !strings.Contains(query, "EUR") && !strings.Contains(query, "failureRate") {
		return got == want
	}
	a, b := strings.Split(got, ", "), strings.Split(want, ", ")
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func number(n *int64) string {
	if n == nil {
		return "0"
	}
	return fmt.Sprint(*n)
}

func TestARangeIsComparedWithTheSameDaysOfTheMonthBefore(t *testing.T) {
	t.Parallel()
	for days, want := range map[string]string{
		"2026-11-01 2026-11-28": "2026-10-01 2026-10-28", "2026-11-01 2026-11-30": "2026-10-01 2026-10-31", "2026-03-01 2026-03-31": "2026-02-01 2026-02-28",
		"2028-03-29 2028-03-31": "2028-02-29 2028-02-29", "2026-01-10 2026-01-20": "2025-12-10 2025-12-20", "2026-10-25 2026-11-05": "2026-09-25 2026-10-05",
	} {
		start, end, _ := strings.Cut(days, " ")
		first, _ := beijing.ParseDay(start)
		last, _ := beijing.ParseDay(end)
		if got := report.ComparedWith(beijing.Range{Start: first, End: last}, "month"); got.Start.String()+" "+got.End.String() != want {
			t.Errorf("%s: %s %s, want %s", days, got.Start, got.End, want)
		}
	}
}
