package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestAnOwnersCeilingIsOneForAllApplications: through two gateways, after one was started anew and after Redis lost
// everything. What a page shows as used is what was let through, at once.
func TestAnOwnersCeilingIsOneForAllApplications(t *testing.T) {
	const ceiling = 12
	h := newInstallation(t)
	gateways := []*node{h.node(t), h.node(t)}
	second, key := h.dev.application("Second", "chat")
	do[any](h.admin, "PUT", "/api/admin/limits", map[string]any{"scope": "owner", "owner": "dev@example.com", "callsPerDay": ceiling})
	for _, g := range gateways {
		g.awaitCalls(t, key)
	}
	let := 0
	call := func(gateway int, key string) (status int, sentence string) {
		t.Helper()
		request, _ := http.NewRequestWithContext(t.Context(), "POST", gateways[gateway].base+"/gateway/v1/json?model=chat", strings.NewReader(`{}`))
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, _ := io.ReadAll(answer.Body)
		if answer.StatusCode == 200 {
			let++
		}
		return answer.StatusCode, string(body)
	}
	used := func(want int64) {
		t.Helper()
		for _, app := range []string{h.app, second} {
			eventually(t, time.Minute, "used is what was let through", func() error {
				usage := do[struct {
					Items []struct {
						Name, Source string
						Limit, Used  *int64
					}
				}](h.dev, "GET", "/api/applications/"+app+"/limits/usage", nil)
				for _, item := range usage.Items {
					if item.Name == "callsPerDay" && item.Source == "owner" && *item.Limit == ceiling && item.Used != nil && *item.Used == want {
						return nil
					}
				}
				return fmt.Errorf("%d were let through, of the limits %+v", want, usage.Items)
			})
		}
	}
	time.Sleep(1500 * time.Millisecond) // every gateway reads the limits each second
	for i := range 5 {
		if status, body := call(i%2, h.key); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	first, err := h.dev.counted(h.app)
	if err != nil {
		t.Fatal(err)
	}
	h.dev.awaitThrough(second, time.Now(), 30*time.Second)
	others, err := h.dev.counted(second) // the calls that found the gateways ready
	if err != nil {
		t.Fatal(err)
	}
	used(int64(first + others))
	let = first + others
	use := func(when string) {
		t.Helper()
		last, refused := "", time.Time{}
		for ; refused.IsZero() || time.Since(refused) < 2*time.Second; time.Sleep(20 * time.Millisecond) {
			for i := range 4 {
				if status, body := call(i%2, []string{h.key, key}[i/2]); status == 429 && refused.IsZero() {
					refused, last = time.Now(), body
				}
			}
		}
		if let != ceiling || !strings.Contains(last, "All applications of the owner together") {
			t.Errorf("%s: %d calls of %d, refused with %s", when, let, ceiling, last)
		}
		used(ceiling)
	}
	use("at first")

	rdb := redis.NewClient(redisOptions(t, h.environment["REDIS_URL"]))
	defer func() { _ = rdb.Close() }()
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	use("after Redis lost everything")

	gateways[1].leave(t)
	gateways[1].start(t)
	gateways[1].awaitReady(t)
	use("after a gateway was started anew")
}
