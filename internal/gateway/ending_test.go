package gateway

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"callgate/internal/access"
	"callgate/internal/calls"
)

// TestCallsThatAreEndedAreAnsweredOrCutAndRecordedSo: whatever they wait for. Those of others, and those let in since, go on.
func TestCallsThatAreEndedAreAnsweredOrCutAndRecordedSo(t *testing.T) {
	other := uuid.MustParse("0198a000-0000-4000-8000-00000000000f")
	for name, test := range map[string]struct {
		ending  access.Ending
		code    string
		reason  calls.ReasonCode
		message string
	}{
		"application": {access.Ending{ApplicationID: application, Version: 2}, "application_disabled", calls.ApplicationDisabled,
			"An administrator disabled the application and ended its running calls."},
		"capability": {access.Ending{CapabilityID: "m", Version: 1}, "capability_not_allowed", calls.CapabilityDisabled,
			"An administrator disabled the capability and ended its running calls."},
	} {
		t.Run(name, func(t *testing.T) {
			goOn := make(chan struct{})
			r := newRig(t, func(conn net.Conn, a asked) bool {
				if a.line == "POST /begun HTTP/1.1" || a.line == "POST /old HTTP/1.1" {
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhal\r\n")
				}
				<-goOn
				_, _ = io.WriteString(conn, okAnswer)
				return false
			}, func(c *Config) {
				grant := c.Grant
				c.Grant = func(ctx context.Context, recent *access.Recent, key []byte) (*access.Grant, error) {
					if string(key) == "cg-other" {
						return access.NewGrant(other, owner, true, 1, "path"), nil
					}
					return grant(ctx, recent, key)
				}
			})
			answered := func(raw string) chan answer {
				done := make(chan answer, 1)
				go func() { done <- r.ask(raw) }()
				return done
			}
			theirs := answered(post("/via/path/v1", "cg-other", "{}"))
			r.next()
			for _, none := range []access.Ending{{ApplicationID: application, Version: 1}, {CapabilityID: "m", Version: 0}, {CapabilityID: "x", Version: 9}} {
				r.gateway.End([]access.Ending{none}) // let in since, or of another
			}
			begun := answered(post("/via/m/begun", goodKey, "{}"))
			r.next()
			silent := answered(post("/via/m/silent", goodKey, "{}"))
			r.next()
			upload := r.dial()
			_, _ = io.WriteString(upload, "POST /via/m/upload HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer "+goodKey+"\r\nContent-Length: 9\r\n\r\nhalf")
			waitFor(t, func() bool {
				n, relayed := 0, 0
				r.gateway.supervisor.each(func(c *call) {
					c.mu.Lock()
					defer c.mu.Unlock()
					if n++; c.phase == relaying {
						relayed++
					}
				})
				return n == 4 && relayed == 1
			})
			for range 3 { // it is told again
				r.gateway.End([]access.Ending{test.ending, {CapabilityID: "x", Version: 9}})
			}
			if a := <-begun; a.StatusCode != 200 || a.err == nil || string(a.body) != "hal" {
				t.Errorf("an answer that has begun: %d %q %v", a.StatusCode, a.body, a.err)
			}
			for what, a := range map[string]answer{"waiting": <-silent, "uploading": r.read(bufio.NewReader(upload), "POST")} {
				if a.StatusCode != http.StatusForbidden || errorCode(a.body) != test.code || a.Header.Get("X-Should-Retry") != "false" {
					t.Errorf("%s: %d %v %s", what, a.StatusCode, a.Header, a.body)
				}
			}
			statuses := map[int]int{}
			for range 3 {
				record := r.record()
				statuses[record.StatusCode]++
				if record.EndedBy != calls.Revoked || record.ReasonCode != test.reason || record.Success || record.Failure == nil || record.Failure.Message != test.message {
					t.Errorf("record %+v", record)
				}
				if want := map[int]calls.ReasonType{403: calls.PermissionDenied, 499: calls.Interrupted}[record.StatusCode]; record.ReasonType != want {
					t.Errorf("record %+v", record)
				}
			}
			if statuses[403] != 2 || statuses[499] != 1 {
				t.Errorf("statuses %v", statuses)
			}
			close(goOn)
			if a := <-theirs; a.StatusCode != 200 {
				t.Errorf("another application's call: %d %s", a.StatusCode, a.body)
			}
			if record := r.record(); !record.Success || record.ApplicationID != other {
				t.Errorf("record %+v", record)
			}
		})
	}
}
