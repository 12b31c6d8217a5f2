package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"callgate/internal/openapi"
)

// TestEstimatedTokensAreUsedWhateverIsLost: what answers do not tell stays counted beside what they report, and apart from
// it, on two gateways, after one was killed with calls in its spool, after Redis lost everything, and after one was
// started anew. The statistics have what was reported, and nothing else.
func TestEstimatedTokensAreUsedWhateverIsLost(t *testing.T) {
	h := newInstallation(t)
	gateways := []*node{h.node(t), h.node(t)}
	do[any](h.dev, "PATCH", "/api/applications/"+h.app+"/limits", map[string]any{"tokensPerDay": 1_000_000_000})
	time.Sleep(1500 * time.Millisecond) // every gateway reads the limits each second
	ask := func(n *node, path string) *http.Response {
		t.Helper()
		request, _ := http.NewRequestWithContext(t.Context(), "POST", n.base+"/gateway/v1/"+path+"?model=chat", strings.NewReader(`{}`))
		request.Header.Set("Authorization", "Bearer "+h.key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != 200 {
			t.Fatalf("a call of %s is answered %d", path, answer.StatusCode)
		}
		return answer
	}
	told := func(n *node) {
		t.Helper()
		answer := ask(n, "told")
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	left := 0
	leave := func(n *node) {
		t.Helper()
		answer := ask(n, "stall")
		_, _ = io.ReadFull(answer.Body, make([]byte, len("data: 1")))
		_ = answer.Body.Close()
		left++
	}
	rdb := redis.NewClient(redisOptions(t, h.environment["REDIS_URL"]))
	defer func() { _ = rdb.Close() }()
	same := func(when string) {
		t.Helper()
		h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
		key := "callgate:limit:{" + h.app + "}:day-tokens"
		eventually(t, time.Minute, "used is reported and estimated "+when, func() error {
			if !rdb.HExists(t.Context(), key, "based").Val() {
				return fmt.Errorf("the ledger was not asked")
			}
			figures := do[openapi.ApplicationStatistics](h.dev, "GET", "/api/statistics/applications/"+h.app, nil).Summary.Tokens
			if figures.Input == nil || figures.Output == nil {
				return fmt.Errorf("nothing is reported")
			}
			reported := *figures.Input + *figures.Output
			for _, item := range do[openapi.LimitsUsage](h.dev, "GET", "/api/applications/"+h.app+"/limits/usage", nil).Items {
				if item.Name != "tokensPerDay" {
					continue
				}
				if item.Used == nil || item.Estimated == nil || *item.Used != reported+*item.Estimated || *item.Estimated < int64(800*left) || *item.Estimated > int64(800*left+100) {
					return fmt.Errorf("%d are reported, %d calls of 800 left, used %v, estimated %v", reported, left, known(item.Used), known(item.Estimated))
				}
			}
			return nil
		})
	}

	for _, n := range gateways {
		told(n)
		told(n)
		leave(n)
		leave(n)
	}
	same("after the first calls")
	calls := do[openapi.CallPage](h.dev, "GET", "/api/statistics/applications/"+h.app+"/calls", nil)
	for _, c := range calls.Items {
		if estimated := c.EstimatedTokens; (estimated != nil && *estimated == 800) != (c.EndedBy == "client_abort") || c.InputTokens != nil && estimated != nil {
			t.Errorf("a call that ended by %s has %v estimated, %v told", c.EndedBy, known(estimated), known(c.InputTokens))
		}
	}

	leave(gateways[0])
	leave(gateways[1])
	time.Sleep(500 * time.Millisecond) // until the gateway has noticed that its caller left, and wrote that down
	gateways[0].kill()
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	gateways[0].start(t)
	gateways[0].awaitReady(t)
	told(gateways[0])
	told(gateways[1])
	same("after a gateway was killed and Redis lost everything")

	gateways[1].leave(t)
	gateways[1].start(t)
	gateways[1].awaitReady(t)
	told(gateways[1])
	leave(gateways[1])
	leave(gateways[0])
	same("after a gateway was started anew")
}

// known prints a number that may not be known.
func known(n *int64) any {
	if n == nil {
		return "unknown"
	}
	return *n
}
