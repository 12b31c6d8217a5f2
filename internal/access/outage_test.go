package access

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"callgate/internal/embedded"
)

func TestKnownKeysWorkForABoundedTimeWhilePostgresIsDown(t *testing.T) {
	w := newWorld(t)
	postgres := embedded.NewLink(t, w.databaseURL)
	const stale = 1500 * time.Millisecond
	r := w.open(Config{StaleOnError: stale}, postgres.URL(), w.redisURL)
	inMemory, inRedis, unknown := w.newApp("chat"), w.newApp("chat"), w.newApp("chat")
	w.must(r, inMemory.key)
	w.must(w.resolver(), inRedis.key)
	w.within(time.Second, "redis is filled", func() bool { return w.cached(inRedis) })

	postgres.Cut()
	began := time.Now()
	w.must(r, inMemory.key)
	w.must(r, inRedis.key)
	if _, err := r.Grant(context.Background(), unknown.key); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("a key no store can tell of: %v", err)
	}
	if err := r.Ready(); err != nil {
		t.Fatalf("not ready though known keys work: %v", err)
	}
	refused := func(a app) bool {
		_, err := r.Grant(context.Background(), a.key)
		if err != nil && !errors.Is(err, ErrUnavailable) {
			t.Fatalf("refused with %v", err)
		}
		return err != nil
	}
	w.within(stale+500*time.Millisecond, "the known key is refused", func() bool { return refused(inMemory) })
	if lasted := time.Since(began); lasted < stale-feedInterval-feedTimeout {
		t.Fatalf("the known key worked for %v only", lasted)
	}
	if !refused(inRedis) || r.Ready() != nil {
		t.Fatal("redis still answers, or the process takes itself out of rotation for what all gateways lack")
	}
	w.disable(inMemory)
	postgres.Mend()
	w.within(bound, "postgres is used again", func() bool { return !refused(inMemory) })
	if w.must(r, inMemory.key).Active {
		t.Fatal("what was revoked during the outage works after it")
	}
	w.must(r, unknown.key)
}

func TestPostgresThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	w := newWorld(t)
	postgres := newWire(t, w.databaseURL)
	r := w.open(Config{}, postgres.url, w.redisURL)
	a := w.newApp("chat")
	w.must(r, a.key)
	postgres.freeze(true)
	w.within(bound, "the feed fails", r.feed.failing.Load)
	w.must(r, a.key)
	began := time.Now()
	if _, err := r.Grant(context.Background(), w.newApp().key); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("unknown key: %v", err)
	}
	if took := time.Since(began); took > time.Second {
		t.Fatalf("refused after %v", took)
	}
	postgres.thaw()
	w.within(bound, "the feed is read again", func() bool { return !r.feed.failing.Load() })
}

func TestStartWithoutPostgresRefusesEveryKeyUntilItAnswers(t *testing.T) {
	w := newWorld(t)
	a := w.newApp("chat")
	w.must(w.resolver(), a.key) // redis holds it now
	w.within(time.Second, "redis is filled", func() bool { return w.cached(a) })
	postgres := embedded.NewLink(t, w.databaseURL)
	postgres.Cut()
	r := w.open(Config{}, postgres.URL(), w.redisURL)
	if _, err := r.Grant(context.Background(), a.key); !errors.Is(err, ErrUnavailable) || r.Ready() == nil {
		t.Fatalf("grant without a change feed: %v, ready: %v", err, r.Ready())
	}
	postgres.Mend()
	w.within(bound, "ready", func() bool { return r.Ready() == nil })
	w.must(r, a.key)
	if r.Capability("chat") == nil {
		t.Fatal("ready without the catalog")
	}
}

func TestNoKeyIsAnsweredBeforeTheCatalogIsRead(t *testing.T) {
	w := newWorld(t)
	a := w.newApp("chat")
	tx, err := w.db.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(context.Background(), `LOCK TABLE capabilities`); err != nil {
		t.Fatal(err)
	}
	r := w.resolver() // a grant could be read; every capability would seem unknown
	if _, err := r.Grant(context.Background(), a.key); !errors.Is(err, ErrUnavailable) || r.Ready() == nil {
		t.Fatalf("grant without a catalog: %v, ready: %v", err, r.Ready())
	}
	if err := tx.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.within(bound, "ready", func() bool { return r.Ready() == nil })
	w.must(r, a.key)
}

func TestPostgresServesAtOnceWhileRedisIsDown(t *testing.T) {
	w := newWorld(t)
	for name, break_ := range map[string]func() (url string, mend func()){
		"refusing": func() (string, func()) {
			link := embedded.NewLink(t, w.redisURL)
			link.Cut()
			return link.URL(), link.Mend
		},
		"silent": func() (string, func()) {
			silent := newWire(t, w.redisURL)
			silent.freeze(true)
			return silent.url, silent.thaw
		},
	} {
		url, mend := break_()
		r := w.open(Config{}, w.databaseURL, url)
		var slowest, total time.Duration
		for range 20 {
			a := w.newApp("chat")
			began := time.Now()
			w.must(r, a.key)
			took := time.Since(began)
			slowest, total = max(slowest, took), total+took
		}
		t.Logf("redis %s: slowest %v, 20 keys in %v", name, slowest, total)
		if slowest > time.Second || total > 2*time.Second {
			t.Fatalf("redis %s: calls waited %v, slowest %v", name, total, slowest)
		}
		mend()
		w.within(10*time.Second, "redis is used again", func() bool {
			w.must(r, w.newApp().key)
			return loads(r, "redis", "miss") > 0
		})
	}
}

func TestRedisThatLostEverythingOrAnswersErrorsIsNotNotFound(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	w.must(r, a.key)
	w.within(time.Second, "redis is filled", func() bool { return w.cached(a) })
	if err := w.redis.FlushDB(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	r.memory.forget()
	w.must(r, a.key)
	w.within(time.Second, "redis is filled again", func() bool { return w.cached(a) })

	lookup := w.pepper.Lookup(a.key)
	w.redis.Del(context.Background(), grantKey(lookup[:]))
	if err := w.redis.LPush(context.Background(), grantKey(lookup[:]), "not a string").Err(); err != nil {
		t.Fatal(err)
	}
	r.memory.forget()
	w.must(r, a.key)
	if loads(r, "redis", "error") == 0 {
		t.Fatal("redis did not answer with an error: the test shows nothing")
	}
}

func TestAnnouncementsNeverBlockWhileRedisIsSilent(t *testing.T) {
	w := newWorld(t)
	silent := newWire(t, w.redisURL)
	silent.freeze(true)
	a := w.newApp()
	announcer := NewAnnouncer(w.db, w.client(silent.url), slog.New(slog.DiscardHandler))
	began := time.Now()
	for range 20 {
		announcer.ApplicationChanged(context.Background(), a.id)
		announcer.CapabilityChanged(context.Background(), "chat")
	}
	if took := time.Since(began); took > 20*redisTimeout {
		t.Fatalf("40 announcements took %v", took)
	}
}

func TestAnnouncementTakesTheGrantOutOfRedis(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp()
	w.must(r, a.key)
	w.within(time.Second, "redis is filled", func() bool { return w.cached(a) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the request that made the change may have ended
	NewAnnouncer(w.db, w.redis, slog.New(slog.DiscardHandler)).ApplicationChanged(ctx, a.id)
	if w.cached(a) {
		t.Fatal("redis still holds the grant")
	}
}
