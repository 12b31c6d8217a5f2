package console

import (
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/retention"
)

// TestAnswersSayHowLongIsKept: figures and calls each from their own day on, and never from one that was lost.
func TestAnswersSayHowLongIsKept(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	days := retention.Days{Statistics: 300, Calls: 60, Failures: 10}
	w.console.Retention, w.console.Report.Retention = days, days
	w.console.Stats.Keep(days)
	ada := w.developer("ada")
	app := w.application(ada, "app")
	today := beijing.Today(w.now)
	w.called(app, "gpt", 61*24*time.Hour, 10, 200)
	same(t, ada.must(200, "GET", "/api/config", ""), map[string]string{"statisticsRetentionDays": "300", "callRetentionDays": "60", "failureRetentionDays": "10"})
	from := func(figures, calls beijing.Day) {
		t.Helper()
		for path, day := range map[string]beijing.Day{"": figures, "/overview": figures, "/" + app: figures, "/" + app + "/calls": calls} {
			same(t, ada.must(200, "GET", "/api/statistics/applications"+path+"?start="+(today-90).String(), ""), map[string]string{"retainedFrom": `"` + (today - day).String() + `"`})
		}
	}
	from(300, 60)
	same(t, ada.must(200, "GET", "/api/statistics/applications/overview?start="+(today-90).String(), ""), map[string]string{"calls": "1"})
	same(t, ada.must(200, "GET", "/api/statistics/applications/"+app+"/calls?start="+(today-90).String(), ""), map[string]string{"total": "0"})

	if _, err := w.pool.Exec(t.Context(), `UPDATE collection SET statistics_days = 200`); err != nil { // this process was told more than migrate
		t.Fatal(err)
	}
	from(200, 60)
	if _, err := w.pool.Exec(t.Context(), `UPDATE collection SET statistics_from = $1, calls_from = $2`, (today - 100).String(), (today - 30).String()); err != nil {
		t.Fatal(err)
	}
	from(100, 30)
}
