package access

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"callgate/internal/secret"
)

func TestWarmCallAsksNoStoreAndAllocatesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	w.must(r, a.key)
	before := loads(r, "redis", "miss") + loads(r, "redis", "hit") + loads(r, "postgres", "hit")
	ctx := context.Background()
	allocations := testing.AllocsPerRun(1000, func() {
		if g, err := r.Grant(ctx, a.key); err != nil || !g.Bound("chat") || r.Capability("chat") == nil {
			t.Fatal("the warm key is refused")
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations per warm call", allocations)
	}
	if after := loads(r, "redis", "miss") + loads(r, "redis", "hit") + loads(r, "postgres", "hit"); after != before {
		t.Errorf("%d loads by warm calls", after-before)
	}
	var recent Recent
	key, other := []byte(a.key), []byte(w.newApp("draw").key)
	if g, err := r.GrantFor(ctx, &recent, other); err != nil || !g.Bound("draw") {
		t.Fatalf("first key of the connection: %+v, %v", g, err)
	}
	allocations = testing.AllocsPerRun(1000, func() {
		if g, err := r.GrantFor(ctx, &recent, key); err != nil || g.ApplicationID != a.id {
			t.Fatal("the connection's key is refused, or another's grant given")
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations per warm call of a connection", allocations)
	}
}

func BenchmarkWarmGrant(b *testing.B) {
	r := &Resolver{memory: newMemory(1000), feed: newFeed(blankConfig(), nil, nil, nil, nil), config: Config{StaleOnError: time.Hour}, began: time.Now()}
	r.metrics = newMetrics(nil, r.feedAge, r.memory.grants.EstimatedSize, func() bool { return false })
	r.feed.confirmed.Store(1)
	key := secret.Pepper("pepper").Mint()
	r.memory.remember(fingerprintOf(key), NewGrant(uuid.New(), uuid.New(), true, 1, "chat"), r.elapsed())
	b.Run("first of a connection", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Grant(context.Background(), key); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("next of a connection", func(b *testing.B) {
		b.ReportAllocs()
		var recent Recent
		shown := []byte(key)
		for b.Loop() {
			if _, err := r.GrantFor(context.Background(), &recent, shown); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestStampedeOnOneKeyIsOneLoad(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	var callers sync.WaitGroup
	start := make(chan struct{})
	for range 500 {
		callers.Go(func() {
			<-start
			if g, err := r.Grant(context.Background(), a.key); err != nil || !g.Bound("chat") {
				t.Errorf("grant: %v", err)
			}
		})
	}
	close(start)
	callers.Wait()
	// one who looked into memory just before that load ended
	if _, err := r.load(fingerprintOf(a.key), w.pepper.Lookup(a.key)); err != nil {
		t.Fatal(err)
	}
	asked := loads(r, "redis", "miss") + loads(r, "redis", "hit") + loads(r, "redis", "error") // a busy machine's Redis may not answer in time
	if n := loads(r, "postgres", "hit"); n != 1 || asked != 1 {
		t.Fatalf("%d loads and %d questions to redis for one key", n, asked)
	}
}

func TestCallerWhoLeavesDoesNotEndTheLoadOthersShare(t *testing.T) {
	w := newWorld(t)
	postgres := newWire(t, w.databaseURL)
	w.conns = 1 // the connection that the first load prepares is the one held back
	r := w.open(Config{}, postgres.url, w.redisURL)
	w.must(r, w.newApp().key)
	a := w.newApp("chat")
	postgres.freeze(false)
	ctx, leave := context.WithCancel(context.Background())
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := r.Grant(ctx, a.key)
		left <- err
	}()
	w.within(ample, "the load is under way", func() bool { return postgres.holds(a.id[:]) })
	go func() {
		_, err := r.Grant(context.Background(), a.key)
		stayed <- err
	}()
	leave()
	if err := <-left; !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Fatalf("the caller who left: %v", err)
	}
	postgres.thaw()
	if err := <-stayed; err != nil {
		t.Fatalf("the caller who stayed: %v", err)
	}
	if n := loads(r, "postgres", "hit"); n != 2 { // the first key's and this one
		t.Fatalf("%d loads", n)
	}
}

func TestMalformedKeysNeverReachAStore(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	keys := []string{"", "cg-", w.newApp().key + "x", secret.Pepper("another pepper").Mint(), string(make([]byte, 100_000))}
	for range 2000 {
		digits := []byte(w.pepper.Mint())
		digits[3+rand.N(40)] ^= 1
		keys = append(keys, string(digits))
	}
	for _, key := range keys {
		if _, err := r.Grant(context.Background(), key); !errors.Is(err, ErrUnknownKey) {
			t.Fatalf("malformed key of %d bytes: %v", len(key), err)
		}
	}
	for _, store := range []string{"redis", "postgres"} {
		for _, result := range []string{"hit", "miss", "error", "stale"} {
			if n := loads(r, store, result); n != 0 {
				t.Errorf("%d questions to %s (%s)", n, store, result)
			}
		}
	}
	if n := testutil.ToFloat64(r.metrics.malformed); int(n) != len(keys) {
		t.Errorf("%v counted as malformed of %d", n, len(keys))
	}
}

func TestNotFoundIsRememberedForFiveSecondsAtMostAndInBounds(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := app{id: uuid.New(), key: w.pepper.Mint()}
	for range 10 {
		if _, err := r.Grant(context.Background(), a.key); !errors.Is(err, ErrUnknownKey) {
			t.Fatal(err)
		}
	}
	if n := loads(r, "postgres", "miss"); n != 1 {
		t.Fatalf("%d loads for one unknown key", n)
	}
	id := fingerprintOf(a.key)
	if now := r.elapsed(); r.memory.isUnknown(id, now+5*time.Second) {
		t.Fatal("a not-found is remembered for longer than 5 s")
	}
	r.memory.rememberUnknown(id, r.elapsed()-unknownLifetime)
	w.exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'late')`, a.id, w.owner)
	w.setKey(a.id, a.key)
	w.must(r, a.key)

	for i := range 3 * unknownEntries {
		r.memory.rememberUnknown(fingerprint{byte(i), byte(i >> 8), byte(i >> 16)}, r.elapsed())
	}
	r.memory.unknown.CleanUp()
	if n := r.memory.unknown.EstimatedSize(); n > unknownEntries {
		t.Fatalf("%d not-founds remembered", n)
	}
}

func TestOnlyRecentGenuineGrantsOfTheSameKeyAreTakenFromRedis(t *testing.T) {
	w := newWorld(t)
	a, other := w.newApp("chat"), w.newApp("draw")
	lookup := w.pepper.Lookup(a.key)
	current, err := queryGrant(context.Background(), w.db, lookup)
	if err != nil {
		t.Fatal(err)
	}
	w.disable(a) // what follows is active: nobody may believe it
	w.exec(`DELETE FROM access_changes`)
	r := w.resolver() // so it holds no floor
	put := func(name string, value []byte) {
		t.Helper()
		if err := w.redis.Set(context.Background(), grantKey(lookup[:]), value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		r.memory.forget()
		if g := w.must(r, a.key); g.Active || g.ApplicationID != a.id {
			t.Errorf("%s: redis was believed: %+v", name, g)
		}
	}
	old := current
	old.readAt -= redisReach.Microseconds() + 1_000_000
	put("beyond the reach of floors", encodeGrant(w.pepper, lookup, old))
	genuine := encodeGrant(w.pepper, lookup, current)
	damaged := append([]byte(nil), genuine...)
	damaged[34] ^= 1
	put("damaged", damaged)
	put("forged", encodeGrant(secret.Pepper("a pepper of somebody else"), lookup, current))
	put("of another key", encodeGrant(w.pepper, w.pepper.Lookup(other.key), current))
	put("empty", nil)

	w.exec(`UPDATE applications SET name = 'changed' WHERE id = $1`, a.id)
	w.within(bound, "the feed knows of the change", func() bool { return floorOf(r, a) > current.grant.Version })
	put("below the floor", genuine)
}

func TestGrantInRedisSparesTheLoadOfAnotherGateway(t *testing.T) {
	w := newWorld(t)
	a := w.newApp("chat", "draw")
	w.must(w.resolver(), a.key)
	w.within(time.Second, "redis is filled", func() bool { return w.cached(a) })
	r := w.resolver()
	if g := w.must(r, a.key); !g.Bound("chat") || !g.Bound("draw") || g.OwnerID != w.owner {
		t.Fatalf("grant from redis: %+v", g)
	}
	if loads(r, "redis", "hit") != 1 || loads(r, "postgres", "hit") != 0 {
		t.Fatal("the second gateway asked Postgres")
	}
	lookup := w.pepper.Lookup(a.key)
	if ttl := w.redis.TTL(context.Background(), grantKey(lookup[:])).Val(); ttl < 50*time.Second || ttl > 66*time.Second {
		t.Fatalf("redis keeps it for %v", ttl)
	}
}

func TestGrantInMemoryIsReadAgainInTheBackground(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	w.must(r, a.key)
	kept, _ := r.memory.grants.GetIfPresent(fingerprintOf(a.key))
	kept.readAgain.Store(0)
	w.must(r, a.key)
	w.within(time.Second, "the grant is read again", func() bool { return loads(r, "postgres", "hit") == 2 })
}

func TestGrantSurvivesItsEncoding(t *testing.T) {
	pepper := secret.Pepper("pepper")
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._:-]{0,63}`), 0, 20).Draw(t, "ids")
		in := reading{NewGrant(uuid.New(), uuid.New(), rapid.Bool().Draw(t, "active"),
			rapid.Int64Min(0).Draw(t, "version"), ids...).OfKey(uuid.New(), time.UnixMilli(rapid.Int64Range(0, 1<<45).Draw(t, "expires")), networks(t)...),
			rapid.Int64Min(0).Draw(t, "readAt")}
		lookup := pepper.Lookup("key")
		value := encodeGrant(pepper, lookup, in)
		out, ok := decodeGrant(pepper, lookup, value)
		if !ok || out.readAt != in.readAt || out.grant.Version != in.grant.Version || out.grant.Active != in.grant.Active ||
			out.grant.ApplicationID != in.grant.ApplicationID || out.grant.OwnerID != in.grant.OwnerID || out.grant.KeyID != in.grant.KeyID ||
			out.grant.expires != in.grant.expires || !slices.Equal(out.grant.allowed, in.grant.allowed) {
			t.Fatalf("%+v became %+v", in, out)
		}
		for _, id := range ids {
			if !out.grant.Bound(id) {
				t.Fatalf("%q was lost", id)
			}
		}
		if cut := rapid.IntRange(0, len(value)-1).Draw(t, "cut"); cut < len(value) {
			if _, ok := decodeGrant(pepper, lookup, value[:cut]); ok {
				t.Fatalf("%d of %d bytes decode", cut, len(value))
			}
		}
	})
}

func blankConfig() *pgx.ConnConfig {
	config, _ := pgx.ParseConfig("postgres://nobody@127.0.0.1/none")
	return config
}
