package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"callgate/internal/nginxtest"
)

// TestServeWithSecretsThatDoNotFitDoesNotBecomeReadyAndSaysWhy: with another pepper every Access Key would be refused, and without
// the key that seals what is stored every call would fail. The right ones are ready, also on what the version before has left.
func TestServeWithSecretsThatDoNotFitDoesNotBecomeReadyAndSaysWhy(t *testing.T) {
	h := newInstallation(t)
	pepper, keys := "ACCESS_KEY_PEPPER="+strings.Repeat("another ", 6), "ENCRYPTION_KEYS="+encryptionKey("other")
	refused := func(role, setting, says string) {
		t.Helper()
		n := h.prepare(t, setting)
		n.role = role
		n.start(t)
		eventually(t, time.Minute, "the secrets are all that is missing", func() error {
			resp, err := http.Get(n.base + "/health/ready")
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			body, _ := io.ReadAll(resp.Body)
			if text := string(body); resp.StatusCode != 503 || strings.Count(text, `"down"`) != 1 || !strings.Contains(text, `"secrets":"down"`) {
				return fmt.Errorf("%d %s", resp.StatusCode, text)
			}
			return nil
		})
		time.Sleep(2 * time.Second) // it looks again meanwhile
		if n.ready.Load() {
			t.Errorf("a %s with %s is ready", role, setting)
		}
		n.leave(t)
		if !strings.Contains(n.said.String(), says) {
			t.Errorf("a %s does not say %q:\n%s", role, says, n.said)
		}
	}
	refused("gateway", pepper, "ACCESS_KEY_PEPPER is another one")
	refused("console", keys, "ENCRYPTION_KEYS lacks the key")
	if _, err := h.ledger.ExecContext(t.Context(), `DELETE FROM secret_fingerprints`); err != nil { // as the version before leaves it
		t.Fatal(err)
	}
	refused("console", pepper, "ACCESS_KEY_PEPPER is another one")
	refused("gateway", keys, "ENCRYPTION_KEYS lacks the key")
	h.node(t)
}

// TestKeysHeldToAddressesWorkBehindTheFront: a gateway that is told of the front, as compose tells it, knows who calls.
func TestKeysHeldToAddressesWorkBehindTheFront(t *testing.T) {
	h := newInstallation(t)
	gate := h.node(t, "TRUSTED_PROXIES=127.0.0.1")
	front := nginxtest.Start(t, []string{strings.TrimPrefix(gate.base, "http://")}, []string{"127.0.0.1:9"})
	bound := do[struct{ AccessKey string }](h.dev, "POST", "/api/applications/"+h.app+"/keys", object{"name": "bound", "allowedCidrs": []string{"127.0.0.5"}})
	for base, statuses := range map[string]map[string]int{
		front.Base: {"127.0.0.5": 200, "127.0.0.6": 403},
		gate.base:  {"127.0.0.5": 200, "127.0.0.6": 403},
	} {
		for from, want := range statuses {
			eventually(t, time.Minute, "a call from "+from, func() error {
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext}}
				req, err := http.NewRequestWithContext(t.Context(), "POST", base+"/gateway/v1/json?model=chat", strings.NewReader(`{}`))
				if err != nil {
					return err
				}
				req.Header.Set("Authorization", "Bearer "+bound.AccessKey)
				req.Header.Set("X-Real-IP", "127.0.0.5") // what a caller says of itself is not believed
				resp, err := client.Do(req)
				if err != nil {
					return err
				}
				defer func() { _ = resp.Body.Close() }()
				if body, _ := io.ReadAll(resp.Body); resp.StatusCode != want {
					return fmt.Errorf("at %s: %d %s, want %d", base, resp.StatusCode, body, want)
				}
				return nil
			})
		}
	}
}
