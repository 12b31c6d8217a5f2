package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// TestWhatABelievedProviderChargesIsOneNumber on the call, in its file, for its caller and in the statistics: 0 as well, and
// the prices' number again once nobody believes it any more.
func TestWhatABelievedProviderChargesIsOneNumber(t *testing.T) {
	charges := []string{"0.0012345", "0", "0.00000000015"}
	answered := 0
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"gen-%d","model":"m","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"cost":%s}}`, answered, charges[answered])
		answered++
	}))
	defer up.Close()
	p := startDev(t, map[string]string{})
	admin, dev := p.administrator(), p.developer("dev@example.com")
	admin.capability("router", up.URL, upstreamKey)
	do[any](admin, "PUT", "/api/admin/prices", object{"capabilityId": "router", "from": "2026-01-01", "currency": "USD", "input": "1", "output": "10"})
	do[any](admin, "POST", "/api/admin/prices/believed", object{"capabilityId": "router", "believed": true})
	app, key := dev.application("Believer", "router")
	j := &journey{process: p, key: key}
	eventually(t, time.Minute, "the gateway knows the key and the capability", func() error {
		if status, _, body := j.send("GET", "/v1/models", "", nil); status != 200 || !strings.Contains(string(body), `"router"`) {
			return fmt.Errorf("%d %s", status, body)
		}
		return nil
	})
	var made []string
	for range charges {
		_, header, _ := j.send("POST", "/v1/chat/completions?model=router", "application/json", []byte(`{"messages":[]}`))
		made = append(made, header.Get("X-Call-Id"))
	}
	dev.awaitCalls(app, time.Minute, len(made))
	same := func(when string, sum string, each ...string) {
		t.Helper()
		eventually(t, time.Minute, "the statistics have it "+when, func() error { // the rollups of an insert come one after another
			cost := do[openapi.ApplicationStatistics](dev, "GET", "/api/statistics/applications/"+app, nil).Summary.Cost
			if inDollars(cost) != sum || cost[0].PricedCalls != 3 {
				return fmt.Errorf("%+v, want %s", cost, sum)
			}
			return nil
		})
		file := dev.exported(app)
		for i, id := range made {
			call := do[openapi.Call](dev, "GET", "/api/calls/"+id, nil)
			if inDollars(call.Cost) != each[i] || call.ReportedCost == nil || len(call.Lines) != 1 || len(call.Lines[0].Meters) != 2 {
				t.Errorf("%s: call %d: %+v", when, i, call.CallFields)
			}
			if line := lineOf(file, id); !strings.Contains(line, ","+each[i]+",USD,") {
				t.Errorf("%s: the file says of call %d: %s, want %s", when, i, line, each[i])
			}
			status, body := p.lookUp(key, id)
			var told openapi.CallLookup
			if err := json.Unmarshal([]byte(body), &told); status != 200 || err != nil || inDollars(told.Cost) != each[i] {
				t.Errorf("%s: the caller is told %d %s", when, status, body)
			}
		}
		time.Sleep(time.Second) // a key may ask five times a second
	}
	same("believed", "0.0012345002", "0.0012345", "0", "0.0000000002")
	do[any](admin, "POST", "/api/admin/prices/believed", object{"capabilityId": "router", "believed": false})
	same("not believed", "0.006", "0.002", "0.002", "0.002")
}

func inDollars(costs []openapi.Cost) string {
	if len(costs) != 1 || costs[0].Currency == nil || *costs[0].Currency != "USD" {
		return fmt.Sprintf("%+v", costs)
	}
	return *costs[0].Amount
}

// lineOf is the line of a call in a file of them.
func lineOf(file, call string) string {
	for line := range strings.Lines(file) {
		if strings.Contains(line, call) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
