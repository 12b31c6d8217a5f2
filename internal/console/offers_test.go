package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
)

// offerOf is a capability as a developer's list shows it.
func offerOf(t *testing.T, c *client, id string) openapi.Capability {
	t.Helper()
	all := dataOf[openapi.CapabilityItems](t, c.must(200, "GET", "/api/capabilities", "")).Items
	at := slices.IndexFunc(all, func(one openapi.Capability) bool { return one.ID == id })
	if at < 0 {
		t.Fatalf("%s is not listed", id)
	}
	return all[at]
}

// servedAs makes a capability in group g whose upstream knows it by another name.
func (m *manager) servedAs(id, model string) {
	m.t.Helper()
	m.admin.must(201, "POST", "/api/admin/capabilities", fmt.Sprintf(
		`{"id":%q,"name":%q,"groupId":"g","upstreamBaseUrl":"https://canary-host.example","upstreamKey":"sk-canary","upstreamModel":%q}`, id, id, model))
}

// TestTheShownPriceIsWhatACallOfTodayCosts: each capability's calls of today name the model m, and its figures' cost is worked out
// again from the price that is shown.
func TestTheShownPriceIsWhatACallOfTodayCosts(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed()
	today := beijing.Today(w.now)
	day := func(after int) string { return (today + beijing.Day(after)).String() }
	m, other, flex := "m", "other", "flex"
	cached, long := "0.05", int64(200_000)
	for _, c := range []struct {
		name   string
		prices []pricing.Draft
		shown  string // input; "" none
		others int64
	}{
		{"none", nil, "", 0},
		{"any", []pricing.Draft{{From: day(-3), Currency: "USD", Input: "0.000000000001", Output: "8"}}, "0.000000000001", 0},
		{"coming", []pricing.Draft{{From: day(1), Currency: "USD", Input: "1", Output: "8"}}, "", 0},
		{"newest", []pricing.Draft{
			{From: day(-3), Currency: "USD", Input: "1", Output: "8"}, {From: day(0), Currency: "CNY", Input: "2.5", Output: "9.999999999999"},
			{From: day(1), Currency: "USD", Input: "3", Output: "8"},
		}, "2.5", 0},
		{"own", []pricing.Draft{
			{From: day(-3), Currency: "USD", Input: "1", Output: "8"}, {UpstreamModel: &m, From: day(-9), Currency: "USD", Input: "4", Output: "8", Cached: &cached},
			{UpstreamModel: &other, From: day(-1), Currency: "USD", Input: "5", Output: "8"},
		}, "4", 2},
		{"long", []pricing.Draft{
			{From: day(-3), Currency: "USD", Input: "1", Output: "8"}, {Tier: &flex, From: day(-3), Currency: "USD", Input: "0.5", Output: "4"},
			{FromBand: &long, From: day(-3), Currency: "USD", Input: "2", Output: "16"},
		}, "1", 2},
	} {
		id := "price-" + c.name
		w.servedAs(id, m)
		for _, draft := range c.prices {
			draft.CapabilityID = id
			if _, err := pricing.New(w.pool).Put(t.Context(), managingAdmin, draft); err != nil {
				t.Fatal(c.name, err)
			}
		}
		dev := w.developer(c.name)
		app := w.application(dev, "app")
		w.usedTokens(app, id, 1_234_567, 89_012)
		of := offerOf(t, dev, id)
		details := dataOf[openapi.CapabilityDetails](t, dev.must(200, "GET", "/api/capabilities/"+id, ""))
		cost := dataOf[openapi.Overview](t, dev.must(200, "GET", "/api/statistics/applications/overview", "")).Models[0].Cost[0]
		if of.Price == nil {
			if c.shown != "" || cost.Amount != nil || len(details.Prices) != 0 || details.Price != nil {
				t.Errorf("%s: no price is shown, and the call costs %v of %v", c.name, cost.Amount, details.Prices)
			}
			continue
		}
		if of.Price.Input != c.shown || of.OtherPrices != c.others || int64(len(details.Prices)) != c.others+1 || details.Price.Input != c.shown {
			t.Errorf("%s: shown %+v and %d others; prices %+v", c.name, of.Price, of.OtherPrices, details.Prices)
		}
		amount := decimal.RequireFromString
		want := amount(of.Price.Input).Mul(decimal.NewFromInt(1_234_567)).Add(amount(of.Price.Output).Mul(decimal.NewFromInt(89_012))).Shift(-6)
		if cost.Amount == nil || !amount(*cost.Amount).Equal(want) || *cost.Currency != of.Price.Currency {
			t.Errorf("%s: a call costs %v %v, and %s %s by the price shown", c.name, *cost.Amount, *cost.Currency, want, of.Price.Currency)
		}
	}
}

// TestOnlyModelsOfOtherNamesHaveAPrice, as where answers name a dated model: it is shown, and says which.
func TestOnlyModelsOfOtherNamesHaveAPrice(t *testing.T) {
	m := newManager(t)
	m.seed()
	m.servedAs("dated", "m")
	for _, body := range []string{`"upstreamModel":"m-2","input":"2"`, `"upstreamModel":"m-1","fromBand":200000,"input":"3"`, `"upstreamModel":"m-1","input":"1"`} {
		m.admin.must(200, "PUT", "/api/admin/prices", `{"capabilityId":"dated","from":"2025-01-01","currency":"USD","output":"4",`+body+`}`)
	}
	dev := m.developer("dev")
	if of := offerOf(t, dev, "dated"); of.Price == nil || of.Price.Input != "1" || *of.Price.UpstreamModel != "m-1" || of.OtherPrices != 2 {
		t.Errorf("shown %+v", of)
	}
	m.admin.must(200, "POST", "/api/admin/prices/believed", `{"capabilityId":"dated","believed":true}`)
	if !offerOf(t, dev, "dated").CostBelieved {
		t.Error("that the provider is believed is not told")
	}
	if raw := dev.must(200, "GET", "/api/capabilities/dated", "").raw; strings.Contains(raw, managingAdmin) {
		t.Errorf("who entered the price is told: %s", raw)
	}
}

// TestAnOwnersCapabilitiesAreOfTheirOwnApplicationsAlone: what others have and call is in none of the answers that make the page.
func TestAnOwnersCapabilitiesAreOfTheirOwnApplicationsAlone(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed("gpt", "claude")
	w.priceGPT()
	ada, bob := w.developer("ada"), w.developer("bob")
	mine := field[string](t, ada.must(201, "POST", "/api/applications", `{"name":"mine","capabilityIds":["gpt"]}`), "id")
	field[string](t, ada.must(201, "POST", "/api/applications", `{"name":"second","capabilityIds":["gpt"]}`), "id")
	w.usedTokens(mine, "gpt", 1000, 10)
	seen := func() string {
		overview := dataOf[openapi.Overview](t, ada.must(200, "GET", "/api/statistics/applications/overview", ""))
		models, err := json.Marshal(overview.Models)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s %s %s", ada.must(200, "GET", "/api/capabilities", "").body.Data, ada.must(200, "GET", "/api/capabilities/gpt", "").body.Data, models)
	}
	before := seen()
	if of := offerOf(t, ada, "gpt"); of.ApplicationCount != 2 {
		t.Errorf("of %d applications", of.ApplicationCount)
	}
	theirs := field[string](t, bob.must(201, "POST", "/api/applications", `{"name":"theirs","capabilityIds":["gpt","claude"]}`), "id")
	for range 3 {
		w.usedTokens(theirs, "gpt", 5000, 10)
		w.called(theirs, "claude", 0, 9000, 502)
	}
	if after := seen(); after != before {
		t.Errorf("another owner's applications and calls show:\n%s\n%s", before, after)
	}
	if gpt, claude := offerOf(t, bob, "gpt"), offerOf(t, bob, "claude"); gpt.ApplicationCount != 1 || claude.ApplicationCount != 1 || claude.Price != nil {
		t.Errorf("the other owner's: %+v %+v", gpt, claude)
	}
}
