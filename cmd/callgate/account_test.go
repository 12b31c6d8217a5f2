package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// callRow is one item of the call flow.
type callRow struct {
	CallID, StartTime, Model, EndedBy string
	Success, Streamed                 bool
	StatusCode                        int
	DurationMs                        int
	FirstByteMs                       *int
}

type metrics struct {
	Calls, Successes, Failures int
	SuccessRate, AvgDurationMs *float64
	P50Ms, P95Ms, P99Ms        *float64
}

// checkStatistics compares every statistics endpoint with the calls that were made by the account's
// only application; enabled is how many of its applications are.
func (c client) checkStatistics(app string, record []expected, enabled int) {
	t := c.t
	t.Helper()
	page := func(n int) (answer struct {
		Items []callRow
		Total int
	}) {
		return do[struct {
			Items []callRow
			Total int
		}](c, "GET", fmt.Sprintf("/api/statistics/applications/%s/calls?page=%d", app, n), nil)
	}
	eventually(t, 5*time.Second, "every call is in the statistics", func() error {
		if total := page(1).Total; total != len(record) {
			return fmt.Errorf("total %d, want %d", total, len(record))
		}
		return nil
	})
	var rows []callRow
	for n := 1; len(rows) < len(record); n++ {
		items := page(n).Items
		if len(items) == 0 {
			t.Fatalf("page %d is empty, %d of %d calls seen", n, len(rows), len(record))
		}
		rows = append(rows, items...)
	}
	var successes int
	models := map[string]metrics{}
	for i, row := range rows {
		e := record[len(record)-1-i] // newest first
		m := models[e.model]
		m.Calls++
		if e.success {
			successes++
			m.Successes++
		}
		models[e.model] = m
		if e.callID != "" && row.CallID != e.callID || row.Model != e.model || row.StatusCode != e.status || row.Success != e.success ||
			row.Streamed != e.streamed || row.EndedBy != e.endedBy {
			t.Errorf("%s: recorded %+v, want %+v", e.name, row, e)
		}
	}
	c.awaitCalls(app, 2*time.Second, len(record)) // rollups commit a moment after the rows
	c.checkTotals(app, enabled, len(record), successes, models)
}

func (c client) checkTotals(app string, enabled, calls, successes int, models map[string]metrics) {
	t := c.t
	t.Helper()
	check := func(what string, m metrics) {
		t.Helper()
		if m.Calls != calls || m.Successes != successes || m.Failures != calls-successes {
			t.Errorf("%s: %+v, want %d calls, %d successes", what, m, calls, successes)
		}
		rate := float64(successes*10000/calls) / 10000
		if m.SuccessRate == nil || *m.SuccessRate != rate || m.AvgDurationMs == nil || *m.AvgDurationMs <= 0 || m.P99Ms == nil {
			t.Errorf("%s: rate %v, average %v, want rate %v", what, m.SuccessRate, m.AvgDurationMs, rate)
		}
	}
	type modelRow struct {
		Model string
		metrics
	}
	type dayRow struct {
		Date string
		metrics
	}
	one := do[struct {
		Application   struct{ ID, Name, Status string }
		Summary       metrics
		Daily         []dayRow
		Models        []modelRow
		Missed        int
		DataThrough   string
		RetainedFrom  string
		CollectedFrom string
	}](c, "GET", "/api/statistics/applications/"+app, nil)
	check("application", one.Summary)
	if len(one.Daily) != 7 || one.Daily[6].Calls+one.Daily[5].Calls != calls || one.Missed != 0 || one.DataThrough == "" || one.Application.ID != app {
		t.Errorf("application: %+v", one)
	}
	got := map[string]metrics{}
	for _, m := range one.Models {
		got[m.Model] = metrics{Calls: m.Calls, Successes: m.Successes}
	}
	if !reflect.DeepEqual(got, models) {
		t.Errorf("models: %+v, want %+v", got, models)
	}
	overview := do[struct {
		ApplicationCount, EnabledCount int
		metrics
		Daily  []dayRow
		Models []modelRow
	}](c, "GET", "/api/statistics/applications/overview", nil)
	check("overview", overview.metrics)
	if overview.ApplicationCount != 1 || overview.EnabledCount != enabled || len(overview.Daily) != 7 {
		t.Errorf("overview: %+v", overview)
	}
	list := do[struct {
		Items []struct {
			ID, Name, Status, MaskedAccessKey string
			metrics
		}
		Total, Size int
	}](c, "GET", "/api/statistics/applications", nil)
	status := map[int]string{0: "disabled", 1: "active"}[enabled]
	if list.Total != 1 || list.Size != 10 || list.Items[0].ID != app || list.Items[0].Status != status || !strings.Contains(list.Items[0].MaskedAccessKey, "…") {
		t.Errorf("list: %+v", list)
	}
	check("list", list.Items[0].metrics)
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
	d := do[struct {
		callRow
		Failure struct {
			Collected bool
			Reason    struct {
				Type, Code, Message string
				UpstreamStatus      *int
			}
			Request     struct{ Method, Path string }
			RequestBody json.RawMessage
			BodyNote    *string
			Query       map[string]any
		}
	}](c, "GET", path, nil)
	f := d.Failure
	if !f.Collected || f.Reason.Type != e.reasonType || f.Reason.Code != e.reasonCode {
		t.Errorf("%s: reason %+v, want %s/%s", e.name, f.Reason, e.reasonType, e.reasonCode)
	}
	if e.message == "*" && f.Reason.Message == "" || e.message != "*" && f.Reason.Message != e.message {
		t.Errorf("%s: message %q, want %q", e.name, f.Reason.Message, e.message)
	}
	if got := value(f.Reason.UpstreamStatus); got != e.upstream {
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
	if e.query != nil && !reflect.DeepEqual(f.Query, e.query) {
		t.Errorf("%s: query %v, want %v", e.name, f.Query, e.query)
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
