package console

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
)

// addedUp are metrics whose values of owners add up.
var addedUp = []string{"calls", "failures", "tokens", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens", "cost&currency=CNY", "cost&currency=USD"}

// exploredSum are the answers to a question of several owners together: by group, of all (the group total), and each of these by part.
type exploredSum map[string]decimal.Decimal

func (s exploredSum) add(group string, of openapi.ExploredFields, parts []string) {
	put := func(key string, value *string) {
		if value != nil && *value != "0" {
			s[key] = s[key].Add(decimal.RequireFromString(*value))
		}
	}
	put(group, of.Value)
	put(group+" before", of.Previous)
	if of.UnknownCalls > 0 {
		unknown := fmt.Sprint(of.UnknownCalls)
		put(group+" unknown", &unknown)
	}
	for i, part := range parts {
		put(group+" "+part, of.Values[i])
	}
}

func (s exploredSum) addAll(e openapi.Exploration) {
	s.add("total", e.Total.ExploredFields, e.Parts)
	for _, item := range e.Items {
		s.add(item.Group, item.ExploredFields, e.Parts)
	}
}

func (s exploredSum) String() string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(s)) {
		lines = append(lines, key+" "+s[key].String())
	}
	return strings.Join(lines, "\n")
}

// TestExploreOfEveryoneIsTheSumOfWhatOwnersExplore from rollups and from calls, and what the office's other figures tell; calls of a
// deleted application, whose rows are still there, and of one that nobody knows are in none of it.
func TestExploreOfEveryoneIsTheSumOfWhatOwnersExplore(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed("gpt", "claude")
	ada, eve := w.developer("ada"), w.developer("eve")
	app, other, theirs, gone := w.application(ada, "app"), w.application(ada, "other"), w.application(eve, "theirs"), w.application(eve, "gone")
	today := beijing.Today(w.now)
	answers := "gpt-x"
	for i, draft := range []pricing.Draft{
		{CapabilityID: "gpt", From: (today - 400).String(), Currency: "USD", Input: "2.5", Output: "10.000001"},
		{CapabilityID: "gpt", From: (today - 1).String(), Currency: "CNY", Input: "0.333333333333", Output: "3"},
		{CapabilityID: "gpt", UpstreamModel: &answers, From: (today - 2).String(), Currency: "CNY", Input: "0.7", Output: "5"},
		{CapabilityID: "claude", From: (today - 400).String(), Currency: "CNY", Input: "7", Output: "9"},
	} {
		if _, err := pricing.New(w.pool).Put(t.Context(), managingAdmin, draft); err != nil {
			t.Fatal(i, err)
		}
	}
	const day = 24 * time.Hour
	key := uuid.NewString()
	for i, id := range []string{app, other, theirs, gone, uuid.NewString()} {
		w.used(id, key, "gpt", 3*day, 20+i)
		w.used(id, key, "claude", time.Minute, 5+i)
		w.used(id, key, "gpt", day, 41-i)
		w.used(id, key, "", time.Minute, 3)
		w.used(id, key, "gpt", 9*day, 7)
		w.called(id, "gpt", time.Minute, 700*(i+1), 200)
	}
	eve.must(200, "DELETE", "/api/applications/"+gone, "")
	w.exec("ALTER TABLE calls UPDATE upstream_id = if(model = 'gpt', 'eu', '') WHERE model != '' SETTINGS mutations_sync = 1")

	ask := func(c *client, query string) openapi.Exploration {
		t.Helper()
		path := "/api/statistics/explore?"
		if c == w.admin {
			path = figuresPath + "explore?"
		}
		return dataOf[openapi.Exploration](t, c.must(200, "GET", path+"top=50&compare=previous&metric="+query, ""))
	}
	owners := map[string]*client{}
	for _, o := range dataOf[openapi.OwnerFiguresPage](t, w.admin.must(200, "GET", figuresPath+"owners", "")).Items {
		owners[o.Owner.ID.String()] = map[string]*client{"ada@example.com": ada, "eve@example.com": eve}[o.Owner.Email]
	}
	narrowed := []string{"", "&interval=day", "&interval=hour&start=" + (today - 3).String(), "&interval=week&start=" + (today - 100).String(), "&model=gpt", "&model=",
		"&result=failure", "&status=502&interval=day", "&result=success&interval=hour", "&application=" + theirs + "&application=" + app, "&application=" + gone}
	turn := 0
	some := func() []string { // of narrowed, three in turn: each is asked with each metric and each group
		turn++
		return []string{narrowed[turn*3%len(narrowed)], narrowed[(turn*3+1)%len(narrowed)], narrowed[(turn*3+2)%len(narrowed)]}
	}
	for _, metric := range addedUp {
		for _, group := range []string{"", "application", "capability", "upstreamModel", "status", "reason", "endedBy"} {
			for _, only := range some() {
				query := metric + "&groupBy=" + group + only
				want, got := exploredSum{}, exploredSum{}
				want.addAll(ask(ada, query))
				want.addAll(ask(eve, query))
				got.addAll(ask(w.admin, query))
				if got.String() != want.String() || len(got) == 0 && metric == "calls" && only == "" {
					t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
				}
			}
		}
		for _, only := range some() {
			want, got := exploredSum{}, exploredSum{}
			for id, owner := range owners {
				e := ask(owner, metric+only)
				want.add("total", e.Total.ExploredFields, e.Parts)
				want.add(id, e.Total.ExploredFields, e.Parts)
			}
			got.addAll(ask(w.admin, metric+"&groupBy=owner"+only))
			if got.String() != want.String() {
				t.Errorf("%s by owner, %s:\n%s\nwant\n%s", metric, only, got, want)
			}
			for id, owner := range owners {
				want, got := exploredSum{}, exploredSum{}
				want.addAll(ask(owner, metric+"&groupBy=capability"+only))
				got.addAll(ask(w.admin, metric+"&groupBy=capability&owner="+id+only))
				if got.String() != want.String() {
					t.Errorf("%s of an owner, %s:\n%s\nwant\n%s", metric, only, got, want)
				}
			}
			if strings.Contains(only, "week") { // too long
				continue
			}
			byUpstream, all := exploredSum{}, ask(w.admin, metric+"&groupBy=upstream"+only)
			for _, item := range all.Items {
				byUpstream.add("total", item.ExploredFields, all.Parts)
			}
			all.Items = nil
			total := exploredSum{}
			if total.addAll(all); byUpstream.String() != total.String() {
				t.Errorf("%s by upstream, %s:\n%s\nwant\n%s", metric, only, byUpstream, total)
			}
		}
	}

	overview := dataOf[openapi.FiguresOverview](t, w.admin.must(200, "GET", figuresPath+"overview", ""))
	byApplication := dataOf[openapi.ApplicationFiguresPage](t, w.admin.must(200, "GET", figuresPath+"applications", ""))
	byModel := dataOf[openapi.CapabilityFiguresList](t, w.admin.must(200, "GET", figuresPath+"capabilities", ""))
	byOwner := dataOf[openapi.OwnerFiguresPage](t, w.admin.must(200, "GET", figuresPath+"owners", ""))
	for metric, of := range map[string]func(openapi.MetricsFields) string{
		"calls": func(m openapi.MetricsFields) string { return fmt.Sprint(m.Calls) }, "failures": func(m openapi.MetricsFields) string { return fmt.Sprint(m.Failures) },
		"inputTokens": func(m openapi.MetricsFields) string { return number(m.Tokens.Input) }, "cachedTokens": func(m openapi.MetricsFields) string { return number(m.Tokens.Cached) },
		"p50": func(m openapi.MetricsFields) string { return number(m.P50Ms) }, "p95": func(m openapi.MetricsFields) string { return number(m.P95Ms) },
		"p99":               func(m openapi.MetricsFields) string { return number(m.P99Ms) },
		"cost&currency=CNY": func(m openapi.MetricsFields) string { return costIn(m, "CNY") }, "cost&currency=USD": func(m openapi.MetricsFields) string { return costIn(m, "USD") },
	} {
		groups := map[string]map[string]openapi.MetricsFields{"application": {}, "capability": {}, "owner": {}}
		for _, a := range byApplication.Items {
			groups["application"][a.ID.String()] = a.MetricsFields
		}
		for _, m := range byModel.Items {
			groups["capability"][m.Model] = m.MetricsFields
		}
		for _, o := range byOwner.Items {
			groups["owner"][o.Owner.ID.String()] = o.MetricsFields
		}
		for group, figures := range groups {
			e := ask(w.admin, metric+"&interval=day&groupBy="+group)
			if *e.Total.Value != of(overview.MetricsFields) || len(e.Items) == 0 {
				t.Errorf("%s by %s: %s in total, want %s", metric, group, *e.Total.Value, of(overview.MetricsFields))
			}
			for _, item := range e.Items {
				if *item.Value != of(figures[item.Group]) {
					t.Errorf("%s of the %s %s: %s, want %s", metric, group, item.Group, *item.Value, of(figures[item.Group]))
				}
			}
			for i, d := range overview.Daily {
				if got := e.Total.Values[i]; got == nil && d.Calls != 0 || got != nil && *got != of(d.MetricsFields) {
					t.Errorf("%s of %s: %v, want %s", metric, d.Date, got, of(d.MetricsFields))
				}
			}
		}
	}
	for _, query := range []string{"p95&groupBy=application&interval=hour", "firstByteP50&groupBy=application", "p99&groupBy=application&result=failure"} {
		all := map[string]string{}
		for _, c := range []*client{ada, eve} {
			for _, item := range ask(c, query).Items {
				all[item.Group] = fmt.Sprint(texts(item.Values), texts([]*string{item.Value}))
			}
		}
		for _, item := range ask(w.admin, query).Items {
			if got := fmt.Sprint(texts(item.Values), texts([]*string{item.Value})); got != all[item.Group] {
				t.Errorf("%s of %s: %s, want %s", query, item.Group, got, all[item.Group])
			}
		}
	}
	cut := dataOf[openapi.Exploration](t, w.admin.must(200, "GET", figuresPath+"explore?groupBy=owner&top=1&metric=p95&interval=day", ""))
	if len(cut.Items) != 1 || *cut.Items[0].Name != "ada@example.com" || cut.Other == nil || *cut.Other.Value != number(byOwner.Items[1].P95Ms) {
		t.Errorf("the first owner: %+v", cut)
	}
	named := ask(w.admin, "calls&groupBy=application&application="+theirs)
	if *named.Items[0].Name != "theirs · eve@example.com" {
		t.Errorf("%+v", named.Items)
	}
	lines, err := csv.NewReader(strings.NewReader(textOf(t, w.admin, figuresPath+"explore.csv?groupBy=owner&top=1&interval=day"))).ReadAll()
	if err != nil || len(lines) != 4 || lines[1][2] != "ada@example.com" || lines[2][0] != "other" || lines[3][3] != fmt.Sprint(overview.Calls) {
		t.Errorf("%v %q", err, lines)
	}
	w.admin.must(200, "GET", figuresPath+"explore?metric=p95&groupBy=capability&interval=day&start="+(today-365).String(), "")
	for query, says := range map[string]string{
		"groupBy=key": "must be application, owner, capability", "groupBy=tag:team": "must be application, owner, capability", "groupBy=user": "must be application, owner, capability",
		"key=" + key: "is for the owners of the calls alone", "tag=a:b": "is for the owners of the calls alone", "user=u": "is for the owners of the calls alone",
		"text=x": "is for the owners of the calls alone", "message=x": "is for the owners of the calls alone", "owner=x": "must be the id of a user",
		"metric=p95&groupBy=owner&start=" + (today - 31).String(): "must be at most 30 days before the end", "groupBy=upstream&start=" + (today - 31).String(): "must be at most 30 days before the end",
		"interval=hour&start=" + (today - 31).String(): "must be at most 30 days before the end", "metric=p95&result=failure&start=" + (today - 31).String(): "must be at most 30 days before the end",
		"metric=smell": "must be one of", "interval=year": "must be hour, day, week or month", "top=51": "must be an integer from 1 to 50",
	} {
		if got := w.admin.must(400, "GET", figuresPath+"explore?"+query, ""); !strings.Contains(got.raw, says) {
			t.Errorf("%s: %s, want %q", query, got.raw, says)
		}
	}
}

func costIn(m openapi.MetricsFields, currency string) string {
	for _, c := range m.Cost {
		if c.Currency != nil && *c.Currency == currency {
			return *c.Amount
		}
	}
	return "0"
}

func texts(values []*string) (all []string) {
	for _, value := range values {
		if value == nil {
			all = append(all, "-")
		} else {
			all = append(all, *value)
		}
	}
	return all
}
