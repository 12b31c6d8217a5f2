package catalog

import (
	"fmt"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"callgate/internal/fault"
	"callgate/internal/roomtest"
)

// Whoever may edit the catalog has no right to its keys: pointed at a host of theirs, a stored key
// would be told to it by the first call, or by a check.
func TestAStoredKeyIsNotSentToAnotherOrigin(t *testing.T) {
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
			_, err := w.Update(w.Ctx, admin, "a", Settings{UpstreamBaseURL: &other, UpstreamKey: key, Name: new("renamed")})
			roomtest.MustFail(t, err, fault.Invalid, "upstreamKey")
			_, err = w.Check(w.Ctx, admin, CheckRequest{ID: new("a"), UpstreamBaseURL: &other, UpstreamKey: key})
			roomtest.MustFail(t, err, fault.Invalid, "upstreamKey")
			if !strings.Contains(err.Error(), "again") {
				t.Errorf("%s: %v does not say why", other, err)
			}
		}
		asked += *heard
	}
	if after, err := w.Details(w.Ctx, "a"); err != nil || !reflect.DeepEqual(after, before) || asked != "" {
		t.Fatalf("kept %+v, %v, asked %s", after, err, asked)
	}
	if _, err := w.Update(w.Ctx, admin, "a", Settings{UpstreamBaseURL: &here, UpstreamKey: new("sk-canary-new")}); err != nil || w.storedKey("a") != "sk-canary-new" {
		t.Fatalf("with a key of its own: %v", err)
	}
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
