package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"callgate/internal/openapi"
)

// TestAKeysDayIsWhatTheStatisticsCountByKey: what two gateways count for a key is what was let through with it and what
// the calls name it for, in the console and for whoever holds it: at first, after a gateway was killed, after Redis lost
// everything, and after a gateway was started anew. A used-up key is refused by its own name, and holds no other key.
func TestAKeysDayIsWhatTheStatisticsCountByKey(t *testing.T) {
	h := newInstallation(t)
	gateways := []*node{h.node(t), h.node(t)}
	keys := "/api/applications/" + h.app + "/keys"
	batch := do[openapi.NewKey](h.dev, "POST", keys, object{"name": "Batch", "limits": object{"callsPerDay": 1_000_000, "requestsPerMinute": 1_000_000}})
	do[any](h.dev, "PATCH", "/api/applications/"+h.app+"/limits", object{"callsPerDay": 2_000_000})
	time.Sleep(1500 * time.Millisecond) // every gateway reads the limits each second
	let := int64(0)
	ask := func(method, url, key string) (status int, body string) {
		t.Helper()
		request, _ := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(`{}`))
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text)
	}
	call := func(gateway int, key string) (status int, body string) {
		t.Helper()
		status, body = ask("POST", gateways[gateway].base+"/gateway/v1/json?model=chat", key)
		if status == 200 && key == batch.AccessKey {
			let++
		}
		return status, body
	}
	some := func() {
		t.Helper()
		for i := range 8 {
			for _, key := range []string{batch.AccessKey, h.key} {
				if status, body := call(i%2, key); status != 200 {
					t.Fatalf("%d %s", status, body)
				}
			}
		}
		h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	}
	// counted is how many calls of the key the statistics have that were let through.
	counted := func() (n int64) {
		t.Helper()
		for page, total := 1, int64(1); int64(page-1)*10 < total; page++ {
			calls := do[openapi.CallPage](h.dev, "GET", fmt.Sprintf("/api/statistics/applications/%s/calls?page=%d", h.app, page), nil)
			total = calls.Total
			for _, c := range calls.Items {
				if c.KeyID != nil && *c.KeyID == batch.ID && c.StatusCode == 200 {
					n++
				}
			}
		}
		return n
	}
	rdb := redis.NewClient(redisOptions(t, h.environment["REDIS_URL"]))
	defer func() { _ = rdb.Close() }()
	same := func(when string) {
		t.Helper()
		eventually(t, time.Minute, "the ledger was asked", func() error {
			if !rdb.HExists(t.Context(), "callgate:limit:{"+batch.ID.String()+"}:day-calls", "based").Val() {
				return fmt.Errorf("not %s", when)
			}
			return nil
		})
		if n := counted(); n != let {
			t.Errorf("%s: the statistics have %d calls of the key, %d were let through", when, n, let)
		}
		eventually(t, time.Minute, "used is what is counted "+when, func() error {
			var shown, told *int64
			for _, k := range do[openapi.KeyItems](h.dev, "GET", keys, nil).Items {
				for _, u := range k.LimitsUsage {
					if k.ID == batch.ID && u.Name == "callsPerDay" {
						shown = u.Used
					}
				}
			}
			status, body := ask("GET", gateways[1].base+"/gateway/v1/usage", batch.AccessKey)
			var own openapi.OwnUsage
			if status == 429 {
				return fmt.Errorf("asked too often")
			}
			if err := json.Unmarshal([]byte(body), &own); status != 200 || err != nil || own.KeyID != batch.ID {
				t.Fatalf("%d %s", status, body)
			}
			for _, u := range own.Limits {
				if u.Scope == "key" && u.Name == "callsPerDay" {
					told = u.Used
				}
			}
			if shown == nil || told == nil || *shown != let || *told != let {
				return fmt.Errorf("%d were let through, the console says %v, its holder is told %v", let, known(shown), known(told))
			}
			return nil
		})
	}

	some()
	same("after the first calls")

	gateways[0].kill()
	gateways[0].start(t)
	gateways[0].awaitCalls(t, h.key)
	some()
	same("after a gateway was killed")

	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	some()
	same("after Redis lost everything")

	gateways[1].leave(t)
	gateways[1].start(t)
	gateways[1].awaitCalls(t, h.key)
	some()
	same("after a gateway was started anew")

	most := let + 5
	do[any](h.dev, "PATCH", keys+"/"+batch.ID.String(), object{"limits": object{"callsPerDay": most}})
	time.Sleep(1500 * time.Millisecond)
	last, refused := "", time.Time{}
	for ; refused.IsZero() || time.Since(refused) < 2*time.Second; time.Sleep(20 * time.Millisecond) {
		for i := range gateways {
			if status, body := call(i, batch.AccessKey); status == 429 && refused.IsZero() {
				refused, last = time.Now(), body
			}
			if status, body := call(i, h.key); status != 200 {
				t.Fatalf("another key is refused: %d %s", status, body)
			}
		}
	}
	if let != most || !strings.Contains(last, "key “Batch” may, by its own limit, make "+fmt.Sprint(most)+" calls a day") {
		t.Errorf("%d calls of %d, refused with %s", let, most, last)
	}
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	same("when it is used up")
}
