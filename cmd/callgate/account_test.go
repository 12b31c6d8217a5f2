package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"callgate/internal/openapi"
)

// checkStatistics compares every statistics endpoint with the calls that were made by the account's
// only application; enabled is how many of its applications are.
func (c client) checkStatistics(app string, record []expected, enabled int) {
	t := c.t
	t.Helper()
	page := func(n int) openapi.CallPage {
		return do[openapi.CallPage](c, "GET", fmt.Sprintf("/api/statistics/applications/%s/calls?page=%d", app, n), nil)
	}
	eventually(t, time.Minute, "every call is in the statistics", func() error {
		if total := page(1).Total; total != int64(len(record)) {
			return fmt.Errorf("total %d, want %d", total, len(record))
		}
		return nil
	})
	var rows []openapi.Call
	for n := 1; len(rows) < len(record); n++ {
		items := page(n).Items
		if len(items) == 0 {
			t.Fatalf("page %d is empty, %d of %d calls seen", n, len(rows), len(record))
		}
		rows = append(rows, items...)
	}
	var successes int64
	models := map[string]openapi.CallsSummary{}
	for i, row := range rows {
		e := record[len(record)-1-i] // newest first
		m := models[e.model]
		m.Calls++
		if e.success {
			successes++
			m.Successes++
		} else {
			m.Failures++
		}
		models[e.model] = m
		if e.callID != "" && row.CallID.String() != e.callID || row.Model != e.model || row.StatusCode != int64(e.status) || row.Success != e.success ||
			row.Streamed != e.streamed || row.EndedBy != e.endedBy {
			t.Errorf("%s: recorded %+v, want %+v", e.name, row, e)
		}
	}
	c.awaitCalls(app, 2*time.Second, len(record)) // rollups commit a moment after the rows
	c.checkTotals(app, enabled, int64(len(record)), successes, models)
}

func (c client) checkTotals(app string, enabled int, calls, successes int64, models map[string]openapi.CallsSummary) {
	t := c.t
	t.Helper()
	check := func(what string, m openapi.MetricsFields) {
		t.Helper()
		if m.Calls != calls || m.Successes != successes || m.Failures != calls-successes {
			t.Errorf("%s: %+v, want %d calls, %d successes", what, m, calls, successes)
		}
		rate := float64(successes*10000/calls) / 10000
		if m.SuccessRate == nil || *m.SuccessRate != rate || m.AvgDurationMs == nil || *m.AvgDurationMs <= 0 || m.P99Ms == nil {
			t.Errorf("%s: rate %v, average %v, want rate %v", what, m.SuccessRate, m.AvgDurationMs, rate)
		}
	}
	one := do[openapi.ApplicationStatistics](c, "GET", "/api/statistics/applications/"+app, nil)
	check("application", one.Summary.MetricsFields)
	if len(one.Daily) != 7 || one.Daily[6].Calls+one.Daily[5].Calls != calls || one.Missed != 0 || one.DataThrough == "" || one.Application.ID.String() != app {
		t.Errorf("application: %+v", one)
	}
	got := map[string]openapi.CallsSummary{}
	for _, m := range one.Models {
		got[m.Model] = openapi.CallsSummary{Calls: m.Calls, Successes: m.Successes, Failures: m.Failures}
	}
	if !reflect.DeepEqual(got, models) {
		t.Errorf("models: %+v, want %+v", got, models)
	}
	overview := do[openapi.Overview](c, "GET", "/api/statistics/applications/overview", nil)
	check("overview", overview.MetricsFields)
	if overview.ApplicationCount != 1 || overview.EnabledCount != int64(enabled) || len(overview.Daily) != 7 {
		t.Errorf("overview: %+v", overview)
	}
	list := do[openapi.ApplicationUsagePage](c, "GET", "/api/statistics/applications", nil)
	status := map[int]string{0: "disabled", 1: "active"}[enabled]
	if list.Total != 1 || list.Size != 10 || list.Items[0].ID.String() != app || list.Items[0].Status != status || !strings.Contains(list.Items[0].MaskedAccessKey, "…") {
		t.Errorf("list: %+v", list)
	}
	check("list", list.Items[0].MetricsFields)
}

// checkDetail compares the failure detail of one call field by field.
func (c client) checkDetail(app string, e expected) {
	t := c.t
	t.Helper()
	path := "/api/statistics/applications/" + app + "/calls/" + e.callID
	if e.success {
		if status, envelope := c.try("GET", path, nil); status != 404 || envelope.Code != 40402 {
			t.Errorf("%s: detail of a success answers %d %d", e.name, status, envelope.Code)
		}
		return
	}
	f := do[openapi.FailedCall](c, "GET", path, nil).Failure
	if f.Reason == nil || f.Request == nil {
		t.Errorf("%s: %+v", e.name, f)
		return
	}
	if !f.Collected || f.Reason.Type != e.reasonType || f.Reason.Code != e.reasonCode {
		t.Errorf("%s: reason %+v, want %s/%s", e.name, f.Reason, e.reasonType, e.reasonCode)
	}
	if got := value(f.Reason.Message); e.message == "*" && got == "" || e.message != "*" && got != e.message {
		t.Errorf("%s: message %q, want %q", e.name, got, e.message)
	}
	if got := value(f.Reason.UpstreamStatus); got != int64(e.upstream) {
		t.Errorf("%s: upstream status %d, want %d", e.name, got, e.upstream)
	}
	if f.Request.Method != e.method || f.Request.Path != e.path && !strings.Contains(e.path, "..") {
		t.Errorf("%s: request %+v, want %s %s", e.name, f.Request, e.method, e.path)
	}
	if got := value(f.BodyNote); got != e.note {
		t.Errorf("%s: body note %q, want %q", e.name, got, e.note)
	}
	if !sameJSON(f.RequestBody, e.body) {
		t.Errorf("%s: body %s, want %s", e.name, f.RequestBody, e.body)
	}
	var query map[string]any
	if err := json.Unmarshal(f.Query, &query); e.query != nil && (err != nil || !reflect.DeepEqual(query, e.query)) {
		t.Errorf("%s: query %s, want %v", e.name, f.Query, e.query)
	}
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func sameJSON(got json.RawMessage, want string) bool {
	if want == "" {
		return len(got) == 0 || string(got) == "null"
	}
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}
