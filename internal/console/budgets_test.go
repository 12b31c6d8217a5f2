package console

import (
	"fmt"
	"testing"
	"time"

	"callgate/internal/calls"
	"callgate/internal/openapi"
)

const gptBudget = "01920000-0000-7000-8000-0000000000bd"

// budgetGPT sets a budget of the capability gpt.
func (m *manager) budgetGPT() {
	m.t.Helper()
	if _, err := m.pool.Exec(m.t.Context(), `
		INSERT INTO budgets (id, scope, capability_id, period, amount, currency, action, unknown, thresholds, updated_by)
		VALUES ($1, 'capability', 'gpt', 'month', 100, 'USD', 'block', 'allow', '{50,80,100}', 'admin@example.com')`, gptBudget); err != nil {
		m.t.Fatal(err)
	}
}

// usedTokens stores a call of now with its tokens.
func (w *watcher) usedTokens(app, model string, input, output int) {
	w.t.Helper()
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model, input_tokens, output_tokens)
		VALUES ($1, fromUnixTimestamp64Milli($2), $3, $4, 10, 200, true, 'complete', 'reported', 'm', $5, $6)`,
		app, w.now.UnixMilli(), calls.NewCallID(w.now).String(), model, input, output)
}

// TestBudgetsAreWhatTheStatisticsShow of an application, its key, its owner and the capability, over, near and neither; what an
// application without one spends is listed.
func TestBudgetsAreWhatTheStatisticsShow(t *testing.T) {
	w := newWatcher(t)
	w.seed("gpt")
	w.priceGPT() // 2 and 8 dollars a million
	dev := w.developer("dev")
	app := field[string](t, dev.must(201, "POST", "/api/applications", `{"name":"Spender","capabilityIds":["gpt"]}`), "id")
	path := "/api/applications/" + app
	for range 3 {
		w.usedTokens(app, "gpt", 100_000, 10_000) // 0.28
	}
	uncovered := dataOf[openapi.UncoveredPage](t, w.admin.must(200, "GET", "/api/admin/budgets/uncovered", ""))
	if len(uncovered.Items) != 1 || uncovered.Items[0].ApplicationName != "Spender" || *uncovered.Items[0].Costs[0].Amount != "0.84" {
		t.Errorf("without a budget: %+v", uncovered.Items)
	}
	set := func(amount string) openapi.Budget {
		t.Helper()
		body := fmt.Sprintf(`{"budgets":[{"period":"month","amount":%q,"currency":"USD","action":"block","thresholds":[90,10,10]}]}`, amount)
		return dataOf[openapi.BudgetItems](t, dev.must(200, "PUT", path+"/budgets", body)).Items[0]
	}
	first := set("10")
	if first.State != "ok" || *first.Spent != "0.84" || *first.Left != "9.16" || *first.UnknownCalls != 0 || fmt.Sprint(first.Thresholds) != "[10 90]" {
		t.Errorf("%+v", first)
	}
	if b := set("1"); b.State != "near" || b.ID != first.ID {
		t.Errorf("a budget of the same period goes on: %+v", b)
	}
	if b := set("0.84"); b.State != "over" || *b.Left != "0" || *b.Percent != 100 {
		t.Errorf("%+v", b)
	}
	until := time.Now().Add(time.Hour).Format(time.RFC3339)
	raised := dataOf[openapi.Budget](t, dev.must(200, "POST", fmt.Sprintf("%s/budgets/%s/override", path, first.ID), fmt.Sprintf(`{"amount":"2","until":%q,"reason":" a release "}`, until)))
	if raised.State != "ok" || raised.Override == nil || raised.Override.Reason != "a release" || !raised.Override.Active || *raised.Left != "1.16" {
		t.Errorf("%+v", raised)
	}
	if b := dataOf[openapi.Budget](t, dev.must(200, "DELETE", fmt.Sprintf("%s/budgets/%s/override", path, first.ID), "")); b.State != "over" || b.Override != nil {
		t.Errorf("%+v", b)
	}
	owner := dataOf[openapi.BudgetItems](t, w.admin.must(200, "PUT", "/api/admin/budgets", `{"scope":"owner","owner":"DEV@example.com","budgets":[{"period":"month","amount":"0.9","currency":"USD","action":"warn"}]}`))
	if len(owner.Items) != 1 || owner.Items[0].State != "near" || owner.UpdatedAt == nil {
		t.Errorf("%+v", owner)
	}
	for state, want := range map[string]string{"over": "application", "near": "owner"} {
		found := dataOf[openapi.BudgetPage](t, w.admin.must(200, "GET", "/api/admin/budgets?state="+state, ""))
		if found.Total != 1 || found.Items[0].Scope != want {
			t.Errorf("%s: %+v", state, found)
		}
	}
	if found := dataOf[openapi.UncoveredPage](t, w.admin.must(200, "GET", "/api/admin/budgets/uncovered", "")); found.Total != 0 {
		t.Errorf("with a budget that blocks: %+v", found)
	}
	for _, wrong := range []string{
		`{"budgets":[{"period":"year","amount":"1","currency":"USD","action":"block"}]}`, `{"budgets":[{"period":"day","amount":"0","currency":"USD","action":"block"}]}`,
		`{"budgets":[{"period":"day","amount":"1.1234567","currency":"USD","action":"block"}]}`, `{"budgets":[{"period":"day","amount":"1","currency":"usd","action":"block"}]}`,
		`{"budgets":[{"period":"day","amount":"1","currency":"USD","action":"stop"}]}`, `{"budgets":[{"period":"day","amount":"1","currency":"USD","action":"warn","thresholds":[0]}]}`,
		`{"budgets":[{"period":"day","amount":"1","currency":"USD","action":"warn"},{"period":"day","amount":"2","currency":"USD","action":"warn"}]}`,
	} {
		dev.must(400, "PUT", path+"/budgets", wrong)
	}
	if items := dataOf[openapi.BudgetItems](t, dev.must(200, "PUT", path+"/budgets", `{"budgets":[]}`)).Items; len(items) != 0 {
		t.Errorf("%+v", items)
	}
}
