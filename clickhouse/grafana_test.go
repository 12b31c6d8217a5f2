package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"callgate/internal/beijing"
)

// board is the part of a dashboard that asks.
type board struct {
	Timezone string
	Panels   []struct {
		Title   string
		Targets []struct{ RawSQL string }
	}
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

// dashboard runs every query of the dashboard as its data source does, over the last 7 days.
func (k *kit) dashboard(t *testing.T) {
	text, err := os.ReadFile("grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var b board
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if b.Timezone != "Asia/Shanghai" {
		t.Errorf("time zone %q", b.Timezone)
	}
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
		replaced = append(replaced, "${"+v.Name+":singlequote}", "'"+strings.Join(options, "','")+"'") // all of them
	}
	expand := strings.NewReplacer(replaced...)
	if len(b.Panels) != len(panels) {
		t.Errorf("%d panels, %d known", len(b.Panels), len(panels))
	}
	for _, p := range b.Panels {
		want := panels[p.Title]
		if want == nil || len(p.Targets) != 1 {
			t.Errorf("panel %q is not known", p.Title)
			continue
		}
		for _, zone := range zones {
			got, err := k.ask(expand.Replace(p.Targets[0].RawSQL), "session_timezone", zone)
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
			} else if answer := want(k, k.last(7)); !slices.Equal(got, answer) || len(answer) == 0 {
				t.Errorf("%s, in %s:\n got %q\nwant %q", p.Title, zone, got, answer)
			}
		}
	}
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
			took := sorted(of, call.bucket)
			return join(day+" 00:00:00", took[(len(took)+1)/2-1], took[(95*len(took)+99)/100-1])
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
