package console

import (
	"strings"
	"testing"
	"time"

	"callgate/internal/openapi"
)

const reconcilePath = "/api/admin/statistics/reconcile"

// TestAMonthsDaysAreThoseOfTheZoneAndABillIsHeldAgainstThem, partial and absent calls told apart.
func TestAMonthsDaysAreThoseOfTheZoneAndABillIsHeldAgainstThem(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt")
	w.priceGPT()
	app := w.application(w.developer("ada"), "mine")
	first := time.Now().UTC().AddDate(0, -1, 0)
	month := time.Date(first.Year(), first.Month(), 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at            time.Time
		state         string
		input, output int
	}{
		{month.Add(-time.Millisecond), "reported", 7000, 700}, // of the month before
		{month, "reported", 100, 10},
		{month.Add(15*time.Hour + 59*time.Minute), "partial", 200, 20},
		{month.Add(16 * time.Hour), "reported", 400, 40}, // the next day in Beijing
		{month.Add(17 * time.Hour), "absent", 0, 0},
		{month.Add(18 * time.Hour), "none", 0, 0},
	} {
		w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model, input_tokens, output_tokens)
			SELECT $1, fromUnixTimestamp64Milli($2), generateUUIDv4(), 'gpt', 5, 200, true, 'complete', $3, if($3 = 'none', '', 'GPT-2026'), nullIf($4, 0), nullIf($5, 0)`,
			app, c.at.UnixMilli(), c.state, c.input, c.output)
	}
	query := "?month=" + month.Format("2006-01")
	items := dataOf[openapi.InvoiceCounts](t, w.admin.must(200, "GET", reconcilePath+query, "")).Items
	if len(items) != 2 {
		t.Fatalf("%+v", items)
	}
	day := month.Format(time.DateOnly)
	if none := items[0]; none.Date != day || none.UpstreamModel != "" || none.Calls != 1 || none.OtherCalls != 1 || none.Input != 0 || len(none.Cost) != 0 {
		t.Errorf("without an answer: %+v", none)
	}
	if i := items[1]; i.Date != day || i.Model != "gpt" || i.UpstreamModel != "GPT-2026" || i.Calls != 4 || i.ReportedCalls != 2 || i.PartialCalls != 1 || i.AbsentCalls != 1 ||
		i.Input != 700 || i.Output != 70 || len(i.Cost) != 1 || *i.Cost[0].Amount != "0.00196" || i.Cost[0].PricedCalls != 3 {
		t.Errorf("%+v", i)
	}
	beijing := dataOf[openapi.InvoiceCounts](t, w.admin.must(200, "GET", reconcilePath+query+"&zone=Asia/Shanghai", "")).Items
	byDay := map[string]int64{}
	for _, i := range beijing {
		byDay[i.Date] += i.Input
	}
	if byDay[day] != 7300 || byDay[month.AddDate(0, 0, 1).Format(time.DateOnly)] != 400 {
		t.Errorf("in Beijing: %v", byDay)
	}
	file := "date,model,input_tokens,output_tokens,cost,currency\n" + day + ",gpt-2026,900,80,0.0025,USD\n" + month.AddDate(0, 0, -1).Format(time.DateOnly) + ",gpt-2026,7000,700,1,USD\n"
	held := dataOf[openapi.InvoiceComparison](t, w.admin.must(200, "POST", reconcilePath+query, file))
	if held.Lines != 1 || held.IgnoredLines != 1 || len(held.Items) != 2 {
		t.Fatalf("%+v", held)
	}
	if i := held.Items[1]; i.Model != "gpt-2026" || *i.Counted.Input != 700 || *i.Billed.Input != 900 || *i.Difference.Input != 200 || *i.Difference.Output != 10 || i.Difference.Cached != nil ||
		i.PartialCalls != 1 || i.AbsentCalls != 1 || i.UnpricedCalls != 0 || len(i.Difference.Cost) != 1 || i.Difference.Cost[0].Amount != "0.00054" || i.CapabilityIDs[0] != "gpt" {
		t.Errorf("%+v", i)
	}
	w.admin.mustRefuse("GET", reconcilePath, "", "month")
	w.admin.mustRefuse("GET", reconcilePath+"?month=2026-13", "", "month")
	// There the first of the month begins at one o'clock: midnight is left out.
	if october := dataOf[openapi.InvoiceCounts](t, w.admin.must(200, "GET", reconcilePath+"?month=2023-10&zone=America/Asuncion", "")); october.Month != "2023-10" {
		t.Errorf("asked for October, told of %s", october.Month)
	}
	w.admin.mustRefuse("GET", reconcilePath+query+"&zone=Asia/Kolkata", "", "zone")
	w.admin.mustRefuse("GET", reconcilePath+query+"&zone=../../etc/passwd", "", "zone")
	for _, zone := range []string{"Local", "zone.tab", "Asia", "Asia/..", "/etc/localtime", "UTC%00", "Asia/Shanghai%0a", strings.Repeat("A/", 3) + "A", strings.Repeat("A", 5000), "Australia/Eucla"} {
		w.admin.mustRefuse("GET", reconcilePath+query+"&zone="+zone, "", "zone")
	}
	for _, month := range []string{"1999-12", "2101-01", "2026-1", "2026-00", "2026-10-01", "-026-10", "%202026-10", "2026-10%00", "9999999-10"} {
		w.admin.mustRefuse("GET", reconcilePath+"?month="+month, "", "month")
	}
	for _, month := range []string{"2000-01", "2100-12"} { // nothing of them is known
		if known := dataOf[openapi.InvoiceCounts](t, w.admin.must(200, "GET", reconcilePath+"?month="+month, "")); len(known.Items) != 0 || known.Month != month {
			t.Errorf("%+v", known)
		}
	}
	twice := dataOf[openapi.InvoiceComparison](t, w.admin.must(200, "POST", reconcilePath+query, "date,model,input_tokens\n"+strings.Repeat(day+",gpt-2026,100000000000000\n", 20_000)))
	if twice.Lines != 20_000 || *twice.Items[1].Difference.Input != 2_000_000_000_000_000_000-700 {
		t.Errorf("lines of one day and model: %+v", twice)
	}
	w.admin.mustRefuse("POST", reconcilePath+query, "date;model;cost;currency\n"+day+";gpt-2026;0,50;EUR\n", "line 2")
	w.admin.mustRefuse("POST", reconcilePath+query, "date,model,input_tokens\n"+day+",m,many\n"+day+",,5\n", "line 2", "line 3")
	w.admin.must(413, "POST", reconcilePath+query, strings.Repeat("x", maxBody+1))
}
