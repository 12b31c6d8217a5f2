package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"golang.org/x/sync/errgroup"

	"callgate/clickhouse"
	"callgate/internal/beijing"
)

// board is the part of a dashboard that asks.
type board struct {
	Timezone string
	Refresh  string
	Panels   []struct {
		Title   string
		Targets []struct{ RawSQL string }
	}
	Templating struct {
		List []struct{ Name, Type, Query, AllValue string }
	}
}

func readBoard(t *testing.T) (b board) {
	t.Helper()
	text, err := os.ReadFile("grafana/dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// expand makes what Grafana sends of a query over the last 7 days with All chosen: the custom value of
// All as it stands, or else every option in quotes.
func (k *kit) expand(t *testing.T, b board) *strings.Replacer {
	t.Helper()
	from, until := (k.today - 6).Start(), k.today.End().Add(-time.Millisecond)
	replaced := []string{
		"$__timeFilter(hour)", fmt.Sprintf("hour >= toDateTime(%d) AND hour <= toDateTime(%d)", from.Unix(), until.Unix()),
		"$__timeFilter_ms(start_time)", fmt.Sprintf("start_time >= fromUnixTimestamp64Milli(%d) AND start_time <= fromUnixTimestamp64Milli(%d)", from.UnixMilli(), until.UnixMilli()),
		"$__fromTime", fmt.Sprintf("toDateTime(%d)", from.Unix()), "$__toTime", fmt.Sprintf("toDateTime(%d)", until.Unix()),
	}
	for _, v := range b.Templating.List {
		if v.Type != "query" {
			continue
		}
		options, err := k.ask(v.Query)
		if err != nil {
			t.Fatalf("variable %s: %v", v.Name, err)
		}
		all := v.AllValue
		if all == "" {
			all = "'" + strings.Join(options, "','") + "'"
		}
		replaced = append(replaced, "${"+v.Name+":singlequote}", all)
	}
	return strings.NewReplacer(replaced...)
}

// dashboard runs every query of the dashboard as its data source does.
func (k *kit) dashboard(t *testing.T) {
	b := readBoard(t)
	if b.Timezone != "Asia/Shanghai" {
		t.Errorf("time zone %q", b.Timezone)
	}
	expand := k.expand(t, b)
	if len(b.Panels) != len(panels)+len(panelsOfTokens) {
		t.Errorf("%d panels, %d known", len(b.Panels), len(panels)+len(panelsOfTokens))
	}
	for _, p := range b.Panels {
		want := panels[p.Title]
		if want == nil {
			want = panelsOfTokens[p.Title]
		}
		if want == nil || len(p.Targets) != 1 {
			t.Errorf("panel %q is not known", p.Title)
			continue
		}
		equal := slices.Equal[[]string]
		if p.Title == "Durations per day" {
			equal = near
		}
		for _, zone := range zones {
			got, err := k.ask(expand.Replace(p.Targets[0].RawSQL), "session_timezone", zone)
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
			} else if answer := want(k, k.last(7)); !equal(got, answer) || len(answer) == 0 {
				t.Errorf("%s, in %s:\n got %q\nwant %q", p.Title, zone, got, answer)
			}
		}
	}
}

const manyApplications, tabs = 7_000, 12

// manyTabs refreshes the dashboard of many applications, all chosen, in several tabs at a time, and
// compares what that takes with the account's quota of an hour. It comes last: it adds calls.
func (k *kit) manyTabs(t *testing.T) {
	err := k.admin.Exec(t.Context(), `INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success)
		SELECT toUUID(format('00000000-0000-7000-8000-{}', leftPad(toString(number % {applications:UInt64}), 12, '0'))),
			fromUnixTimestamp64Milli({until:Int64} - toInt64(number % 601) * 1000000), generateUUIDv4(), toString(number % 5), number % 9000, 200, true
		FROM numbers(20 * {applications:UInt64}) SETTINGS max_partitions_per_insert_block = 0`,
		driver.Named("applications", manyApplications), driver.Named("until", time.Now().UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	b := readBoard(t)
	refresh, err := time.ParseDuration(b.Refresh)
	if err != nil {
		t.Fatal(err)
	}
	expand := k.expand(t, b)
	before := k.used(t)
	var open errgroup.Group
	for range tabs {
		open.Go(func() error {
			for _, p := range b.Panels {
				lines, err := k.ask(expand.Replace(p.Targets[0].RawSQL))
				if err != nil || len(lines) == 0 {
					return fmt.Errorf("%s: %d lines, %w", p.Title, len(lines), err)
				}
			}
			return nil
		})
	}
	if err := open.Wait(); err != nil {
		t.Fatal(err)
	}
	after := k.used(t)
	for i, l := range clickhouse.ReaderQuota {
		hour := (after[i] - before[i]) * float64(time.Hour/refresh)
		if hour > float64(l.Value)/2 {
			t.Errorf("%d tabs use up %.0f %s an hour, the account has %d", tabs, hour, l.Name, l.Value)
		}
		t.Logf("%s: %.0f an hour of %d", l.Name, hour, l.Value)
	}
}

// used is what the account has used of its quota, in the order of ReaderQuota.
func (k *kit) used(t *testing.T) (used []float64) {
	t.Helper()
	lines, err := k.ask("SELECT arrayJoin([toFloat64(queries), toFloat64(execution_time), toFloat64(read_rows)]) FROM system.quota_usage")
	if err != nil || len(lines) != len(clickhouse.ReaderQuota) {
		t.Fatalf("%q: %v", lines, err)
	}
	for _, line := range lines {
		n, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		used = append(used, n)
	}
	return used
}

// panels are what each panel must show of the calls of its range.
var panels = map[string]func(k *kit, of []call) []string{
	"Calls":            func(_ *kit, of []call) []string { return []string{join(len(of))} },
	"Failed calls":     func(_ *kit, of []call) []string { return []string{join(len(of) - good(of))} },
	"Success rate":     func(_ *kit, of []call) []string { return []string{ratio(good(of), len(of), 4)} },
	"Average duration": func(_ *kit, of []call) []string { return []string{ratio(sum(of, call.ms), len(of), 1)} },
	"Calls per hour": func(_ *kit, of []call) []string {
		return lines(of, call.hour, func(hour string, of []call) string { return join(hour, good(of), len(of)-good(of)) })
	},
	"Calls per hour and model": func(_ *kit, of []call) []string {
		return lines(of, func(c call) string { return join(c.hour(), c.model) }, func(group string, of []call) string { return join(group, len(of)) })
	},
	"Durations per day": func(_ *kit, of []call) []string {
		return lines(of, call.date, func(day string, of []call) string {
			took := sorted(of, call.ms)
			return join(day+" 00:00:00", nearestRank(took, 50), nearestRank(took, 95))
		})
	},
	"Why calls fail": func(k *kit, _ []call) []string {
		return top(99, tally(k.failed(7), func(c call) string { return join(c.reason, c.code) }))
	},
	"Applications": func(_ *kit, of []call) []string {
		var answer []string
		for _, line := range top(50, tally(of, func(c call) string { return c.application.String() })) {
			id, _, _ := strings.Cut(line, "\t")
			failed := 0
			for _, c := range of {
				if c.application.String() == id && !c.success {
					failed++
				}
			}
			answer = append(answer, join(line, failed))
		}
		return answer
	},
	"Error messages": func(k *kit, _ []call) []string {
		said := slices.DeleteFunc(k.failed(7), func(c call) bool { return c.message == "" })
		return top(20, tally(said, func(c call) string { return c.message }))
	},
}

// hour is the Beijing hour as ClickHouse prints it.
func (c call) hour() string {
	return shown(beijing.DayOf(c.start).Start().Add(c.start.Sub(c.day().Start()).Truncate(time.Hour)), "2006-01-02 15:04:05")
}
