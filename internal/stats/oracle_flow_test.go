package stats_test

// The oracle's call flow, its CSV and the detail of a failure.

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"
)

// flow are the calls of a query, newest first. Calls of one millisecond stand in ClickHouse's order
// of UUIDs, whose second half decides first.
func (m *model) flow(of []registered, start, end string, ofModel *string, result string, n narrow) (matching []record, summary object) {
	var calls, good int
	for _, r := range m.of(of, start, end) {
		if ofModel != nil && r.model != *ofModel || !n.timely(r) {
			continue
		}
		if !n.matches(m, r) {
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

func (m *model) calls(of []registered, start, end string, ofModel *string, result string, n narrow, page, size int) object {
	matching, summary := m.flow(of, start, end, ofModel, result, n)
	items := []any{}
	for i, r := range matching {
		if i/size == page-1 {
			items = append(items, with(r.shown(), object{"reason": m.reason(r)}))
		}
	}
	known := []any{}
	var names []string
	for _, r := range m.records {
		if slices.ContainsFunc(of, func(a registered) bool { return a.id == r.application }) {
			names = append(names, r.model)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		known = append(known, name)
	}
	return object{"start": start, "end": end, "items": items, "total": len(matching), "page": page, "size": size, "summary": summary, "models": known}
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
	shown["tags"], shown["user"] = object{}, nil
	if shown["keyId"] = nil; r.key() != uuid.Nil {
		shown["keyId"] = r.key().String()
	}
	return with(shown, r.reported.shown())
}

// export is the CSV file of a query, with each call's application first where it is of several.
func (m *model) export(of []registered, several bool, start, end string, ofModel *string, result string, n narrow) string {
	text := bytes.NewBufferString("\ufeff")
	w := csv.NewWriter(text)
	line := func(application, name string, cells []string) {
		if several {
			cells = append([]string{application, name}, cells...)
		}
		_ = w.Write(cells)
	}
	line("applicationId", "application", []string{"callId", "startTime", "model", "success", "statusCode", "durationMs", "endedBy", "streamed", "firstByteMs",
		"usageState", "upstreamModel", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens", "keyId", "reasonType", "reasonCode", "upstreamStatus", "message",
		"answerId", "reportedCost", "reportedCurrency", "cost", "currency", "lines", "tags", "user"})
	matching, _ := m.flow(of, start, end, ofModel, result, n)
	for _, r := range matching {
		first := ""
		if r.firstByte != nil {
			first = strconv.FormatInt(*r.firstByte, 10)
		}
		shown := r.shown()
		key, _ := shown["keyId"].(string)
		line(r.application.String(), nameIn(of, r), append([]string{r.id.String(), shown["startTime"].(string), r.model, fmt.Sprint(r.success), fmt.Sprint(r.status), fmt.Sprint(r.took),
			r.endedBy, fmt.Sprint(r.streamed), first}, append(append(append(r.reported.line(), key), m.reasonLine(r)...), "", "", "", "", "", "", "", "")...))
	}
	w.Flush()
	return text.String()
}

// nameIn is what the application of a call is called.
func nameIn(of []registered, r record) string {
	return of[slices.IndexFunc(of, func(a registered) bool { return a.id == r.application })].name
}

// facets are the values of each filter with the calls that each selects under the others.
func (m *model) facets(all, of []registered, start, end string, ofModel *string, result string, n narrow) object {
	count := func(of []registered, ofModel *string, result string, n narrow, value func(record) string) []any {
		n.failuresWanted = n.ofReason || n.ofUpstream || n.text != "" || n.message != ""
		matching, _ := m.flow(of, start, end, ofModel, result, n)
		calls := map[string]int{}
		for _, r := range matching {
			if v := value(r); v != "-" {
				calls[v]++
			}
		}
		list := []any{}
		for v, n := range calls {
			list = append(list, object{"value": v, "calls": n})
		}
		slices.SortFunc(list, func(a, b any) int {
			x, y := a.(object), b.(object)
			return cmp.Or(cmp.Compare(y["calls"].(int), x["calls"].(int)), cmp.Compare(x["value"].(string), y["value"].(string)))
		})
		return list[:min(20, len(list))]
	}
	anyStatus, anyReason, anyKey := n, n, n
	anyStatus.status, anyReason.ofReason, anyReason.reason, anyReason.code, anyKey.key = 0, false, "", "", uuid.Nil
	return object{
		"application": count(all, ofModel, result, n, func(r record) string { return r.application.String() }),
		"model":       count(of, nil, result, n, func(r record) string { return r.model }),
		"result":      count(of, ofModel, "", n, func(r record) string { return map[bool]string{true: "success", false: "failure"}[r.success] }),
		"status":      count(of, ofModel, result, anyStatus, func(r record) string { return strconv.Itoa(r.status) }),
		"reason": count(of, ofModel, result, anyReason, func(r record) string {
			switch {
			case r.success:
				return "-"
			case r.reason == "":
				return ""
			}
			return r.reason + ":" + r.code
		}),
		"key": count(of, ofModel, result, anyKey, func(r record) string {
			if r.key() == uuid.Nil {
				return "-"
			}
			return r.key().String()
		}),
	}
}

// several asks about all applications of an account, or about some and one of somebody else's.
func (o *oracle) several(account int, query url.Values, start, end string, ofModel *string, result string, n narrow) {
	all := o.accounts[account]
	of := all
	if o.random.IntN(2) == 0 {
		of = nil
		query["application"] = []string{o.accounts[1-min(account, 1)][0].id.String()}
		for _, a := range all {
			if o.random.IntN(2) == 0 {
				of = append(of, a)
				query.Add("application", a.id.String())
			}
		}
	}
	matching, _ := o.flow(of, start, end, ofModel, result, n)
	switch o.random.IntN(4) {
	case 0:
		o.compareTextAt(account, "/api/statistics/calls.csv", query, o.export(of, true, start, end, ofModel, result, n))
	case 1, 2:
		if len(days(start, end)) <= 31 {
			if o.random.IntN(2) == 0 && result != "success" {
				o.compareAt(account, "/api/statistics/calls/messages", query, o.messages(of, start, end, ofModel, result, n))
			} else {
				o.compareAt(account, "/api/statistics/calls/facets", query, o.facets(all, of, start, end, ofModel, result, n))
			}
			return
		}
		fallthrough
	default:
		size := []int{10, 25, 50, 100}[o.random.IntN(4)]
		last := (len(matching) + size - 1) / size
		page := []int{1, 2, max(last, 1), last + 1, 1 + o.random.IntN(last+1)}[o.random.IntN(5)]
		query.Set("page", strconv.Itoa(page))
		query.Set("size", strconv.Itoa(size))
		want := o.calls(of, start, end, ofModel, result, n, page, size)
		for i, item := range want["items"].([]any) {
			r := matching[(page-1)*size+i]
			with(item.(object), object{"application": object{"id": r.application.String(), "name": nameIn(of, r)}})
		}
		o.compareAt(account, "/api/statistics/calls", query, want)
	}
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
