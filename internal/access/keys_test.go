package access

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"callgate/internal/embedded"
)

// more gives an application one more key.
func (w *world) more(a app) (id uuid.UUID, key string) {
	w.Helper()
	id, key = uuid.New(), w.pepper.Mint()
	lookup := w.pepper.Lookup(key)
	w.exec(`INSERT INTO additional_access_keys (id, application_id, name, lookup, sealed, mask) VALUES ($1, $2, 'more', $3, '', '')`, id, a.id, lookup[:])
	return id, key
}

func TestEveryKeyOfAnApplicationHasItsGrantWithItsOwnEndAndNetworks(t *testing.T) {
	w := newWorld(t)
	a := w.newApp("chat")
	id, key := w.more(a)
	end := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	w.exec(`UPDATE additional_access_keys SET expires_at = $2, allowed_cidrs = '{10.0.0.0/8,2001:db8::/32}' WHERE id = $1`, id, end)
	check := func(store string, r *Resolver) {
		t.Helper()
		first, more := w.must(r, a.key), w.must(r, key)
		if first.ApplicationID != a.id || first.KeyID == uuid.Nil || first.KeyID == id || first.Restricted() || first.Expired(end.AddDate(50, 0, 0)) {
			t.Errorf("first key from %s: %+v", store, first)
		}
		if more.ApplicationID != a.id || more.KeyID != id || !more.Bound("chat") || more.Expired(end.Add(-time.Millisecond)) || !more.Expired(end) {
			t.Errorf("other key from %s: %+v", store, more)
		}
		for from, allowed := range map[string]bool{"10.255.0.1": true, "::ffff:10.0.0.1": true, "2001:db8::7": true, "11.0.0.1": false, "2001:db9::": false} {
			if more.AllowsFrom(netip.MustParseAddr(from)) != allowed {
				t.Errorf("from %s, of %s: not %v", from, store, allowed)
			}
		}
		if !more.Restricted() || more.AllowsFrom(netip.Addr{}) {
			t.Errorf("from nobody knows where, of %s: allowed", store)
		}
	}
	r := w.resolver()
	check("Postgres", r)
	lookup := w.pepper.Lookup(key)
	w.within(time.Second, "redis is filled", func() bool {
		return w.cached(a) && w.redis.Exists(context.Background(), grantKey(lookup[:])).Val() == 1
	})
	again := w.resolver()
	check("Redis", again)
	if loads(again, "redis", "hit") != 2 {
		t.Error("the second gateway did not ask Redis")
	}
	check("memory", again)
}

// TestAChangeOfOneKeyIsEffectiveWithinTwoSecondsAndTheOthersGoOn deletes one key and ends another while a third, and the
// first, are asked for without a pause.
func TestAChangeOfOneKeyIsEffectiveWithinTwoSecondsAndTheOthersGoOn(t *testing.T) {
	w := newWorld(t)
	link := embedded.NewLink(t, w.redisURL)
	one, two := w.resolver(), w.open(Config{}, w.databaseURL, link.URL())
	announcer := NewAnnouncer(w.db, w.redis, slog.New(slog.DiscardHandler))
	for how, announce := range map[string]func(app){
		"announced":     func(a app) { announcer.ApplicationChanged(context.Background(), a.id) },
		"not announced": func(app) {},
		"redis down":    func(app) { link.Cut() },
	} {
		a := w.newApp("chat")
		deleted, deletedKey := w.more(a)
		ended, endedKey := w.more(a)
		_, otherKey := w.more(a)
		for _, r := range []*Resolver{one, two} {
			for _, key := range []string{a.key, deletedKey, endedKey, otherKey} {
				w.must(r, key)
			}
		}
		w.exec(`DELETE FROM additional_access_keys WHERE id = $1`, deleted)
		w.exec(`UPDATE additional_access_keys SET expires_at = now() WHERE id = $1`, ended)
		began := time.Now()
		announce(a)
		for _, r := range []*Resolver{one, two} {
			w.within(bound-time.Since(began), how, func() bool {
				w.must(r, a.key)
				w.must(r, otherKey)
				_, err := r.Grant(context.Background(), deletedKey)
				g := w.must(r, endedKey)
				return errors.Is(err, ErrUnknownKey) && g.Expired(time.Now())
			})
		}
		t.Logf("%s: effective everywhere after %v", how, time.Since(began).Round(time.Millisecond))
		link.Mend()
	}
}

func TestAnAnnouncedChangeTakesTheGrantsOfAllKeysOutOfRedis(t *testing.T) {
	w := newWorld(t)
	a := w.newApp("chat")
	_, key := w.more(a)
	r := w.resolver()
	w.must(r, a.key)
	w.must(r, key)
	lookup := w.pepper.Lookup(key)
	held := func() bool { return w.redis.Exists(context.Background(), grantKey(lookup[:])).Val() == 1 }
	w.within(time.Second, "redis is filled", func() bool { return w.cached(a) && held() })
	NewAnnouncer(w.db, w.redis, slog.New(slog.DiscardHandler)).ApplicationChanged(context.Background(), a.id)
	if w.cached(a) || held() {
		t.Error("a grant of before the change is left in redis")
	}
}

// networks are some that a key may be used from.
func networks(t *rapid.T) (all []netip.Prefix) {
	for range rapid.IntRange(0, 5).Draw(t, "networks") {
		size := rapid.SampledFrom([]int{4, 16}).Draw(t, "size")
		addr, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "address"))
		all = append(all, netip.PrefixFrom(addr, rapid.IntRange(0, 8*size).Draw(t, "bits")))
	}
	return all
}
