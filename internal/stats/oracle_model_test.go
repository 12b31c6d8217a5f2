package stats_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// This file is the oracle: what every statistics endpoint must answer, worked out from plain slices
// with integers and the calendar of package time. It shares no code with what it judges.

// pageSize is that of both lists (spec section 8).
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
}

// kept is the detail of a failed call.
type kept struct{ message, method, path, body, query, note string }

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

// flow are the calls of a query, newest first. Calls of one millisecond stand in ClickHouse's order
// of UUIDs, whose second half decides first.
func (m *model) flow(a registered, start, end string, ofModel *string, result string) (matching []record, summary object) {
	var calls, good int
	for _, r := range m.of([]registered{a}, start, end) {
		if ofModel != nil && r.model != *ofModel {
			continue
		}
		calls++
		if r.success {
			good++
		}
		if result == "" || r.success == (result == "success") {
			matching = append(matching, r)
		}
	}
	slices.SortFunc(matching, func(a, b record) int {
		return cmp.Or(b.start.Compare(a.start), bytes.Compare(b.id[8:], a.id[8:]), bytes.Compare(b.id[:8], a.id[:8]))
	})
	return matching, object{"calls": calls, "successes": good, "failures": calls - good}
}

func (m *model) calls(a registered, start, end string, ofModel *string, result string, page int) object {
	matching, summary := m.flow(a, start, end, ofModel, result)
	items := []any{}
	for i, r := range matching {
		if i/pageSize == page-1 {
			items = append(items, r.shown())
		}
	}
	known := []any{}
	var names []string
	for _, r := range m.records {
		if r.application == a.id {
			names = append(names, r.model)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		known = append(known, name)
	}
	return object{"start": start, "end": end, "items": items, "total": len(matching), "page": page, "size": pageSize, "summary": summary, "models": known}
}

// key is the one that the call was made with: one of three, or not collected.
func (r record) key() (id uuid.UUID) {
	id[0] = r.id[15] % 4
	return id
}

func (r record) shown() object {
	shown := object{"callId": r.id.String(), "startTime": r.start.In(beijingZone).Format("2006-01-02T15:04:05.000+08:00"), "model": r.model,
		"success": r.success, "statusCode": r.status, "durationMs": r.took, "endedBy": r.endedBy, "streamed": r.streamed, "firstByteMs": nil}
	if r.firstByte != nil {
		shown["firstByteMs"] = *r.firstByte
	}
	if shown["keyId"] = nil; r.key() != uuid.Nil {
		shown["keyId"] = r.key().String()
	}
	return with(shown, r.reported.shown())
}

// export is the CSV file of a query.
func (m *model) export(a registered, start, end string, ofModel *string, result string) string {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	_ = w.Write([]string{"callId", "startTime", "model", "success", "statusCode", "durationMs", "endedBy", "streamed", "firstByteMs",
		"usageState", "upstreamModel", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens", "keyId"})
	matching, _ := m.flow(a, start, end, ofModel, result)
	for _, r := range matching {
		first := ""
		if r.firstByte != nil {
			first = strconv.FormatInt(*r.firstByte, 10)
		}
		shown := r.shown()
		key, _ := shown["keyId"].(string)
		_ = w.Write(append([]string{r.id.String(), shown["startTime"].(string), r.model, fmt.Sprint(r.success), fmt.Sprint(r.status), fmt.Sprint(r.took),
			r.endedBy, fmt.Sprint(r.streamed), first}, append(r.reported.line(), key)...))
	}
	w.Flush()
	return text.String()
}

// failure is why a call failed; the code of the refusal when there is nothing to tell.
func (m *model) failure(r record) (object, int) {
	switch {
	case r.day() < m.retainedFrom():
		return nil, 40401
	case r.success:
		return nil, 40402
	}
	detail := object{"collected": r.kept != nil, "reason": nil, "request": nil, "requestBody": nil, "query": nil, "bodyNote": nil}
	reason := object{"type": r.reason, "code": r.code, "message": nil, "upstreamStatus": nil}
	if r.upstream != 0 {
		reason["upstreamStatus"] = r.upstream
	}
	if r.reason != "" {
		detail["reason"] = reason
	}
	switch {
	case r.day() <= m.now.In(beijingZone).AddDate(0, 0, -30).Format(isoDay):
		detail["collected"], detail["bodyNote"] = r.reason != "", "expired"
	case r.kept != nil:
		detail["request"] = object{"method": r.kept.method, "path": r.kept.path}
		if r.kept.message != "" {
			reason["message"] = r.kept.message
		}
		if r.kept.note != "" {
			detail["bodyNote"] = r.kept.note
		}
		if r.kept.body != "" {
			detail["requestBody"] = object{"n": r.kept.body}
		}
		detail["query"] = object{"model": r.kept.query}
	}
	return with(r.shown(), object{"failure": detail}), 0
}
