package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// TestWhatOneOwnerTakesIsBoundedOnTwoGatewaysAndAfterTheirRestart: connections of all of the owner's applications together,
// concurrency, names of models, and what a used-up day tells; beside it another owner's calls are answered and counted.
func TestWhatOneOwnerTakesIsBoundedOnTwoGatewaysAndAfterTheirRestart(t *testing.T) {
	h := newInstallation(t)
	gateways := []*node{h.node(t, "MAX_UPSTREAM_CONNS=40"), h.node(t, "MAX_UPSTREAM_CONNS=40")}
	takers := []string{h.key}
	for i := range 3 {
		_, key := h.dev.application(fmt.Sprint("Taker ", i), "chat")
		takers = append(takers, key)
	}
	narrow, narrowKey := h.dev.application("Narrow", "chat")
	do[any](h.dev, "PATCH", "/api/applications/"+narrow+"/limits", object{"concurrency": 3})
	spent, spentKey := h.dev.application("Spent", "chat")
	do[any](h.dev, "PATCH", "/api/applications/"+spent+"/limits", object{"callsPerDay": 1})
	other := h.dev.developer("other@example.com")
	others, otherKey := other.application("Other", "chat")

	call := func(n *node, key, path, body string) (int, http.Header) {
		t.Helper()
		request, _ := http.NewRequestWithContext(t.Context(), "POST", n.base+"/gateway/v1/"+path+"?model=chat", strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode, answer.Header
	}
	// hold leaves calls unanswered, by turns of keys, and tells how many were refused at once.
	hold := func(n *node, calls int, keys ...string) (held []net.Conn, refused int) {
		t.Helper()
		for i := range calls {
			conn, err := net.Dial("tcp", strings.TrimPrefix(n.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = fmt.Fprintf(conn, "POST /gateway/v1/silent?model=chat HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}", keys[i%len(keys)])
			_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil && (strings.Contains(line, " 503 ") || strings.Contains(line, " 429 ")) {
				refused++
			}
			held = append(held, conn)
		}
		return held, refused
	}
	release := func(held []net.Conn) {
		for _, conn := range held {
			_ = conn.Close()
		}
	}
	named, kept := 0, 0
	check := func(when string) {
		for _, n := range gateways {
			for _, key := range append([]string{narrowKey, otherKey}, takers...) {
				n.awaitCalls(t, key)
			}
		}
		for i, n := range gateways {
			held, refused := hold(n, 60, takers...)
			if status, _ := call(n, otherKey, "json", `{}`); status != 200 || refused == 0 {
				t.Errorf("%s, gateway %d: beside %d held calls, %d of them refused, another owner's call is answered %d", when, i, len(held), refused, status)
			}
			release(held)
		}

		// One gateway had all slots; then calls come one at a time, by both.
		held, _ := hold(gateways[0], 6, narrowKey)
		release(held)
		time.Sleep(time.Second)
		refused := 0
		for range 10 {
			for _, n := range gateways {
				if status, _ := call(n, narrowKey, "json", `{}`); status == 429 {
					refused++
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
		if refused > 3 {
			t.Errorf("%s: %d of 20 calls, one at a time, are refused for the slots of another gateway", when, refused)
		}

		_, _ = call(gateways[0], spentKey, "json", `{}`)
		eventually(t, time.Minute, "both gateways know that the day is used up", func() error {
			for i, n := range gateways {
				status, header := call(n, spentKey, "json", `{}`)
				if status != 429 || header.Get("X-Should-Retry") != "false" || header.Get("Retry-After") != "" {
					return fmt.Errorf("gateway %d answers %d, %v", i, status, header)
				}
			}
			return nil
		})

		// Sixty names, by turns. Fifty count, and what the other gateway writes at the same moment; later ones do not.
		for range 60 {
			named++
			if status, _ := call(gateways[named%2], h.key, "named", fmt.Sprintf(`{"model":"taker-%d"}`, named)); status != 200 {
				t.Fatalf("%s: %d", when, status)
			}
		}
		if status, _ := call(gateways[0], otherKey, "named", fmt.Sprintf(`{"model":"other-%d"}`, named)); status != 200 {
			t.Fatalf("%s: %d", when, status)
		}
		now := time.Now()
		h.dev.awaitThrough(h.app, now, 30*time.Second)
		other.awaitThrough(others, now, 30*time.Second)
		names := map[string]int{}
		for page, read, total := 1, 0, 1; read < total; page++ {
			calls := do[openapi.CallPage](h.dev, "GET", fmt.Sprintf("/api/statistics/applications/%s/calls?page=%d&result=success", h.app, page), nil)
			read, total = read+len(calls.Items), int(calls.Total)
			for _, c := range calls.Items {
				if c.UpstreamModel != nil {
					names[*c.UpstreamModel]++
				}
			}
			if len(calls.Items) == 0 {
				break
			}
		}
		delete(names, "other")
		if len(names) < 50 || len(names) > 100 || kept > 0 && len(names) != kept {
			t.Errorf("%s: of %d names %d are kept, %d before", when, named, len(names), kept)
		}
		kept = len(names)
		newest := do[openapi.CallPage](other, "GET", "/api/statistics/applications/"+others+"/calls", nil)
		if len(newest.Items) == 0 || newest.Items[0].UpstreamModel == nil || *newest.Items[0].UpstreamModel != fmt.Sprintf("other-%d", named) {
			t.Errorf("%s: another owner's model is %+v", when, newest.Items)
		}
	}
	check("at first")
	for _, n := range gateways {
		n.leave(t)
		n.start(t)
	}
	check("after both were restarted")
}
