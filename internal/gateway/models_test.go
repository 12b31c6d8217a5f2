package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"callgate/internal/access"
)

// listed are bodies of a list of models, and the capabilities in it.
type listed struct {
	Object string
	Data   []struct {
		ID, Object, OwnedBy string
		Created             int64
	}
}

func TestModelsWithoutOneNamedAreTheKeysEnabledBindingsAndNoCall(t *testing.T) {
	made := time.Unix(1_700_000_000, 0)
	r := newRig(t, answers(okAnswer), func(c *Config) {
		find := c.Capability
		c.Capability = func(id string) *access.Capability {
			if id == "dead" {
				return nil // bound a moment ago
			}
			capability := find(id)
			if capability != nil {
				capability.Created = made
			}
			return capability
		}
	})
	const want = `{"object":"list","data":[{"id":"m","object":"model","created":1700000000,"owned_by":"callgate"},` +
		`{"id":"path","object":"model","created":1700000000,"owned_by":"callgate"},{"id":"x-key","object":"model","created":1700000000,"owned_by":"callgate"}]}`
	conn := r.dial()
	br := bufio.NewReader(conn)
	ask := func(raw string) answer {
		_, _ = io.WriteString(conn, raw)
		method, _, _ := strings.Cut(raw, " ")
		return r.read(br, method)
	}
	for _, raw := range []string{ // one connection serves them all
		"GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n",
		"GET /gateway/v1/models?limit=100 HTTP/1.1\r\nHost: g\r\nX-Api-Key: " + goodKey + "\r\n\r\n",
		"GET http://gate/gateway/v1/models? HTTP/1.1\r\nHost: g\r\nX-Goog-Api-Key: " + goodKey + "\r\nContent-Length: 3\r\n\r\nabc",
		"HEAD /gateway/v1/models HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n",
		"GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\n" + key1 + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
	} {
		a := ask(raw)
		body := want
		if raw[0] == 'H' {
			body = ""
		}
		if a.StatusCode != 200 || string(a.body) != body || a.ContentLength != int64(len(want)) || a.Header.Get("Content-Type") != "application/json" ||
			a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Call-Id") != "" || a.Header.Get("X-Callgate-Error") != "" || a.Close {
			t.Errorf("%q: %d %v %s", raw, a.StatusCode, a.Header, a.body)
		}
	}
	if len(r.records) != 0 || len(r.asked) != 0 || r.gateway.supervisor.len() != 0 || r.gateway.shares.bytes.used.Load() != 0 {
		t.Errorf("%d records, %d asked upstream, %d in flight", len(r.records), len(r.asked), r.gateway.supervisor.len())
	}
	// All else is a call, or none of it is told.
	for raw, status := range map[string]int{
		"GET /gateway/v1/models?model=m HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                             200,
		"GET /via/m/v1/models HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                                       200,
		"GET /gateway/v1/models?model= HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                              400,
		"GET /gateway/v1/models/m?model=m HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                           200,
		"GET /gateway/v1/models/ HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                                    400,
		"DELETE /gateway/v1/models/m HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                                400,
		"GET /gateway/v1/models/m HTTP/1.1\r\nHost: g\r\nSec-Fetch-Mode: navigate\r\n" + key1 + "\r\n":       400,
		"GET /gateway/v1/models/m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer cg-disabled\r\n\r\n":          403,
		"GET /gateway/v1/models/m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer cg-made-up\r\n\r\n":           401,
		"POST /gateway/v1/models HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                                    400,
		"GET /via//v1/models HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n":                                        400,
		"GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\nSec-Fetch-Mode: navigate\r\n" + key1 + "\r\n":         400,
		"GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer cg-disabled\r\n\r\n":            403,
		"GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer cg-made-up\r\n\r\n":             401,
		"GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\nSec-Fetch-Dest: script\r\nX-Api-Key: cg-none\r\n\r\n": 400,
	} {
		a := r.ask(raw)
		if a.StatusCode != status || strings.Contains(string(a.body), `"list"`) {
			t.Errorf("%q: %d %s", raw, a.StatusCode, a.body)
		}
		if attributed := a.Header.Get("X-Call-Id") != ""; attributed {
			r.record()
		}
	}
}

// TestOneModelIsToldAboutIfTheKeyMayCallIt: whether another exists is nobody's business.
func TestOneModelIsToldAboutIfTheKeyMayCallIt(t *testing.T) {
	r := newRig(t, answers(okAnswer), func(c *Config) {
		find := c.Capability
		c.Capability = func(id string) *access.Capability {
			capability := find(id)
			if id == "x:1" {
				capability = &access.Capability{ID: id, Enabled: true}
			}
			if capability != nil {
				capability.Created = time.Unix(1_700_000_000, 0)
			}
			return capability
		}
		c.Grant = func(context.Context, *access.Recent, []byte) (*access.Grant, error) {
			return access.NewGrant(application, owner, true, 1, "m", "off", "gone", "x:1"), nil
		}
	})
	conn := r.dial()
	br := bufio.NewReader(conn)
	for asked, id := range map[string]string{ // one connection serves them all
		"GET /gateway/v1/models/m":         "m",
		"GET /gateway/v1/models/m?limit=1": "m",
		"HEAD /gateway/v1/models/m":        "m",
		"GET /gateway/v1/models/x:1":       "x:1",
		"GET /gateway/v1/models/x%3A1":     "x:1",
		"GET /gateway/v1/models/off":       "", // disabled
		"GET /gateway/v1/models/unbound":   "",
		"GET /gateway/v1/models/gone":      "", // bound, and deleted a moment ago
		"GET /gateway/v1/models/none":      "",
		"HEAD /gateway/v1/models/none":     "",
		"GET /gateway/v1/models/a/b":       "",
		"GET /gateway/v1/models/%":         "",
		"GET /gateway/v1/models/../chat":   "",
	} {
		_, _ = io.WriteString(conn, asked+" HTTP/1.1\r\nHost: g\r\n"+key1+"\r\n")
		method, _, _ := strings.Cut(asked, " ")
		a := r.read(br, method)
		status, code, body := 200, "", `{"id":"`+id+`","object":"model","created":1700000000,"owned_by":"callgate"}`
		if id == "" {
			status, code, body = 404, "model_not_found", string(refusedModel.body(openAI))
		}
		length := int64(len(body))
		if method == "HEAD" {
			body = ""
		}
		if a.StatusCode != status || string(a.body) != body || a.ContentLength != length || a.Header.Get("X-Callgate-Error") != code ||
			a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Call-Id") != "" || a.Close {
			t.Errorf("%q: %d %v %s", asked, a.StatusCode, a.Header, a.body)
		}
		if final := a.Header.Get("X-Should-Retry") == "false"; final != (status == 404) {
			t.Errorf("%q: x-should-retry %q", asked, a.Header.Get("X-Should-Retry"))
		}
	}
	if len(r.records) != 0 || len(r.asked) != 0 || r.gateway.supervisor.len() != 0 || r.gateway.shares.bytes.used.Load() != 0 {
		t.Errorf("%d records, %d asked upstream, %d in flight", len(r.records), len(r.asked), r.gateway.supervisor.len())
	}
}

func TestAListOfAsManyModelsAsCanBeBoundIsOneAnswer(t *testing.T) {
	var ids []string
	for i := range 500 {
		ids = append(ids, fmt.Sprintf("%s%03d", strings.Repeat("a", 61), i))
	}
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.Grant = func(context.Context, *access.Recent, []byte) (*access.Grant, error) {
			return access.NewGrant(application, owner, true, 1, ids...), nil
		}
		c.Capability = func(id string) *access.Capability { return &access.Capability{ID: id, Enabled: true} }
	})
	a := r.ask("GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\n" + key1 + "\r\n")
	var list listed
	if err := json.Unmarshal(a.body, &list); err != nil || len(list.Data) != 500 || list.Data[499].ID != ids[499] || len(a.body) > 100_000 {
		t.Errorf("%d of %d bytes, %v", len(list.Data), len(a.body), err)
	}
}

func TestAKeyThatMayNotCallIsToldNoModels(t *testing.T) {
	for name, c := range map[string]struct {
		ends     time.Time
		networks []netip.Prefix
		code     string
	}{
		"expired":   {time.Now().Add(-time.Hour), nil, "key_expired"},
		"elsewhere": {time.Time{}, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, "address_not_allowed"},
	} {
		r := keyRig(t, c.ends, c.networks, nil)
		for _, key := range []string{key1, "X-Api-Key: " + goodKey + "\r\n"} {
			a := r.ask("GET /gateway/v1/models HTTP/1.1\r\nHost: g\r\n" + key + "\r\n")
			if record := r.record(); a.StatusCode != 403 || a.Header.Get("X-Callgate-Error") != c.code || string(record.ReasonCode) != c.code {
				t.Errorf("%s: %d %s, recorded %+v", name, a.StatusCode, a.body, record)
			}
		}
	}
}
