package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAnApplicationIsMovedUnderCalls through two gateways: none fails, its figures go with it, and so does what holds for its
// new owner: within two seconds the ceiling, in which only the calls from then on count.
func TestAnApplicationIsMovedUnderCalls(t *testing.T) {
	h := newInstallation(t)
	gateways := []*node{h.node(t), h.node(t)}
	next := h.dev.developer("next@example.com")
	do[any](h.dev, "POST", "/api/alerts", object{
		"name": "Load fails", "kind": "failureRate", "targetType": "application", "targetId": h.app, "threshold": 20, "channels": []object{{"kind": "mail"}},
	})
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	before, err := h.dev.counted(h.app)
	if err != nil {
		t.Fatal(err)
	}

	load := &traffic{gateways: []string{gateways[0].base, gateways[1].base}, key: h.key, callers: 4, rate: 100}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); load.run(ctx, 0) }()
	time.Sleep(2 * time.Second)
	move := "/api/admin/applications/" + h.app + "/owner"
	do[any](h.admin, "PATCH", move, object{"owner": "next@example.com", "reason": "They have left"})
	if status, _ := h.dev.try("GET", "/api/statistics/applications/"+h.app, nil); status != 404 {
		t.Errorf("the former owner gets %d", status)
	}
	if _, err := next.counted(h.app); err != nil {
		t.Error(err)
	}
	time.Sleep(4 * time.Second)
	stop()
	<-ended
	if len(load.failed) > 0 || load.broken > 0 {
		t.Errorf("failed: %v, %d broken", load.failed, load.broken)
	}
	next.awaitThrough(h.app, time.Now(), 30*time.Second)
	if n, err := next.counted(h.app); err != nil || n != before+len(load.seen) {
		t.Errorf("%d calls are counted of %d, %v", n, before+len(load.seen), err)
	}
	for _, of := range []client{h.dev, next} {
		if alerts := do[struct{ Items []any }](of, "GET", "/api/alerts", nil); len(alerts.Items) != 0 {
			t.Errorf("alerts %v", alerts.Items)
		}
	}
	for to, says := range map[string]string{"dev@example.com": "moved the application Load to next@example.com", "next@example.com": "Load from dev@example.com to you"} {
		eventually(t, 10*time.Second, "both are told", func() error {
			if mails := h.engines.Mailbox().Mails(to); !strings.Contains(mails[0].Text, says) {
				return fmt.Errorf("%s was sent %q", to, mails[0].Text)
			}
			return nil
		})
	}

	// On to an owner who may make three calls a day.
	const ceiling = 3
	h.dev.developer("tight@example.com")
	do[any](h.admin, "PUT", "/api/admin/limits", object{"scope": "owner", "owner": "tight@example.com", "callsPerDay": ceiling})
	time.Sleep(1500 * time.Millisecond) // every gateway reads the limits each second
	do[any](h.admin, "PATCH", move, object{"owner": "tight@example.com"})
	time.Sleep(2 * time.Second)
	let, last := 0, ""
	for i := range 4 * ceiling {
		request, _ := http.NewRequestWithContext(t.Context(), "POST", gateways[i%2].base+"/gateway/v1/json?model=chat", strings.NewReader(`{}`))
		request.Header.Set("Authorization", "Bearer "+h.key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode == 200 {
			let++
		} else {
			last = string(body)
		}
	}
	if let != ceiling || !strings.Contains(last, "All applications of the owner together") {
		t.Errorf("%d calls were let through, the last answer was %s", let, last)
	}
	h.awaitNoDoubts(t)
	if out, err := operate(t, h.environment, "verify"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
