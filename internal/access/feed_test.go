package access

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestMemoryIsSweptBeforeAFloorIsDropped(t *testing.T) {
	m := newMemory(10)
	defer m.close()
	f := newFeed(blankConfig(), nil, m, newCatalog(), slog.New(slog.DiscardHandler))
	f.metrics = newMetrics(nil, func() time.Duration { return 0 }, m.grants.EstimatedSize, func() bool { return false })
	changed, other := uuid.New(), uuid.New()
	stale, renewed, apart := fingerprint{1}, fingerprint{2}, fingerprint{3}
	m.remember(stale, NewGrant(changed, uuid.New(), true, 4), 0)
	m.remember(renewed, NewGrant(changed, uuid.New(), true, 5), 0)
	m.remember(apart, NewGrant(other, uuid.New(), true, 1), 0)
	now := time.Hour
	f.raise([]change{{ApplicationID: &changed, Version: 5}}, now)
	if f.allows(NewGrant(changed, uuid.New(), true, 4)) || !f.allows(NewGrant(changed, uuid.New(), true, 5)) {
		t.Fatal("the floor is not in force")
	}
	f.raise(nil, now+floorLifetime-time.Second)
	if len(*f.floors.Load()) != 1 {
		t.Fatal("the floor was dropped before its time")
	}
	f.raise(nil, now+floorLifetime+evictInterval)
	if len(*f.floors.Load()) != 0 {
		t.Fatal("the floor is kept for ever")
	}
	for id, want := range map[fingerprint]bool{stale: false, renewed: true, apart: true} {
		if _, ok := m.grants.GetIfPresent(id); ok != want {
			t.Errorf("grant %v in memory: %v", id[0], ok)
		}
	}
}

func TestFloorsNeverSink(t *testing.T) {
	m := newMemory(10)
	defer m.close()
	f := newFeed(blankConfig(), nil, m, newCatalog(), slog.New(slog.DiscardHandler))
	f.metrics = newMetrics(nil, func() time.Duration { return 0 }, m.grants.EstimatedSize, func() bool { return false })
	id := uuid.New()
	for _, version := range []int64{7, 5, 9, 8} { // as transactions commit, in any order
		before := (*f.floors.Load())[id].version
		f.raise([]change{{ApplicationID: &id, Version: version}}, time.Hour)
		if after := (*f.floors.Load())[id].version; after != max(before, version) {
			t.Fatalf("floor %d became %d by a change of version %d", before, after, version)
		}
	}
}

func TestReplacedDatabaseIsNoticedAndNothingOldIsKept(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	w.must(r, a.key)
	r.Close() // so that the feed is the test's to read
	r.feed.snapshot = "999999999:999999999:"
	if err := r.feed.read(context.Background(), r.elapsed()); err == nil {
		t.Fatal("transaction ids that went back are not noticed")
	}
	if r.recall(fingerprintOf(a.key), r.elapsed()) != nil || r.Ready() == nil {
		t.Fatal("what was known of the old database is still used")
	}
	if r.memory.grants.EstimatedSize() != 0 {
		t.Fatal("memory still holds grants of the old database")
	}
	if err := r.feed.read(context.Background(), r.elapsed()); err != nil || r.Ready() != nil {
		t.Fatalf("the new database is not taken: %v", err)
	}
	r.feed.disconnect()
}

func TestLongGapEmptiesMemory(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	w.must(r, a.key)
	r.Close()
	now := r.elapsed()
	for _, gap := range []time.Duration{feedForget - time.Second, feedForget + time.Second} {
		r.feed.confirmed.Store(int64(now))
		if err := r.feed.read(context.Background(), now+gap); err != nil {
			t.Fatal(err)
		}
		if _, ok := r.memory.grants.GetIfPresent(fingerprintOf(a.key)); ok != (gap < feedForget) {
			t.Errorf("after a gap of %v the grant is in memory: %v", gap, ok)
		}
	}
	r.feed.disconnect()
}

func TestNewCapabilityIsCallableWithinTwoSeconds(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	if r.Capability("sing") != nil {
		t.Fatal("known before it exists")
	}
	w.exec(`INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_auth, upstream_key)
		VALUES ('sing', 'Sing', 'g', 'https://sing.example', 'x-api-key', '\x0102')`)
	w.within(bound, "the capability is known", func() bool { return r.Capability("sing") != nil })
	c := r.Capability("sing")
	if !c.Enabled || c.UpstreamBaseURL != "https://sing.example" || c.UpstreamAuth != "x-api-key" || string(c.UpstreamKey) != "\x01\x02" {
		t.Fatalf("%+v", c)
	}
}

func TestAllowListIsInEffectWithinTwoSeconds(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	w.exec(`UPDATE capabilities SET allowed_methods = '{POST}', allowed_paths = '{/v1/chat,/v1/models}' WHERE id = 'chat'`)
	w.within(bound, "allowed", func() bool {
		c := r.Capability("chat")
		return slices.Equal(c.AllowedMethods, []string{"POST"}) && slices.Equal(c.AllowedPaths, []string{"/v1/chat", "/v1/models"})
	})
	if draw := r.Capability("draw"); len(draw.AllowedMethods)+len(draw.AllowedPaths) > 0 {
		t.Errorf("another capability allows %v %v only", draw.AllowedMethods, draw.AllowedPaths)
	}
}

func TestNewCapabilityIsCallableByTheFirstCallOfAnApplicationBoundToIt(t *testing.T) {
	w := newWorld(t)
	one, two := w.resolver(), w.resolver()
	for n := range 20 { // the feed cannot have read all of them just in time
		id := fmt.Sprintf("new-%d", n)
		w.exec(`INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_key)
			VALUES ($1, $1, 'g', 'http://upstream', 'sealed')`, id)
		a := w.newApp(id)
		for _, r := range []*Resolver{one, two} { // the second may find the grant in Redis
			if g := w.must(r, a.key); !g.Bound(id) || r.Capability(id) == nil {
				t.Fatalf("%s is not known to the gateway whose grant is bound to it", id)
			}
		}
	}
}

func TestAChangeOfANamedUpstreamIsInEffectWithinTwoSeconds(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	for _, id := range []string{"one", "two"} {
		w.exec(`INSERT INTO upstreams (id, name, base_url, sealed_key) VALUES ($1, $1, 'https://' || $1 || '.example', '\x01')`, id)
	}
	w.exec(`INSERT INTO capability_upstreams (capability_id, upstream_id, weight, priority) VALUES
		('chat', 'one', 1, 1), ('chat', 'two', 3, 0), ('draw', 'two', 1, 0)`)
	w.within(bound, "the upstreams are known", func() bool {
		return len(r.Capability("chat").Upstreams) == 2 && len(r.Capability("draw").Upstreams) == 1
	})
	chat, draw := r.Capability("chat").Upstreams, r.Capability("draw").Upstreams
	if chat[0].ID != "two" || chat[0].Weight != 3 || chat[1].ID != "one" || chat[0].BaseURL != "https://two.example" || chat[0].Upstream != draw[0].Upstream {
		t.Errorf("%+v", chat)
	}
	w.exec(`UPDATE upstreams SET sealed_key = '\x02', auth = 'api-key' WHERE id = 'two'`)
	w.within(bound, "the new key is used by all", func() bool {
		return string(r.Capability("chat").Upstreams[0].Key) == "\x02" && string(r.Capability("draw").Upstreams[0].Key) == "\x02"
	})
	w.exec(`UPDATE capability_upstreams SET status = 'disabled' WHERE capability_id = 'chat' AND upstream_id = 'two'`)
	w.within(bound, "it is not called any more", func() bool { return len(r.Capability("chat").Upstreams) == 1 })
	w.exec(`UPDATE capability_upstreams SET status = 'disabled' WHERE capability_id = 'chat'`)
	w.within(bound, "nothing is called", func() bool { c := r.Capability("chat"); return len(c.Upstreams) == 0 && c.UpstreamBaseURL == "" })
	w.exec(`DELETE FROM capability_upstreams WHERE capability_id = 'chat'`)
	w.within(bound, "its own address serves again", func() bool { return r.Capability("chat").UpstreamBaseURL == "http://upstream" })
}
