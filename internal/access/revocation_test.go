package access

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"callgate/internal/embedded"
)

const bound = 2 * time.Second

// ample is how long a test waits for what it sets up itself.
const ample = 20 * time.Second

// grantor is a gateway, or a connection to it that has shown a key before.
type grantor interface {
	Grant(ctx context.Context, accessKey string) (*Grant, error)
	Capability(id string) *Capability
}

type connection struct {
	*Resolver
	recent Recent
}

func (c *connection) Grant(ctx context.Context, accessKey string) (*Grant, error) {
	return c.GrantFor(ctx, &c.recent, []byte(accessKey))
}

// deeds are the changes, each returning what shows that it is effective on a gateway.
var deeds = map[string]func(*world, app) (effective func(grantor) bool){
	"disable": func(w *world, a app) func(grantor) bool {
		w.disable(a)
		return func(r grantor) bool {
			g, err := r.Grant(context.Background(), a.key)
			return err == nil && !g.Active
		}
	},
	"unbind": func(w *world, a app) func(grantor) bool {
		w.exec(`DELETE FROM application_capabilities WHERE application_id = $1 AND capability_id = 'chat'`, a.id)
		return func(r grantor) bool {
			g, err := r.Grant(context.Background(), a.key)
			return err == nil && !g.Bound("chat") && g.Bound("draw")
		}
	},
	"rotate": func(w *world, a app) func(grantor) bool {
		next := w.pepper.Mint()
		w.setKey(a.id, next)
		return func(r grantor) bool {
			g, err := r.Grant(context.Background(), next)
			return err == nil && g.ApplicationID == a.id && isUnknown(r, a)
		}
	},
	"delete": func(w *world, a app) func(grantor) bool {
		w.exec(`DELETE FROM applications WHERE id = $1`, a.id)
		return func(r grantor) bool { return isUnknown(r, a) }
	},
	"disable the capability": func(w *world, _ app) func(grantor) bool {
		w.exec(`UPDATE capabilities SET status = 'disabled' WHERE id = 'chat'`)
		return func(r grantor) bool { return !r.Capability("chat").Enabled }
	},
}

func isUnknown(r grantor, a app) bool {
	_, err := r.Grant(context.Background(), a.key)
	return errors.Is(err, ErrUnknownKey)
}

// revoke does every deed to a warm application of its own and waits for it on every gateway.
func (w *world) revoke(how string, announce func(app), gateways ...*Resolver) {
	w.Helper()
	w.exec(`UPDATE capabilities SET status = 'enabled' WHERE id = 'chat'`)
	apps := map[string]app{}
	grantors := map[string][]grantor{}
	for name := range deeds {
		a := w.newApp("chat", "draw")
		apps[name] = a
		for _, r := range gateways {
			w.within(bound, "enabled", func() bool { return r.Capability("chat").Enabled })
			if g := w.must(r, a.key); !g.Active || !g.Bound("chat") || g.OwnerID != w.owner {
				w.Fatalf("grant before the change: %+v", g)
			}
			warm := &connection{Resolver: r}
			for range 2 {
				if g, err := warm.Grant(context.Background(), a.key); err != nil || !g.Active || warm.recent.entry == nil {
					w.Fatalf("grant of the connection before the change: %+v, %v", g, err)
				}
			}
			grantors[name] = append(grantors[name], r, warm)
		}
	}
	var waiting sync.WaitGroup
	for name, do := range deeds {
		effective := do(w, apps[name])
		began := time.Now()
		announce(apps[name])
		waiting.Go(func() {
			for _, r := range grantors[name] {
				for !effective(r) {
					if time.Since(began) > bound {
						w.Errorf("%s, %s: not effective after %v", name, how, bound)
						return
					}
					time.Sleep(time.Millisecond)
				}
			}
			w.Logf("%s, %s: effective everywhere after %v", name, how, time.Since(began).Round(time.Millisecond))
		})
	}
	waiting.Wait()
}

func TestEveryRevocationIsEffectiveOnEveryGatewayWithinTwoSeconds(t *testing.T) {
	w := newWorld(t)
	one, two := w.resolver(), w.resolver()
	announcer := NewAnnouncer(w.db, w.redis, slog.New(slog.DiscardHandler))
	w.revoke("announced", func(a app) {
		announcer.ApplicationChanged(context.Background(), a.id)
		announcer.CapabilityChanged(context.Background(), "chat")
	}, one, two)
	w.revoke("not announced", func(app) {}, one, two)
}

func TestRevocationIsEffectiveWithinTwoSecondsWhileRedisIsDown(t *testing.T) {
	w := newWorld(t)
	link := embedded.NewLink(t, w.redisURL)
	r := w.open(Config{}, w.databaseURL, link.URL())
	w.revoke("redis down", func(app) { link.Cut() }, r)
}

func TestExhaustedPoolNeverLetsARevokedKeyPass(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	w.must(r, a.key)
	created := w.version(a)
	for range r.pool.Config().MaxConns {
		conn, err := r.pool.Acquire(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
	w.disable(a)
	// Not only of what the new application itself changed, which the feed may tell late.
	w.within(bound, "the feed knows of the change", func() bool { return floorOf(r, a) > created })
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if g, err := r.Grant(ctx, a.key); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("revoked key while the pool is exhausted: %+v, %v", g, err)
	}
}

func TestLoadInFlightDuringARevocationIsRepeated(t *testing.T) {
	w := newWorld(t)
	postgres := newWire(t, w.databaseURL)
	w.conns = 1 // the connection that the first load prepares is the one held back
	r := w.open(Config{}, postgres.url, w.redisURL)
	w.must(r, w.newApp().key)
	a := w.newApp("chat")
	created := w.version(a)
	w.within(bound, "the feed knows of the new application", func() bool { return floorOf(r, a) == created })

	postgres.freeze(false)
	answer := make(chan *Grant, 1)
	go func() {
		g, _ := r.Grant(context.Background(), a.key)
		answer <- g
	}()
	w.within(ample, "the old grant is on its way", func() bool { return postgres.holds(a.id[:]) })
	w.disable(a)
	w.within(bound, "the feed knows of the change", func() bool { return floorOf(r, a) > created })
	postgres.thaw()

	if g := <-answer; g == nil || g.Active {
		t.Fatalf("a load overtaken by the revocation gave %+v", g)
	}
	if loads(r, "postgres", "stale") == 0 {
		t.Fatal("the load was not overtaken: the test shows nothing")
	}
	w.within(time.Second, "redis holds the new grant", func() bool { return w.cached(a) })
	if g := w.must(w.resolver(), a.key); g.Active {
		t.Fatal("the old grant was written to redis")
	}
}

func TestChangeOfALongTransactionIsNotMissed(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	a := w.newApp("chat")
	tx, err := w.db.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }() // else a failed test waits for it for ever
	for _, statement := range []string{
		`UPDATE applications SET status = 'disabled' WHERE id = '` + a.id.String() + `'`,
		// as if it had been written an hour ago: reading again by time cannot find it
		`UPDATE access_changes SET changed_at = now() - interval '61 minutes' WHERE xid = pg_current_xact_id()`,
	} {
		if _, err := tx.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // others commit after it began and before it ends
		b := w.newApp()
		w.within(bound, "a later change is known", func() bool { return floorOf(r, b) > 0 })
	}
	visible, err := r.cleanOnce(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if g := w.must(r, a.key); !g.Active {
		t.Fatal("disabled before the commit")
	}
	if err := tx.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.cleanOnce(context.Background(), visible); err != nil {
		t.Fatal(err)
	}
	t.Logf("effective after %v", w.within(bound, "disabled", func() bool { return !w.must(r, a.key).Active }))
}

func TestOldChangesAreDeletedOnceEveryReaderHasSeenThem(t *testing.T) {
	w := newWorld(t)
	r := w.resolver()
	w.newApp()
	w.exec(`UPDATE access_changes SET changed_at = now() - interval '61 minutes'`)
	a := w.newApp()
	count := func() (n int) {
		if err := w.db.QueryRow(context.Background(), `SELECT count(*) FROM access_changes`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	visible, err := r.cleanOnce(context.Background(), "")
	if err != nil || count() != before {
		t.Fatalf("the first pass deleted %d rows, %v", before-count(), err)
	}
	if _, err := r.cleanOnce(context.Background(), visible); err != nil {
		t.Fatal(err)
	}
	var mine int
	err = w.db.QueryRow(context.Background(), `SELECT count(*) FROM access_changes WHERE application_id = $1`, a.id).Scan(&mine)
	if left := count(); err != nil || mine == 0 || left != mine {
		t.Fatalf("%d rows are left, %d of them recent, %v", left, mine, err)
	}
}

// TestOnlyAChangeThatEndsCallsTellsOfIt: on every gateway, without Redis too, and with the version that no call after it is under.
func TestOnlyAChangeThatEndsCallsTellsOfIt(t *testing.T) {
	w := newWorld(t)
	a, b := w.newApp("chat"), w.newApp("chat")
	type told struct {
		mu   sync.Mutex
		last map[Ending]int
	}
	gateways := map[string]*told{"with Redis": {last: map[Ending]int{}}, "without": {last: map[Ending]int{}}}
	for name, redisURL := range map[string]string{"with Redis": w.redisURL, "without": "redis://127.0.0.1:1"} {
		r, heard := w.open(Config{}, w.databaseURL, redisURL), gateways[name]
		r.OnEnding(func(all []Ending) {
			heard.mu.Lock()
			defer heard.mu.Unlock()
			for _, e := range all {
				heard.last[e]++
			}
			if g, err := r.Grant(context.Background(), a.key); err != nil || g.Active {
				t.Errorf("a new call is let in: %+v %v", g, err)
			}
		})
	}
	w.exec(`UPDATE applications SET status = 'disabled' WHERE id = $1`, b.id) // which leaves what runs alone
	w.exec(`UPDATE applications SET status = 'disabled' WHERE id = $1`, a.id)
	w.exec(`INSERT INTO access_changes (application_id, version, ends_calls) SELECT id, version, true FROM applications WHERE id = $1`, a.id)
	w.exec(`UPDATE capabilities SET status = 'disabled' WHERE id = 'chat'`)
	w.exec(`INSERT INTO access_changes (capability_id, version, ends_calls) SELECT id, version, true FROM capabilities WHERE id = 'chat'`)
	var capability int64
	if err := w.db.QueryRow(context.Background(), `SELECT version FROM capabilities WHERE id = 'chat'`).Scan(&capability); err != nil {
		t.Fatal(err)
	}
	want := []Ending{{ApplicationID: a.id, Version: w.version(a)}, {CapabilityID: "chat", Version: capability}}
	for name, heard := range gateways {
		w.within(bound, name, func() bool {
			heard.mu.Lock()
			defer heard.mu.Unlock()
			return heard.last[want[0]] >= 2 && heard.last[want[1]] >= 2 // again, for calls that were just being let in
		})
		if heard.mu.Lock(); len(heard.last) != len(want) {
			t.Errorf("%s: told of %v", name, heard.last)
		}
		heard.mu.Unlock()
	}
}
