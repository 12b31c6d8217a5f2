package console

import (
	"strings"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

// TestTheCallsOfAllOwnApplicationsAreOneList by pages of any size, as CSV and counted; those of others, of deleted applications and
// of ids that never were are not in it.
func TestTheCallsOfAllOwnApplicationsAreOneList(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	ada, eve := w.developer("ada"), w.developer("eve")
	app, other, gone := w.application(ada, "app"), w.application(ada, "other"), w.application(ada, "gone")
	theirs := w.application(eve, "theirs")
	for i := range 30 {
		of, status := app, 200
		if i%3 == 0 {
			of, status = other, 502
		}
		w.called(of, "gpt", time.Duration(i)*time.Second, 10, status)
		w.called(theirs, "gpt", time.Duration(i)*time.Second, 10, 200)
		w.called(gone, "gpt", time.Duration(i)*time.Second, 10, 200)
	}
	ada.must(200, "DELETE", "/api/applications/"+gone, "")

	const calls = "/api/statistics/calls"
	page := dataOf[openapi.OwnCallPage](t, ada.must(200, "GET", calls+"?size=25", ""))
	if page.Total != 30 || page.Size != 25 || len(page.Items) != 25 || page.Summary != (openapi.CallsSummary{Calls: 30, Successes: 20, Failures: 10}) {
		t.Errorf("%d of %d calls, %+v", len(page.Items), page.Total, page.Summary)
	}
	for i, c := range page.Items {
		want, name := app, "app"
		if i%3 == 0 {
			want, name = other, "other"
		}
		if c.Application.ID.String() != want || c.Application.Name != name {
			t.Errorf("call %d is of %+v, want %s", i, c.Application, name)
		}
	}
	strangers := "?application=" + theirs + "&application=" + gone + "&application=0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3"
	for query, want := range map[string]string{
		"": "30", "?application=" + other: "10", "?result=failure": "10", "?application=" + app + "&result=failure": "0",
		strangers: "0", strangers + "&application=" + app: "20", "?application=" + app + "&application=" + app: "20",
	} {
		same(t, ada.must(200, "GET", calls+query, ""), map[string]string{"total": want})
	}
	lines := strings.Split(textOf(t, ada, calls+".csv"), "\n")
	if len(lines) != 32 || lines[0] != "\ufeff"+strings.Join(report.OwnCallColumns, ",") || !strings.HasPrefix(lines[1], other+",other,") || !strings.HasPrefix(lines[2], app+",app,") {
		t.Errorf("%d lines: %q", len(lines), lines[:3])
	}
	if lines := strings.Split(textOf(t, ada, calls+".csv"+strangers), "\n"); len(lines) != 2 {
		t.Errorf("%d lines of strangers", len(lines))
	}
	same(t, ada.must(200, "GET", calls+"/facets?application="+app+"&status=200", ""), map[string]string{
		"application": `[{"value":"` + app + `","name":"app","calls":20}]`,
		"model":       `[{"value":"gpt","name":null,"calls":20}]`,
		"result":      `[{"value":"success","name":null,"calls":20}]`,
		"status":      `[{"value":"200","name":null,"calls":20}]`,
		"reason":      `[]`,
	})
	same(t, ada.must(200, "GET", calls+"/facets?"+strangers[1:], ""), map[string]string{"model": `[]`, "result": `[]`, "key": `[]`})

	today := beijing.Today(w.now)
	for query, says := range map[string]string{
		"?size=11": "must be 10, 25, 50 or 100", "?size=0": "must be an integer from 1 to 100", "?application=x": "must be the id of an application",
		"?" + strings.Repeat("application="+app+"&", 51):                    "must not be given more than 50 times",
		"?at=2026-01-01T00:00:00Z&page=1":                                   "must not be given together with page",
		"/facets?start=" + (today - 31).String() + "&end=" + today.String(): "must be at most 30 days before the end",
		".csv?application=" + app + "&result=maybe":                         "must be success or failure",
		"/facets?result=success&reason=timeout":                             "select failures",
	} {
		if got := ada.must(400, "GET", calls+query, ""); !strings.Contains(got.raw, says) {
			t.Errorf("%s: %s, want %q", query, got.raw, says)
		}
	}
}
