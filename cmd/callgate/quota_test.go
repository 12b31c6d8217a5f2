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

// TestADayQuotaIsWhatTheStatisticsCount: what gateways count and what the ledger has of the same calls is one number. It
// stays so once the ledger was asked, after a gateway was killed and another one ended, and after Redis lost everything.
func TestADayQuotaIsWhatTheStatisticsCount(t *testing.T) {
	h := newInstallation(t)
	gateways := []*node{h.node(t), h.node(t)} // each makes calls before there is a limit: the ledger alone has them
	do[any](h.dev, "PATCH", "/api/applications/"+h.app+"/limits", map[string]any{"callsPerDay": 1_000_000})
	time.Sleep(1500 * time.Millisecond) // every gateway reads the limits each second
	call := func() {
		t.Helper()
		for i := range 10 {
			request, _ := http.NewRequestWithContext(t.Context(), "POST", gateways[i%2].base+"/gateway/v1/json?model=chat", strings.NewReader(`{}`))
			request.Header.Set("Authorization", "Bearer "+h.key)
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode != 200 {
				t.Fatalf("a call is answered %d", answer.StatusCode)
			}
		}
		h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	}
	rdb := redis.NewClient(redisOptions(t, h.environment["REDIS_URL"]))
	defer func() { _ = rdb.Close() }()
	key := "callgate:limit:{" + h.app + "}:day-calls"
	same := func(when string) {
		t.Helper()
		eventually(t, time.Minute, "the ledger was asked", func() error {
			if !rdb.HExists(t.Context(), key, "based").Val() {
				return fmt.Errorf("not %s", when)
			}
			return nil
		})
		counted, err := h.dev.counted(h.app)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, time.Minute, "used is what is counted "+when, func() error {
			usage := do[struct {
				Items []struct {
					Name string
					Used *int64
				}
			}](h.dev, "GET", "/api/applications/"+h.app+"/limits/usage", nil)
			for _, item := range usage.Items {
				if item.Name == "callsPerDay" && item.Used != nil && *item.Used == int64(counted) {
					return nil
				}
			}
			return fmt.Errorf("%d calls are counted, of the limits %+v", counted, usage.Items)
		})
	}

	call()
	same("after the first calls")
	call()
	same("after more calls")

	gateways[0].kill()
	gateways[0].start(t)
	gateways[0].awaitCalls(t, h.key)
	call()
	same("after a gateway was killed")

	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	call() // the killed gateway's calls only the ledger has, the other one's both
	same("after Redis lost everything")

	gateways[1].leave(t)
	gateways[1].start(t)
	gateways[1].awaitCalls(t, h.key)
	call()
	same("after a gateway was started anew")
}

func redisOptions(t *testing.T, url string) *redis.Options {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return options
}
