package console

import (
	"fmt"
	"strings"
	"testing"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/openapi"
)

// A price of the capability gpt, and a rate for it.
const (
	gptPrice = "01920000-0000-7000-8000-0000000000bb"
	yuanRate = "01920000-0000-7000-8000-0000000000bc"
)

func (m *manager) priceGPT() {
	m.t.Helper()
	if _, err := m.pool.Exec(m.t.Context(), `
		INSERT INTO prices (id, capability_id, from_day, currency, input, output, created_by, updated_by)
		VALUES ($1, 'gpt', '2025-01-01', 'USD', 2, 8, 'admin@example.com', 'admin@example.com')`, gptPrice); err != nil {
		m.t.Fatal(err)
	}
	if _, err := m.pool.Exec(m.t.Context(), `
		INSERT INTO rates (id, currency, to_currency, from_day, rate, created_by, updated_by)
		VALUES ($1, 'USD', 'CNY', '2025-01-01', 7.2, 'admin@example.com', 'admin@example.com')`, yuanRate); err != nil {
		m.t.Fatal(err)
	}
}

func TestPricesAreEnteredCorrectedListedAndTakenOut(t *testing.T) {
	m := newManager(t)
	m.seed("chat", "embed")
	const path = "/api/admin/prices"
	m.admin.mustEqual("GET", path, "", `{"items":[]}`)
	const base = `"capabilityId":"chat","from":"2026-08-01","currency":"CNY"`
	made := dataOf[openapi.Price](t, m.admin.must(200, "PUT", path, `{`+base+`,"input":"2.50","cached":"0.25","cacheWrite":null,"output":"8","upstreamModel":null}`))
	if made.Input != "2.5" || *made.Cached != "0.25" || made.CacheWrite != nil || made.UpstreamModel != nil || made.From.String() != "2026-08-01" || made.CreatedBy != managingAdmin {
		t.Errorf("made %+v", made)
	}
	corrected := dataOf[openapi.Price](t, m.admin.must(200, "PUT", path, `{`+base+`,"input":"3","output":"8"}`))
	if corrected.ID != made.ID || corrected.Input != "3" || corrected.Cached != nil || corrected.UpdatedAt <= made.UpdatedAt {
		t.Errorf("corrected %+v", corrected)
	}
	m.admin.must(200, "PUT", path, `{`+base+`,"upstreamModel":"large","input":"9","output":"9"}`)
	m.admin.must(200, "PUT", path, `{"capabilityId":"embed","from":"2100-12-31","currency":"USD","input":"0","output":"0"}`)
	for query, want := range map[string]string{"": "chat// chat/large/ embed//", "?capability=chat": "chat// chat/large/", "?capability=unknown": "", "?capability=": "chat// chat/large/ embed//"} {
		var listed []string
		for _, p := range dataOf[openapi.PriceItems](t, m.admin.must(200, "GET", path+query, "")).Items {
			name := ""
			if p.UpstreamModel != nil {
				name = *p.UpstreamModel
			}
			listed = append(listed, p.CapabilityID+"/"+name+"/")
		}
		if got := strings.Join(listed, " "); got != want {
			t.Errorf("%s lists %s, want %s", query, got, want)
		}
	}
	m.admin.must(200, "DELETE", path+"/"+made.ID.String(), "")
	m.admin.must(404, "DELETE", path+"/"+made.ID.String(), "")
	var told []string
	for _, e := range dataOf[openapi.AuditPage](t, m.admin.must(200, "GET", "/api/admin/audit?size=6", "")).Items {
		if strings.HasPrefix(e.Action, "price.") {
			told = append(told, e.Action+" "+e.TargetName)
		}
	}
	if got := strings.Join(told, ", "); got != "price.delete chat 2026-08-01, price.create embed 2100-12-31, price.create chat (large) 2026-08-01, price.update chat 2026-08-01, price.create chat 2026-08-01" {
		t.Errorf("the audit trail tells %s", got)
	}
}

func TestRatesAreEnteredCorrectedListedAndTakenAway(t *testing.T) {
	m := newManager(t)
	const path = "/api/admin/rates"
	m.admin.mustEqual("GET", path, "", `{"items":[]}`)
	const base = `"currency":"USD","toCurrency":"CNY"`
	made := dataOf[openapi.Exchange](t, m.admin.must(200, "PUT", path, `{`+base+`,"from":"2026-08-01","rate":"7.10"}`))
	if made.Rate != "7.1" || made.Currency != "USD" || made.ToCurrency != "CNY" || made.From.String() != "2026-08-01" || made.CreatedBy != managingAdmin {
		t.Errorf("made %+v", made)
	}
	corrected := dataOf[openapi.Exchange](t, m.admin.must(200, "PUT", path, `{`+base+`,"from":"2026-08-01","rate":"0.000000000001"}`))
	if corrected.ID != made.ID || corrected.Rate != "0.000000000001" || corrected.UpdatedAt <= made.UpdatedAt || corrected.CreatedAt != made.CreatedAt {
		t.Errorf("corrected %+v", corrected)
	}
	if again := dataOf[openapi.Exchange](t, m.admin.must(200, "PUT", path, `{`+base+`,"from":"2026-08-01","rate":"00.000000000001"}`)); again != corrected {
		t.Errorf("the same again: %+v", again)
	}
	m.admin.must(200, "PUT", path, `{`+base+`,"from":"2026-09-01","rate":"7.2"}`)
	for body, field := range map[string]string{
		`{` + base + `,"from":"2026-08-01","rate":"0"}`:                        "rate",
		`{` + base + `,"from":"2026-08-01","rate":"-1"}`:                       "rate",
		`{` + base + `,"from":"2026-08-01","rate":"7.1000000000001"}`:          "rate",
		`{` + base + `,"from":"","rate":"7"}`:                                  "from",
		`{"currency":"usd","toCurrency":"CNY","from":"2026-08-01","rate":"7"}`: "currency",
		`{"currency":"USD","toCurrency":"USD","from":"2026-08-01","rate":"7"}`: "toCurrency",
		`{"currency":"USD","toCurrency":"XXX","from":"2026-08-01","rate":"7"}`: "toCurrency",
	} {
		m.admin.mustRefuse("PUT", path, body, field)
	}
	var listed []string
	for _, e := range dataOf[openapi.ExchangeItems](t, m.admin.must(200, "GET", path, "")).Items {
		listed = append(listed, e.From.String()+" "+e.Rate)
	}
	if got := strings.Join(listed, ", "); got != "2026-09-01 7.2, 2026-08-01 0.000000000001" {
		t.Errorf("listed: %s", got)
	}
	m.admin.must(200, "DELETE", path+"/"+made.ID.String(), "")
	m.admin.must(404, "DELETE", path+"/"+made.ID.String(), "")
	var told []string
	for _, e := range dataOf[openapi.AuditPage](t, m.admin.must(200, "GET", "/api/admin/audit?size=6", "")).Items {
		if strings.HasPrefix(e.Action, "rate.") {
			told = append(told, fmt.Sprint(e.Action, " ", e.TargetName, " ", e.Changes[0].From, " ", e.Changes[0].To))
		}
	}
	if got := strings.Join(told, ", "); got != "rate.delete USD CNY 2026-08-01 0.000000000001 <nil>, rate.create USD CNY 2026-09-01 <nil> 7.2, "+
		"rate.update USD CNY 2026-08-01 7.1 0.000000000001, rate.create USD CNY 2026-08-01 <nil> 7.1" {
		t.Errorf("the audit trail tells %s", got)
	}
}

func TestAPriceIsOfATierALengthAndMoreMeters(t *testing.T) {
	m := newManager(t)
	m.seed("chat")
	const path = "/api/admin/prices"
	const base = `"capabilityId":"chat","from":"2026-08-01","currency":"USD","input":"3","output":"15"`
	general := dataOf[openapi.Price](t, m.admin.must(200, "PUT", path, `{`+base+`,"tier":null,"cacheWrite1h":null}`))
	if general.Tier != nil || general.FromBand != 0 || general.Amounts == nil || len(general.Amounts) != 0 {
		t.Errorf("of any %+v", general)
	}
	made := dataOf[openapi.Price](t, m.admin.must(200, "PUT", path, `{`+base+`,"tier":"flex","fromBand":200000,"cacheWrite1h":"6.00","amounts":{"images":"0.04","milliseconds":"0.000000000001"}}`))
	if made.ID == general.ID || *made.Tier != "flex" || made.FromBand != 200_000 || fmt.Sprint(made.Amounts) != "map[cache_write_1h:6 images:0.04 milliseconds:0.000000000001]" {
		t.Errorf("made %+v", made)
	}
	if listed := dataOf[openapi.PriceItems](t, m.admin.must(200, "GET", path+"?capability=chat", "")).Items; len(listed) != 2 || fmt.Sprint(listed[1].Amounts) != fmt.Sprint(made.Amounts) {
		t.Errorf("listed %+v", listed)
	}
	m.admin.mustRefuse("PUT", path, `{`+base+`,"tier":"","fromBand":1,"amounts":{"images":"-1","output":"2"}}`, "tier", "fromBand", "amounts.images", "amounts.output")
	m.admin.mustRefuse("PUT", path, `{`+base+`,"amounts":{"images":0.04}}`, "amounts")
	m.admin.mustRefuse("PUT", path, `{`+base+`,"amounts":{"thoughts":"1"},"fromBand":null}`, "fromBand")
	m.admin.mustRefuse("PUT", path, `{`+base+`,"amounts":{"thoughts":"1"}}`, "amounts")
	m.admin.must(200, "DELETE", path+"/"+made.ID.String(), "")
}

func TestAWrongPriceIsRefusedFieldByField(t *testing.T) {
	m := newManager(t)
	m.seed("chat")
	const path = "/api/admin/prices"
	m.admin.mustRefuse("PUT", path, `{}`, "capabilityId", "from", "currency", "input", "output")
	m.admin.mustRefuse("PUT", path, `{"capabilityId":"chat","from":"2026-01-01","currency":"usd","input":"-1","cached":"","cacheWrite":"0.0000000000001","output":"1e3","upstreamModel":""}`,
		"currency", "input", "cached", "cacheWrite", "output", "upstreamModel")
	m.admin.mustRefuse("PUT", path, `{"capabilityId":null,"from":"2026-01-01","currency":null,"input":2,"output":"8"}`, "capabilityId", "currency", "input")
	m.admin.mustRefuse("PUT", path, `{"capabilityId":"none","from":"2026-01-01","currency":"USD","input":"2","output":"8"}`, "capabilityId")
	for _, day := range []string{"2026-02-30", "1999-12-31", "2101-01-01", "tomorrow"} {
		r := m.admin.must(400, "PUT", path, fmt.Sprintf(`{"capabilityId":"chat","from":%q,"currency":"USD","input":"2","output":"8"}`, day))
		if r.body.Code != 40002 {
			t.Errorf("from %s: %s", day, r.raw)
		}
	}
	m.admin.mustRefuse("GET", path+"?capability=%00", "", "capability")
	m.admin.mustEqual("GET", path, "", `{"items":[]}`)

	r, err := m.admin.sendIf(`"2026-08-17T09:31:00.000+08:00"`, "PUT", path, `{"capabilityId":"chat","from":"2026-01-01","currency":"USD","input":"2","output":"8"}`)
	if err != nil || r.status != 404 {
		t.Errorf("a correction of what is not there: %+v, %v", r, err)
	}
}

func TestSuggestionsNameTheirSourceAndChangeNothing(t *testing.T) {
	m := newManager(t)
	m.seed("chat")
	m.admin.must(200, "PATCH", "/api/admin/capabilities/chat", `{"upstreamModel":"gpt-5"}`)
	found := dataOf[openapi.PriceSuggestions](t, m.admin.must(200, "GET", "/api/admin/prices/suggestions?capability=chat", ""))
	if len(found.Items) == 0 || found.Items[0].Model != "gpt-5" || found.Items[0].Currency != "USD" || found.Source.License != "MIT" || found.Source.Package == "" || found.Source.Notice == "" {
		t.Errorf("suggested %+v", found)
	}
	other := dataOf[openapi.PriceSuggestions](t, m.admin.must(200, "GET", "/api/admin/prices/suggestions?capability=chat&upstreamModel=claude-sonnet-4-5", ""))
	if len(other.Items) == 0 || !strings.HasPrefix(other.Items[0].Model, "claude") {
		t.Errorf("suggested %+v", other.Items)
	}
	m.admin.mustRefuse("GET", "/api/admin/prices/suggestions?capability=none", "", "capability")
	m.admin.mustRefuse("GET", "/api/admin/prices/suggestions", "", "capability")
	m.admin.mustEqual("GET", "/api/admin/prices", "", `{"items":[]}`)
}

func TestWhatWasUsedThisWeekWithoutAPriceIsListed(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed("chat", "embed")
	app := w.application(w.developer("dev"), "app")
	reported := func(capability, model string, daysAgo, input, output int) {
		start := w.now.AddDate(0, 0, -daysAgo)
		w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model, input_tokens, output_tokens)
			VALUES ($1, fromUnixTimestamp64Milli($2), $3, $4, 10, 200, true, 'complete', 'reported', $5, $6, $7)`,
			app, start.UnixMilli(), calls.NewCallID(start).String(), capability, model, input, output)
	}
	reported("chat", "large", 0, 10, 1)
	reported("chat", "large", 6, 20, 2)
	reported("chat", "large", 7, 40, 4) // a week ago: not of these seven days
	reported("embed", "", 1, 5, 0)
	w.called(app, "embed", 0, 10, 500) // reports nothing

	today := beijing.Today(w.now)
	list := func() string {
		found := dataOf[openapi.Unpriced](t, w.admin.must(200, "GET", "/api/admin/prices/unpriced", ""))
		if found.Start != today-6 || found.End != today || found.Total != int64(len(found.Items)) {
			t.Errorf("%+v of %s", found, today)
		}
		var items []string
		for _, u := range found.Items {
			name := "none"
			if u.UpstreamModel != nil {
				name = *u.UpstreamModel
			}
			items = append(items, fmt.Sprintf("%s/%s %d %d %d %d", u.CapabilityID, name, u.Calls, u.Input, u.Output, today-u.LastDay))
		}
		return strings.Join(items, ", ")
	}
	if got := list(); got != "chat/large 2 30 3 0, embed/none 1 5 0 1" {
		t.Errorf("without prices: %s", got)
	}
	w.admin.must(200, "PUT", "/api/admin/prices", fmt.Sprintf(`{"capabilityId":"chat","from":"%s","currency":"USD","input":"2","output":"8"}`, today-3))
	if got := list(); got != "chat/large 1 20 2 6, embed/none 1 5 0 1" {
		t.Errorf("priced for four days: %s", got)
	}
	w.admin.must(200, "PUT", "/api/admin/prices", fmt.Sprintf(`{"capabilityId":"chat","upstreamModel":"large","from":"%s","currency":"USD","input":"2","output":"8"}`, today-6))
	w.admin.must(200, "PUT", "/api/admin/prices", fmt.Sprintf(`{"capabilityId":"embed","from":"%s","currency":"USD","input":"2","output":"8"}`, today-6))
	if got := list(); got != "" {
		t.Errorf("priced: %s", got)
	}
}
