package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

func TestStatisticsShowWhatTheOwnersApplicationsDid(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed("gpt", "claude")
	ada, eve := w.developer("ada"), w.developer("eve")
	var ids []string
	for i := range 11 {
		ids = append(ids, w.application(ada, fmt.Sprintf("app %d", i)))
	}
	theirs := w.application(eve, "theirs")
	ada.must(200, "PATCH", "/api/applications/"+ids[0]+"/status", `{"status":"disabled"}`)
	w.called(ids[0], "gpt", 3*time.Minute, 10, 200)
	w.called(ids[0], "gpt", 2*time.Minute, 20, 502)
	w.called(ids[0], "claude", time.Minute, 33, 200)
	w.called(ids[10], "", time.Minute, 40, 400)
	w.called(theirs, "gpt", time.Minute, 50, 200)
	if _, err := w.pool.Exec(t.Context(), `INSERT INTO dropped_calls (day, application_id, spool_id, calls) VALUES ($1::date, $2, $2, 3)`,
		beijing.Today(w.now).String(), ids[0]); err != nil {
		t.Fatal(err)
	}
	today := beijing.Today(w.now).String()

	overview := ada.must(200, "GET", "/api/statistics/applications/overview", "")
	same(t, overview, map[string]string{"applicationCount": "11", "enabledCount": "10", "calls": "4", "successes": "2", "failures": "2",
		"successRate": "0.5", "avgDurationMs": "25.8", "p50Ms": "20", "p99Ms": "40", "missed": "3", "end": `"` + today + `"`})
	whole := dataOf[openapi.Overview](t, overview)
	if daily := whole.Daily; len(daily) != 7 || daily[6].Calls != 4 || daily[5].Calls != 0 || daily[5].SuccessRate != nil {
		t.Errorf("daily %+v", daily)
	}
	if models := whole.Models; len(models) != 3 || models[0].Model != "gpt" || models[0].Name != "Name of gpt" || models[0].Calls != 2 || models[1].Model != "" {
		t.Errorf("models %v", models)
	}
	for _, at := range []string{whole.DataThrough, whole.CollectedSince} {
		if _, err := time.Parse("2006-01-02T15:04:05.000+08:00", at); err != nil {
			t.Error(err)
		}
	}

	first := ada.must(200, "GET", "/api/statistics/applications?start="+today, "")
	second := ada.must(200, "GET", "/api/statistics/applications?page=2&end="+today, "")
	same(t, first, map[string]string{"total": "11", "page": "1", "size": "10", "start": `"` + today + `"`, "missed": "0"})
	items := append(dataOf[openapi.ApplicationUsagePage](t, first).Items, dataOf[openapi.ApplicationUsagePage](t, second).Items...)
	if len(items) != 11 || items[0].ID.String() != ids[10] || items[0].Calls != 1 || items[10].ID.String() != ids[0] || items[10].Status != "disabled" ||
		items[10].Failures != 1 || items[5].Calls != 0 || items[5].SuccessRate != nil || items[5].AvgDurationMs != nil {
		t.Errorf("items %v", items)
	}
	same(t, ada.must(200, "GET", "/api/statistics/applications?page=3", ""), map[string]string{"total": "11", "items": "[]"})
	if _, err := w.pool.Exec(t.Context(), `UPDATE applications SET owner_status = status, status = 'disabled', administrator_disabled_at = now(),
		administrator_disabled_by = $2, administrator_reason = 'It calls without end' WHERE id = $1`, ids[10], managingAdmin); err != nil {
		t.Fatal(err)
	}
	held := ada.must(200, "GET", "/api/statistics/applications?start="+today, "")
	if by := dataOf[openapi.ApplicationUsagePage](t, held).Items[0].DisabledByAdministrator; by == nil || by.Reason != "It calls without end" || strings.Contains(held.raw, managingAdmin) {
		t.Errorf("their owner is told %s", held.raw)
	}

	one := ada.must(200, "GET", "/api/statistics/applications/"+ids[0], "")
	if summary := dataOf[openapi.ApplicationStatistics](t, one).Summary; summary.Calls != 3 || *summary.SuccessRate != 0.6666 || *summary.AvgDurationMs != 21 {
		t.Errorf("summary %+v", summary)
	}
	same(t, one, map[string]string{"missed": "3", "application": `{"id":"` + ids[0] + `","name":"app 0","status":"disabled"}`})

	ada.must(200, "DELETE", "/api/applications/"+ids[0], "")
	same(t, ada.must(200, "GET", "/api/statistics/applications/overview", ""), map[string]string{"applicationCount": "10", "calls": "1", "missed": "0"})
	for _, path := range []string{ids[0], ids[0] + "/calls", theirs, theirs + "/calls", theirs + "/calls.csv", theirs + "/calls/" + uuid.NewString(), "x", ids[1] + "/calls/x"} {
		if r := ada.must(404, "GET", "/api/statistics/applications/"+path, ""); r.body.Code != 40401 {
			t.Errorf("%s: %s", path, r.raw)
		}
	}
}

// same compares fields of the data with their JSON.
func same(t *testing.T, r *reply, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got := field[json.RawMessage](t, r, name); !sameJSON(got, value) {
			t.Errorf("%s is %s, want %s", name, got, value)
		}
	}
}

func TestTheCallFlowFiltersAndExplainsFailures(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	ada := w.developer("ada")
	app := w.application(ada, "app")
	good := w.called(app, "gpt", 3*time.Minute, 10, 200)
	bad := w.called(app, "claude", 2*time.Minute, 20, 502)
	w.called(app, "", time.Minute, 30, 502)
	w.called(app, "old", 100*24*time.Hour, 30, 200)
	w.exec(`INSERT INTO call_failures (application_id, start_time, call_id, message, method, path, request_body, query)
		SELECT application_id, start_time, call_id, 'overloaded', 'POST', '/v1/x', '{"n":1}', '{"model":"claude"}' FROM calls WHERE call_id = '` + bad.String() + `'`)
	base := "/api/statistics/applications/" + app + "/calls"

	all := ada.must(200, "GET", base, "")
	same(t, all, map[string]string{"total": "3", "page": "1", "size": "10", "summary": `{"calls":3,"successes":1,"failures":2}`,
		"models": `["","claude","gpt","old"]`})
	want := fmt.Sprintf(`{"callId":"%s","startTime":"%s","model":"gpt","success":true,"statusCode":200,"durationMs":10,"endedBy":"complete","streamed":false,"firstByteMs":null,
		"upstreamId":null,"attempts":0,"attemptList":[],"usageState":null,"upstreamModel":null,"inputTokens":null,"outputTokens":null,"cachedTokens":null,"cacheWriteTokens":null,"reasoningTokens":null,"estimatedTokens":null,"lines":[],"answerId":null,"reportedCost":null,"cost":[],"keyId":null,"tags":{},"user":null,"reason":null}`,
		good, beijing.Format(w.now.Add(-3*time.Minute)))
	if items := field[[]json.RawMessage](t, all, "items"); len(items) != 3 || !sameJSON(items[2], want) {
		t.Errorf("oldest item %s, want %s", items[2], want)
	}
	same(t, ada.must(200, "GET", base+"?model=gpt", ""), map[string]string{"total": "1", "summary": `{"calls":1,"successes":1,"failures":0}`})
	same(t, ada.must(200, "GET", base+"?model=", ""), map[string]string{"total": "1", "summary": `{"calls":1,"successes":0,"failures":1}`})
	same(t, ada.must(200, "GET", base+"?result=failure", ""), map[string]string{"total": "2", "summary": `{"calls":3,"successes":1,"failures":2}`})
	same(t, ada.must(200, "GET", base+"?result=success&page=2", ""), map[string]string{"total": "1", "items": "[]"})
	same(t, ada.must(200, "GET", base+"?model=%27%20OR%201%3D1%20--%0A", ""), map[string]string{"total": "0", "items": "[]"})

	detail := ada.must(200, "GET", base+"/"+bad.String(), "")
	same(t, detail, map[string]string{"statusCode": "502", "failure": `{"collected":true,"reason":{"type":"upstream_http_error","code":"upstream_status",` +
		`"message":"overloaded","upstreamStatus":502},"request":{"method":"POST","path":"/v1/x"},"requestBody":{"n":1},"query":{"model":"claude"},"bodyNote":null}`})
	if r := ada.must(404, "GET", base+"/"+good.String(), ""); r.body.Code != 40402 {
		t.Errorf("a success: %s", r.raw)
	}
	if r := ada.must(404, "GET", base+"/"+uuid.NewString(), ""); r.body.Code != 40401 {
		t.Errorf("no such call: %s", r.raw)
	}
}

func TestEveryStatisticsAnswerSaysFromWhenOnItCanKnow(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	ada := w.developer("ada")
	app := w.application(ada, "app")
	today := beijing.Today(w.now)
	since := (today - 3).Start().Add(15 * time.Hour)
	if _, err := w.pool.Exec(t.Context(), `UPDATE collection SET started_at = $1`, since); err != nil {
		t.Fatal(err)
	}
	w.called(app, "gpt", time.Minute, 10, 200)
	want := map[string]string{"collectedSince": `"` + beijing.Format(since) + `"`, "retainedFrom": `"` + (today - 399).String() + `"`}
	for _, path := range []string{"", "/overview", "/" + app, "/" + app + "/calls"} {
		for _, days := range []string{"", "?start=" + (today - 30).String(), "?start=" + (today - 365).String(),
			"?start=" + (today - 420).String() + "&end=" + (today - 390).String(), "?start=" + (today + 1).String() + "&end=" + (today + 1).String()} {
			same(t, ada.must(200, "GET", "/api/statistics/applications"+path+days, ""), want)
		}
	}
	daily := dataOf[openapi.Overview](t, ada.must(200, "GET", "/api/statistics/applications/overview?start="+(today-420).String()+"&end="+(today-390).String(), "")).Daily
	if len(daily) != 31 || daily[0].Calls != 0 || daily[0].Date != today-420 {
		t.Errorf("days beyond what is kept are not zero-filled: %+v", daily)
	}
}

func TestFaultyStatisticsParametersAreRefused(t *testing.T) {
	w := newWatcher(t)
	ada := w.developer("ada")
	app := w.application(ada, "app")
	f := func(path string, code int) {
		t.Helper()
		if r := ada.must(400, "GET", "/api/statistics/applications"+path, ""); r.body.Code != code {
			t.Errorf("%s: %s, want %d", path, r.raw, code)
		}
	}
	for _, route := range []string{"", "/overview", "/" + app, "/" + app + "/calls", "/" + app + "/calls.csv"} {
		f(route+"?start=2024-02-30", 40002)
		f(route+"?end=", 40002)
		f(route+"?end=2101-01-01", 40002)
		f(route+"?start=2024-01-02&end=2024-01-01", 40003)
		f(route+"?start=2023-01-01&end=2024-01-02", 40003)
	}
	for _, page := range []string{"0", "-1", "x", "1.5", "", "99999999999999999999"} {
		f("?page="+page, 40001)
		f("/"+app+"/calls?page="+page, 40001)
	}
	f("/"+app+"/calls?result=maybe", 40001)
	for _, instant := range []string{"", "14:05", "2026-08-17", "1999-12-31T23:59:59Z", "2026-02-30T00:00:00Z", "9999-01-01T00:00:00Z"} {
		f("/"+app+"/calls?until="+instant, 40001)
		f("/"+app+"/calls?at="+instant, 40001)
	}
	f("/"+app+"/calls?page=1&at=2026-08-17T14:05:00Z", 40001)
}

func TestTheCallFlowIsPagedAsOfOneInstantAndJumpedThroughByTime(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	ada := w.developer("ada")
	app := w.application(ada, "app")
	calls := "/api/statistics/applications/" + app + "/calls"
	arrive := func(ago time.Duration) {
		w.called(app, "gpt", ago, 10, 200, "stamped")
	}
	for i := range 25 {
		arrive(time.Duration(i) * time.Minute)
	}
	first := dataOf[openapi.CallPage](t, ada.must(200, "GET", calls, ""))
	arrive(-time.Second)
	arrive(90 * time.Second) // a long one, that started in between
	seen := map[string]int{}
	for page := 1; page <= 3; page++ {
		for _, until := range []string{url.QueryEscape(first.Until), first.Until} { // a plus is often left as it is
			r := ada.must(200, "GET", fmt.Sprintf("%s?page=%d&until=%s", calls, page, until), "")
			same(t, r, map[string]string{"total": "25", "summary": `{"calls":25,"successes":25,"failures":0}`, "until": `"` + first.Until + `"`})
			for _, c := range dataOf[openapi.CallPage](t, r).Items {
				seen[c.CallID.String()]++
			}
		}
	}
	for id, times := range seen {
		if times != 2 {
			t.Errorf("call %s is seen %d times on two rounds", id, times)
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d calls on the pages, want 25", len(seen))
	}
	same(t, ada.must(200, "GET", calls, ""), map[string]string{"total": "27"})

	at := url.QueryEscape(beijing.Format(w.now.Add(-15*time.Minute - time.Second)))
	r := ada.must(200, "GET", calls+"?until="+url.QueryEscape(first.Until)+"&at="+at, "")
	same(t, r, map[string]string{"page": "2", "total": "25"})
	if items := dataOf[openapi.CallPage](t, r).Items; items[6].StartTime != beijing.Format(w.now.Add(-16*time.Minute)) {
		t.Errorf("the page of %s begins at %s", at, items[0].StartTime)
	}
	same(t, ada.must(200, "GET", calls+"?at=2001-01-01T00:00:00Z", ""), map[string]string{"page": "3"})
	same(t, ada.must(200, "GET", calls+"?at=2100-01-01T00:00:00Z", ""), map[string]string{"page": "1"})
}

func TestTheExportIsTheWholeCallFlow(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	ada := w.developer("ada")
	app := w.application(ada, "app")
	for i := range 25 {
		w.called(app, "gpt", time.Duration(i)*time.Hour, 10, 200)
	}
	export := func(query string) (lines []string, header http.Header) {
		t.Helper()
		r, _ := ada.send("GET", "/api/statistics/applications/"+app+"/calls.csv"+query, "")
		if r.status != 200 {
			t.Fatalf("%d %s", r.status, r.raw)
		}
		return strings.Split(strings.TrimSuffix(r.raw, "\n"), "\n"), r.header
	}
	lines, header := export("")
	if len(lines) != 26 || lines[0] != "\ufeff"+strings.Join(report.CallColumns, ",") || !strings.HasSuffix(lines[25], ",gpt,true,200,10,complete,false,,,,,,,,,,,,,,,,,,,,,") {
		t.Errorf("%d lines: %q … %q", len(lines), lines[0], lines[len(lines)-1])
	}
	if header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment;") {
		t.Errorf("%v", header)
	}
	for i, line := range lines[2:] {
		if strings.Split(line, ",")[1] >= strings.Split(lines[i+1], ",")[1] {
			t.Errorf("line %d is not older than the one before", i+2)
		}
	}
	if lines, _ := export("?result=failure"); len(lines) != 1 {
		t.Errorf("no failure, but %d lines", len(lines))
	}
}
