package stats_test

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
)

// This file is the oracle: what every statistics endpoint must answer, worked out from plain slices
// with integers and the calendar of package time. It shares no code with what it judges.

// pageSize is that of both lists.
const pageSize = 10

// beijingZone has been Beijing's for as long as there are calls.
var beijingZone = time.FixedZone("", 8*3600)

const isoDay = "2006-01-02"

// record is one call.
type record struct {
	application uuid.UUID
	id          uuid.UUID
	start       time.Time
	model       string
	took        int64
	status      int
	success     bool
	streamed    bool
	firstByte   *int64
	endedBy     string
	reason      string
	code        string
	upstream    int
	kept        *kept // nil: no detail was kept
	reported    reported
	sentTo      string // upstream
	attempts    uint8
	failedAt    string // upstream tried before that; empty: none, or not kept
	failed      int64  // its milliseconds
}

// kept is the detail of a failed call.
type kept struct{ message, method, path, body, query, note string }

// attemptsOf are calls by the upstreams they were sent to: one that failed and was followed by another is a call of its own.
func attemptsOf(of []record) (list []record) {
	for _, r := range of {
		last := r
		last.took, last.failedAt = r.took-r.failed, ""
		list = append(list, last)
		if r.failedAt != "" {
			r.sentTo, r.success, r.took = r.failedAt, false, r.failed
			list = append(list, r)
		}
	}
	return list
}

func (r record) day() string { return r.start.In(beijingZone).Format(isoDay) }

// registered is one application.
type registered struct {
	id     uuid.UUID
	name   string
	status string
}

// model is everything the oracle knows.
type model struct {
	now      time.Time
	records  []record // of every application, deleted ones too
	accounts [][]registered
}

func (m *model) retainedFrom() string {
	return m.now.In(beijingZone).AddDate(0, 0, -399).Format(isoDay)
}

// days lists the days from start to end.
func days(start, end string) (list []string) {
	at, _ := time.Parse(isoDay, start)
	for day := at.Format(isoDay); day <= end; day = at.Format(isoDay) {
		list = append(list, day)
		at = at.AddDate(0, 0, 1)
	}
	return list
}

// of are the calls of applications in a range, as far back as answers go.
func (m *model) of(applications []registered, start, end string) (found []record) {
	start = max(start, m.retainedFrom())
	for _, r := range m.records {
		if day := r.day(); day >= start && day <= end && slices.ContainsFunc(applications, func(a registered) bool { return a.id == r.application }) {
			found = append(found, r)
		}
	}
	return found
}

type object = map[string]any

// figures is the metrics block of some calls.
func figures(of []record) object {
	var good, took int64
	durations := make([]int64, 0, len(of))
	for _, r := range of {
		if r.success {
			good++
		}
		took += r.took
		durations = append(durations, r.took)
	}
	n := int64(len(of))
	block := object{"calls": n, "successes": good, "failures": n - good, "successRate": nil, "avgDurationMs": nil, "p50Ms": nil, "p95Ms": nil, "p99Ms": nil,
		"tokens": tokens(of)}
	if n == 0 {
		return block
	}
	slices.Sort(durations)
	block["successRate"] = float64(good*10_000/n) / 10_000
	block["avgDurationMs"] = math.Floor(float64(took)/float64(n)*10+0.5) / 10
	for name, percent := range map[string]int64{"p50Ms": 50, "p95Ms": 95, "p99Ms": 99} {
		block[name] = middle(durations[(percent*n+99)/100-1])
	}
	return block
}

// middle is the middle of the equal 32nd of a power of two that a duration falls into.
func middle(took int64) int64 {
	width := int64(1)
	for took/width >= 64 {
		width *= 2
	}
	return took/width*width + width/2
}

func with(block object, more object) object {
	for name, value := range more {
		block[name] = value
	}
	return block
}

func (m *model) daily(of []record, start, end string) []any {
	byDay := map[string][]record{}
	for _, r := range of {
		byDay[r.day()] = append(byDay[r.day()], r)
	}
	list := []any{}
	for _, day := range days(start, end) {
		list = append(list, with(figures(byDay[day]), object{"date": day}))
	}
	return list
}

func byModel(of []record) []any {
	groups := map[string][]record{}
	for _, r := range of {
		groups[r.model] = append(groups[r.model], r)
	}
	list := []any{}
	for name, calls := range groups {
		list = append(list, with(figures(calls), object{"model": name}))
	}
	slices.SortFunc(list, func(a, b any) int {
		x, y := a.(object), b.(object)
		return cmp.Or(cmp.Compare(y["calls"].(int64), x["calls"].(int64)), cmp.Compare(x["model"].(string), y["model"].(string)))
	})
	return list
}

func (m *model) overview(account int, start, end string) object {
	of := m.of(m.accounts[account], start, end)
	enabled := 0
	for _, a := range m.accounts[account] {
		if a.status == "active" {
			enabled++
		}
	}
	return with(figures(of), object{"start": start, "end": end, "applicationCount": len(m.accounts[account]), "enabledCount": enabled,
		"daily": m.daily(of, start, end), "models": byModel(of), "retainedFrom": m.retainedFrom(), "missed": 0})
}

func (m *model) list(account int, start, end string, page int) object {
	items := []any{}
	for i, a := range m.accounts[account] { // newest first
		if i/pageSize == page-1 {
			items = append(items, with(figures(m.of([]registered{a}, start, end)), object{"id": a.id.String(), "name": a.name, "status": a.status}))
		}
	}
	return object{"start": start, "end": end, "items": items, "total": len(m.accounts[account]), "page": page, "size": pageSize}
}

func (m *model) application(a registered, start, end string) object {
	of := m.of([]registered{a}, start, end)
	return object{"start": start, "end": end, "application": object{"id": a.id.String(), "name": a.name, "status": a.status},
		"summary": figures(of), "daily": m.daily(of, start, end), "models": byModel(of)}
}
