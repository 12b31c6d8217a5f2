package stats_test

// The oracle's call flow, its CSV and the detail of a failure.

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
)

// flow are the calls of a query, newest first. Calls of one millisecond stand in ClickHouse's order
// of UUIDs, whose second half decides first.
func (m *model) flow(a registered, start, end string, ofModel *string, result string, n narrow) (matching []record, summary object) {
	var calls, good int
	for _, r := range m.of([]registered{a}, start, end) {
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

func (m *model) calls(a registered, start, end string, ofModel *string, result string, n narrow, page int) object {
	matching, summary := m.flow(a, start, end, ofModel, result, n)
	items := []any{}
	for i, r := range matching {
		if i/pageSize == page-1 {
			items = append(items, with(r.shown(), object{"reason": m.reason(r)}))
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
	shown["tags"], shown["user"] = object{}, nil
	if shown["keyId"] = nil; r.key() != uuid.Nil {
		shown["keyId"] = r.key().String()
	}
	return with(shown, r.reported.shown())
}

// export is the CSV file of a query.
func (m *model) export(a registered, start, end string, ofModel *string, result string, n narrow) string {
	text := bytes.NewBufferString("\ufeff")
	w := csv.NewWriter(text)
	_ = w.Write([]string{"callId", "startTime", "model", "success", "statusCode", "durationMs", "endedBy", "streamed", "firstByteMs",
		"usageState", "upstreamModel", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens", "keyId", "reasonType", "reasonCode", "upstreamStatus", "message",
		"answerId", "reportedCost", "reportedCurrency", "cost", "currency", "lines", "tags", "user"})
	matching, _ := m.flow(a, start, end, ofModel, result, n)
	for _, r := range matching {
		first := ""
		if r.firstByte != nil {
			first = strconv.FormatInt(*r.firstByte, 10)
		}
		shown := r.shown()
		key, _ := shown["keyId"].(string)
		_ = w.Write(append([]string{r.id.String(), shown["startTime"].(string), r.model, fmt.Sprint(r.success), fmt.Sprint(r.status), fmt.Sprint(r.took),
			r.endedBy, fmt.Sprint(r.streamed), first}, append(append(append(r.reported.line(), key), m.reasonLine(r)...), "", "", "", "", "", "", "", "")...))
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
