package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/shopspring/decimal"

	"callgate/internal/openapi"
)

// TestMoneyStopsAtTheBudget on two gateways, with budgets of a key, its application, its owner and the capability: the one that is
// used up refuses, at the call at which the statistics have its amount; also after a gateway was killed, Redis lost everything,
// and prices changed. What is spent is one number in the console, for the caller, and in the statistics.
func TestMoneyStopsAtTheBudget(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"id":"a","model":"m","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}`)
	}))
	defer up.Close()
	h := newInstallation(t)
	h.admin.capability("paid", up.URL, upstreamKey)
	h.admin.capability("free", up.URL, upstreamKey)
	price := func(input string) {
		t.Helper()
		do[any](h.admin, "PUT", "/api/admin/prices", object{"capabilityId": "paid", "from": "2026-01-01", "currency": "USD", "input": input, "output": "1000"})
	}
	price("100") // a call costs 0.2
	app, _ := h.dev.application("Spender", "paid", "free")
	gateways := []*node{h.node(t), h.node(t)}
	keys := "/api/applications/" + app + "/keys"
	batch := do[openapi.NewKey](h.dev, "POST", keys, object{"name": "Batch"})
	other := do[openapi.NewKey](h.dev, "POST", keys, object{"name": "Other"})
	do[any](h.dev, "PUT", keys+"/"+batch.ID.String()+"/budgets", object{"budgets": []object{{"period": "week", "amount": "2", "currency": "USD", "action": "block"}}})
	budgets := do[openapi.BudgetItems](h.dev, "PUT", "/api/applications/"+app+"/budgets", object{"budgets": []object{
		{"period": "day", "amount": "3.5", "currency": "USD", "action": "block"},
		{"period": "month", "amount": "0.5", "currency": "USD", "action": "warn"},
	}}).Items
	do[any](h.admin, "PUT", "/api/admin/budgets", object{"scope": "owner", "owner": "dev@example.com", "budgets": []object{{"period": "month", "amount": "1000", "currency": "USD", "action": "block"}}})
	do[any](h.admin, "PUT", "/api/admin/budgets", object{"scope": "capability", "capabilityId": "paid", "budgets": []object{{"period": "month", "amount": "1000", "currency": "USD", "action": "block"}}})
	time.Sleep(1500 * time.Millisecond) // every gateway reads the budgets each second

	let, last := 0, ""
	call := func(gateway int, key, model string) (status int, header http.Header) {
		t.Helper()
		request, _ := http.NewRequestWithContext(t.Context(), "POST", gateways[gateway].base+"/gateway/v1/chat/completions?model="+model, strings.NewReader(`{"messages":[]}`))
		request.Header.Set("Authorization", "Bearer "+key)
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var refused struct{ Error struct{ Message string } }
		if _ = json.NewDecoder(answer.Body).Decode(&refused); answer.StatusCode == 429 {
			last = refused.Error.Message
		} else if answer.StatusCode == 200 && model == "paid" {
			let++
		}
		return answer.StatusCode, answer.Header
	}
	// use calls through both in turn until both have refused for a while.
	use := func(key string) {
		t.Helper()
		for refused := (time.Time{}); refused.IsZero() || time.Since(refused) < 1500*time.Millisecond; time.Sleep(10 * time.Millisecond) {
			for gateway := range gateways {
				status, header := call(gateway, key, "paid")
				switch {
				case status == 200:
					refused = time.Time{}
				case status != 429 || header.Get("X-Callgate-Error") != "budget_exceeded" || header.Get("X-Should-Retry") != "false" || header.Get("Retry-After") != "":
					t.Fatalf("%d %v", status, header)
				case refused.IsZero():
					refused = time.Now()
				}
			}
		}
	}
	same := func(when string, calls int, spent string) {
		t.Helper()
		if let != calls {
			t.Fatalf("%s: %d calls were let through, want %d, refused with %s", when, let, calls, last)
		}
		h.dev.awaitThrough(app, time.Now(), 30*time.Second)
		eventually(t, 30*time.Second, "what is spent is one number "+when, func() error {
			cost := do[openapi.ApplicationStatistics](h.dev, "GET", "/api/statistics/applications/"+app, nil).Summary.Cost
			items := do[openapi.BudgetItems](h.dev, "GET", "/api/applications/"+app+"/budgets", nil).Items
			owners := do[openapi.BudgetPage](h.admin, "GET", "/api/admin/budgets?scope=owner", nil).Items
			capabilities := do[openapi.BudgetPage](h.admin, "GET", "/api/admin/budgets?scope=capability", nil).Items
			for _, told := range []*string{items[0].Spent, items[1].Spent, owners[0].Spent, capabilities[0].Spent, cost[0].Amount} {
				if told == nil || !decimal.RequireFromString(*told).Equal(decimal.RequireFromString(spent)) {
					return fmt.Errorf("%v and %v of %s", told, items, spent)
				}
			}
			return nil
		})
	}

	use(batch.AccessKey)
	same("when the key's is used up", 10, "2")
	if !strings.HasPrefix(last, "The budget of the application's key of 2 USD a week is used up. It begins anew on ") {
		t.Error(last)
	}
	use(other.AccessKey)
	same("when the application's is used up", 18, "3.6") // the call that reaches 3.5 is the last one
	if !strings.HasPrefix(last, "The application's budget of 3.5 USD a day is used up. It begins anew on ") {
		t.Error(last)
	}
	request, _ := http.NewRequestWithContext(t.Context(), "GET", gateways[1].base+"/gateway/v1/usage", nil)
	request.Header.Set("Authorization", "Bearer "+batch.AccessKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var own openapi.OwnUsage
	if err := json.NewDecoder(answer.Body).Decode(&own); answer.StatusCode != 200 || err != nil || len(own.Budgets) != 4 {
		t.Fatalf("%d %+v", answer.StatusCode, own)
	}
	for _, b := range own.Budgets {
		if want := map[string]string{"key": "2", "application": "3.6", "owner": "3.6"}[b.Scope]; b.Spent == nil || *b.Spent != want {
			t.Errorf("the caller is told %+v", b)
		}
	}

	gateways[0].kill()
	gateways[0].start(t)
	gateways[0].awaitCalls(t, h.key)
	use(other.AccessKey)
	same("after a gateway was killed", 18, "3.6")

	rdb := redis.NewClient(redisOptions(t, h.environment["REDIS_URL"]))
	defer func() { _ = rdb.Close() }()
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	use(other.AccessKey)
	same("after Redis lost everything", 18, "3.6")

	day := budgets[0].ID
	until := time.Now().Add(time.Hour).Format(time.RFC3339)
	do[any](h.dev, "POST", fmt.Sprintf("/api/applications/%s/budgets/%s/override", app, day), object{"amount": "4.6", "until": until, "reason": "a release"})
	time.Sleep(1500 * time.Millisecond)
	use(other.AccessKey)
	same("when another amount holds for a while", 23, "4.6")

	price("500") // all of it costs 0.6 a call
	time.Sleep(time.Second)
	same("when prices were wrong", 23, "13.8")
	use(other.AccessKey)
	same("when prices were wrong, and no call is let through", 23, "13.8")
	price("0") // 0.1 a call: 2.3 of 4.6, and of the key 1 of 2
	time.Sleep(3 * time.Second)
	use(batch.AccessKey)
	same("when prices were too high", 33, "3.3")
	use(other.AccessKey)
	same("when all is used up again", 46, "4.6")

	do[any](h.dev, "DELETE", fmt.Sprintf("/api/applications/%s/budgets/%s/override", app, day), nil)
	do[any](h.dev, "PUT", "/api/applications/"+app+"/budgets", object{"budgets": []object{{"period": "day", "amount": "100", "currency": "USD", "action": "block", "unknown": "block"}}})
	time.Sleep(1500 * time.Millisecond)
	for gateway := range gateways {
		if status, header := call(gateway, other.AccessKey, "free"); status != 429 || header.Get("X-Callgate-Error") != "cost_unknown" {
			t.Errorf("a call that nothing has a price for: %d %s", status, last)
		}
	}
}
