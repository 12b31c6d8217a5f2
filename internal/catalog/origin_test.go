package catalog

import (
	"context"
	"fmt"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"callgate/internal/audit"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
	"callgate/internal/upstream"
)

// A check leaves nothing that others could see: no stored key goes to another host by one.
func TestACheckSendsTheStoredKeyToItsOwnOriginOnly(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capabilityAt("https://api.example.com/v1", "a", "g", 0)
	for _, same := range []string{"https://API.EXAMPLE.com/v2", "https://api.example.com:443", "https://api.example.com/v1"} {
		if _, err := w.Update(w.Ctx, admin, "a", Settings{UpstreamBaseURL: &same}); err != nil {
			t.Errorf("%s: %v", same, err)
		}
	}
	before, err := w.Details(w.Ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	asked := ""
	here, heard := answering(t, 200)
	for _, other := range []string{
		"http://api.example.com/v1", "https://api.example.com:8443/v1", "https://api.example.org/v1", "https://api.example.com.evil.example/v1",
		"https://evil.example/api.example.com/v1", "https://xn--pi-lja.example.com/v1", "https://api.example.com./v1", here,
	} {
		for _, key := range []*string{nil, new("")} {
			_, err := w.Check(w.Ctx, admin, CheckRequest{ID: new("a"), UpstreamBaseURL: &other, UpstreamKey: key})
			databasetest.MustFail(t, err, fault.Invalid, "upstreamKey")
			if !strings.Contains(err.Error(), "again") {
				t.Errorf("%s: %v does not say why", other, err)
			}
		}
		asked += *heard
	}
	if after, err := w.Details(w.Ctx, "a"); err != nil || !reflect.DeepEqual(after, before) || asked != "" {
		t.Fatalf("kept %+v, %v, asked %s", after, err, asked)
	}
}

// An edit without a key keeps the stored one for the new address too, and says so: in the audit trail, and to whoever
// is to be told.
func TestAKeyThatMovesWithItsAddressIsToldOf(t *testing.T) {
	w := newWorld(t)
	var told []KeyMove
	w.OnKeyMove(func(_ context.Context, move KeyMove) { told = append(told, move) })
	w.group("g", 0)
	w.capabilityAt("https://api.example.com/v1", "a", "g", 0)
	const elsewhere = "https://api.example.org:8443/v1"
	for _, c := range []struct {
		url   string
		key   *string
		moved bool
	}{
		{url: "https://API.example.com:443/v2"},
		{url: elsewhere, moved: true},
		{url: "https://api.example.com/v1", key: new(""), moved: true},
		{url: elsewhere, key: new("sk-canary-new")},
		{url: "http://127.0.0.1:9/v1", key: new("sk-canary-a")},
	} {
		told = nil
		before, err := w.Details(w.Ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Update(w.Ctx, admin, "a", Settings{UpstreamBaseURL: &c.url, UpstreamKey: c.key}); err != nil {
			t.Fatalf("%s: %v", c.url, err)
		}
		want := "sk-canary-a"
		if c.key != nil && *c.key != "" {
			want = *c.key
		}
		from, to := upstream.Origin(before.UpstreamBaseURL), upstream.Origin(c.url)
		if key := w.storedKey("a"); key != want {
			t.Errorf("%s: the key is %s", c.url, key)
		}
		entry, _ := w.lastEntry()
		recorded := slices.Contains(entry.Changes, audit.Change{Field: "upstreamKeySentTo", From: from, To: to})
		if recorded != c.moved || c.moved != (len(told) == 1) {
			t.Errorf("%s: told %v, recorded %+v", c.url, told, entry)
		}
		if c.moved && told[0] != (KeyMove{Actor: admin, ID: "a", Name: "Name of a", From: from, To: to}) {
			t.Errorf("told %+v", told[0])
		}
	}
}

// Where no key is stored there is none to keep.
func TestAnAddressOfItsOwnNeedsAKey(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	w.capabilityAt("https://api.example.com/v1", "a", "g", 0)
	w.upstream("shared", newProvider(t, "sk-canary-good"), "sk-canary-good")
	if _, err := w.Update(w.Ctx, admin, "a", Settings{UpstreamBaseURL: new(""), Upstreams: &[]Member{{UpstreamID: "shared", Status: Enabled, Weight: 1}}}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Update(w.Ctx, admin, "a", Settings{UpstreamBaseURL: new("https://api.example.com/v1")})
	databasetest.MustFail(t, err, fault.Invalid, "upstreamKey")
}

// A check reads address and key of one state: half of each would send the new key to the old host.
func TestACheckBesideAMoveSendsNoKeyToTheOtherHost(t *testing.T) {
	w := newWorld(t)
	w.group("g", 0)
	var hosts [2]*httptest.Server
	var wrong sync.Map
	for i := range hosts {
		hosts[i] = serverThatWants(t, fmt.Sprintf("Bearer sk-host-%d", i), &wrong)
	}
	w.capabilityAt(hosts[0].URL, "a", "g", 0)
	move := func(i int) error {
		_, err := w.Update(w.Ctx, admin, "a", Settings{UpstreamBaseURL: &hosts[i].URL, UpstreamKey: new(fmt.Sprintf("sk-host-%d", i))})
		return err
	}
	if err := move(0); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var moving sync.WaitGroup
	moving.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := move(i % 2); err != nil {
				t.Error(err)
			}
		}
	})
	for range 100 {
		w.check(CheckRequest{ID: new("a")})
	}
	close(stop)
	moving.Wait()
	wrong.Range(func(key, _ any) bool {
		t.Errorf("a host was sent %v", key)
		return true
	})
}
