//go:build nightly

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"callgate/internal/openapi"
)

// TestThreeGatewaysHoldOneBudgetWhileRedisAndTheyAreLost: twelve callers ask for as much as they can for LIMITS_SECONDS (60), of a
// budget that is raised by fifty calls in each sixth of them: while all is well; while Redis hangs; while it is away; once it is
// back, empty; after a gateway was killed; and after prices were halved. No more is let through than the budget and what was in
// flight, nearly all of it is used while Redis is healthy, and what is spent is what was let through.
func TestThreeGatewaysHoldOneBudgetWhileRedisAndTheyAreLost(t *testing.T) {
	const callers, calls = 12, 50
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		time.Sleep(5 * time.Millisecond)
		_, _ = fmt.Fprint(w, `{"id":"a","model":"m","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}`)
	}))
	defer up.Close()
	seconds, _ := strconv.Atoi(os.Getenv("LIMITS_SECONDS"))
	part := time.Duration(max(seconds, 60)) * time.Second / 6
	h, port := newInstallation(t), quietAddress(t)
	_, port, _ = net.SplitHostPort(port)
	redis := startRedis(t, port)
	address := "REDIS_URL=redis://127.0.0.1:" + port + "/0"
	h.admin.capability("paid", up.URL, upstreamKey)
	price := func(input, output string) {
		do[any](h.admin, "PUT", "/api/admin/prices", object{"capabilityId": "paid", "from": "2026-01-01", "currency": "USD", "input": input, "output": output})
	}
	price("100", "1000") // a call costs 0.2
	app, key := h.dev.application("Spender", "paid")
	gateways := []*node{h.node(t, address), h.node(t, address), h.node(t, address)}
	raise := func(to int64) {
		do[any](h.dev, "PUT", "/api/applications/"+app+"/budgets", object{"budgets": []object{{"period": "month", "amount": decimal.New(to, -1).Mul(decimal.NewFromInt(2)).String(), "currency": "USD", "action": "block"}}})
	}
	raise(calls)
	time.Sleep(1500 * time.Millisecond) // every gateway reads the budgets each second
	var let, refused, other atomic.Int64
	var running sync.WaitGroup
	ended := make(chan struct{})
	for i := range callers {
		running.Go(func() {
			client := &http.Client{Timeout: 10 * time.Second}
			for {
				select {
				case <-ended:
					return
				case <-time.After(10 * time.Millisecond):
				}
				request, _ := http.NewRequestWithContext(t.Context(), "POST", gateways[i%3].base+"/gateway/v1/chat/completions?model=paid", strings.NewReader(`{"messages":[]}`))
				request.Header.Set("Authorization", "Bearer "+key)
				answer, err := client.Do(request)
				if err != nil { // the gateway was killed
					continue
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				switch answer.StatusCode {
				case 200:
					let.Add(1)
				case 429:
					refused.Add(1)
				default:
					other.Add(1)
				}
			}
		})
	}
	most := int64(calls)
	for i, fault := range []struct {
		name    string
		begin   func()
		healthy bool
	}{
		{"all is well", func() {}, true},
		{"Redis hangs", func() { _ = redis.Process.Signal(syscall.SIGSTOP) }, false},
		{"Redis is away", func() {
			_ = redis.Process.Signal(syscall.SIGCONT)
			_ = redis.Process.Kill()
			_ = redis.Wait()
		}, false},
		{"Redis is back, empty", func() { redis = startRedis(t, port) }, true},
		{"a gateway was killed", func() { gateways[0].kill(); gateways[0].start(t) }, true},
		{"prices were halved", func() { price("50", "500"); most *= 2 }, true},
	} {
		if fault.begin(); i > 0 {
			time.Sleep(time.Second)
			most += calls
			raise(map[bool]int64{true: most / 2, false: most}[fault.name == "prices were halved"])
		}
		time.Sleep(part)
		n := let.Load()
		t.Logf("%s: %d calls let through of %d", fault.name, n, most)
		if n > most+callers || fault.healthy && n < most*95/100 {
			t.Errorf("%s: %d calls let through of %d, %d callers", fault.name, n, most, callers)
		}
	}
	close(ended)
	running.Wait()
	t.Logf("%d let through, %d refused", let.Load(), refused.Load())
	if other.Load() > 0 {
		t.Errorf("%d answers of another kind", other.Load())
	}
	h.dev.awaitThrough(app, time.Now(), time.Minute)
	eventually(t, time.Minute, "what is spent is what was let through", func() error {
		spent := do[openapi.BudgetItems](h.dev, "GET", "/api/applications/"+app+"/budgets", nil).Items[0].Spent
		summary := do[openapi.ApplicationStatistics](h.dev, "GET", "/api/statistics/applications/"+app, nil).Summary
		want, cut := decimal.New(let.Load(), -1), decimal.New(callers/3, -1) // of which the killed gateway's callers did not hear
		if spent == nil || summary.Cost[0].Amount == nil || *summary.Cost[0].Amount != *spent || decimal.RequireFromString(*spent).Sub(want).Abs().GreaterThan(cut) {
			return fmt.Errorf("%v, %s by the callers, the statistics have %v", spent, want, summary.Cost)
		}
		return nil
	})
}
