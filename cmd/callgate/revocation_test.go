package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"callgate/internal/embedded"
)

// revocationBound is how long after a change a call may still be accepted.
const revocationBound = 2 * time.Second

// twoGateways is two gateways, a console and what lies between them and their stores.
type twoGateways struct {
	t              *testing.T
	environment    map[string]string
	gates          [2]*process
	console        *process
	admin, dev     client
	sql            *pgx.Conn
	redis          *redis.Client
	postgres       *embedded.Link // of the gateways
	gateRedis      *embedded.Link
	deskRedis      *embedded.Link
	upstream       *scripted
	good           target
	wrong401, lost atomic.Int64 // answers to the key that is never revoked: 401, and others than 200
	made           atomic.Int64
}

// target is what the load calls: one key with one capability.
type target struct {
	app, key, capability string
	accepted             *atomic.Int64 // when the last accepted call began, Unix nanoseconds
}

func newTwoGateways(t *testing.T) *twoGateways {
	engines := embedded.Own(t)
	e := &twoGateways{}
	e.postgres, e.gateRedis = embedded.NewLink(t, engines.DatabaseURL()), embedded.NewLink(t, engines.RedisURL())
	e.deskRedis = embedded.NewLink(t, engines.RedisURL())
	e.open(t, engines, map[string]string{"DATABASE_URL": e.postgres.URL(), "REDIS_URL": e.gateRedis.URL()}, map[string]string{"REDIS_URL": e.deskRedis.URL()})
	options, err := redis.ParseURL(engines.RedisURL())
	if err != nil {
		t.Fatal(err)
	}
	e.redis = redis.NewClient(options)
	t.Cleanup(func() { _ = e.redis.Close() })
	return e
}

// open starts the processes on engines, the gateways with some settings of their own and the console with others.
func (e *twoGateways) open(t *testing.T, engines *embedded.Engines, ofGates, ofConsole map[string]string) {
	t.Helper()
	e.t, e.upstream, e.environment = t, newScripted(t), production(t, engines)
	maps.Copy(e.environment, ofConsole)
	migrate(t, e.environment)
	for i := range e.gates {
		own := production(t, engines)
		maps.Copy(own, ofGates)
		e.gates[i] = start(t, own, "serve", "--role", "gateway")
	}
	e.startConsole()
	e.console.mails = func(email string) (string, error) {
		if caught := engines.Mailbox().Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	e.admin, e.dev = e.console.administrator(), e.console.developer("dev@example.com")
	e.admin.capability("spare", e.upstream.URL, upstreamKey)
	var err error
	if e.sql, err = pgx.Connect(t.Context(), engines.DatabaseURL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.sql.Close(context.Background()) })
	e.good = e.newTarget("good", "spare")
}

func (e *twoGateways) startConsole() {
	e.console = start(e.t, e.environment, "serve", "--role", "console")
	e.admin.process, e.dev.process = e.console, e.console
}

func (e *twoGateways) newTarget(name, capability string) target {
	app, key := e.dev.application(name, capability)
	return target{app: app, key: key, capability: capability, accepted: &atomic.Int64{}}
}

// attempt sends a change and minds no answer: the console may be killed meanwhile.
func (c client) attempt(method, path string, body any) {
	payload, _ := json.Marshal(body)
	req, _ := http.NewRequest(method, c.base+path, bytes.NewReader(payload))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// revocation is one kind of change, done through the console or in SQL.
type revocation struct {
	name string
	ask  func(e *twoGateways, t target)
	sql  string // with the application as $1
}

var revocations = []revocation{
	{"disable", func(e *twoGateways, t target) {
		e.dev.attempt("PATCH", "/api/applications/"+t.app+"/status", object{"status": "disabled"})
	}, `UPDATE applications SET status = 'disabled' WHERE id = $1`},
	{"disable for its owner", func(e *twoGateways, t target) {
		e.admin.attempt("PATCH", "/api/admin/applications/"+t.app+"/status", object{"status": "disabled", "reason": "why"})
	}, `UPDATE applications SET status = 'disabled', owner_status = status, administrator_disabled_at = now(), administrator_disabled_by = 'root@example.com',
		administrator_reason = 'why' WHERE id = $1`},
	{"unbind", func(e *twoGateways, t target) {
		e.dev.attempt("PATCH", "/api/applications/"+t.app, object{"capabilityIds": []string{"spare"}})
	}, `DELETE FROM application_capabilities WHERE application_id = $1`},
	{"delete", func(e *twoGateways, t target) { e.dev.attempt("DELETE", "/api/applications/"+t.app, nil) },
		`DELETE FROM applications WHERE id = $1`},
	{"rotate", func(e *twoGateways, t target) {
		e.dev.attempt("POST", "/api/applications/"+t.app+"/access-key/rotate", nil)
	}, `UPDATE access_keys SET lookup = sha256(lookup) WHERE application_id = $1`},
	{"capability disabled", func(e *twoGateways, t target) {
		e.admin.attempt("PATCH", "/api/admin/capabilities/"+t.capability+"/status", object{"status": "disabled"})
	}, `UPDATE capabilities SET status = 'disabled' WHERE id IN (SELECT capability_id FROM application_capabilities WHERE application_id = $1)`},
}

// call makes one call and notes how it ended.
func (e *twoGateways) call(c *http.Client, gate *process, t target) {
	req, _ := http.NewRequest("POST", gate.base+"/gateway/v1/json?model="+t.capability, strings.NewReader(`{"model":"m"}`))
	req.Header.Set("Authorization", "Bearer "+t.key)
	req.Header.Set("Content-Type", "application/json")
	began := time.Now().UnixNano()
	resp, err := c.Do(req)
	status := 0
	if err == nil {
		status = resp.StatusCode
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	e.made.Add(1)
	if status == 200 {
		for last := t.accepted.Load(); last < began && !t.accepted.CompareAndSwap(last, began); last = t.accepted.Load() {
		}
	}
	if t.app == e.good.app && status != 200 {
		e.lost.Add(1)
		if status == 401 {
			e.wrong401.Add(1)
		}
	}
}

// load calls every target on both gateways in turn, rate calls a second altogether, until stopped.
func (e *twoGateways) load(rate int, targets []target) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	const workers = 24 // for each gateway
	for _, gate := range e.gates {
		transport := &http.Transport{MaxIdleConnsPerHost: workers}
		c := &http.Client{Transport: transport, Timeout: 10 * time.Second}
		due := make(chan int, rate)
		for range workers {
			running.Go(func() {
				for n := range due {
					e.call(c, gate, targets[n%len(targets)])
				}
			})
		}
		running.Go(func() {
			defer transport.CloseIdleConnections()
			defer close(due)
			began := time.Now()
			for n := 0; ctx.Err() == nil; n++ {
				time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(max(1, rate/len(e.gates))))))
				select {
				case due <- n:
				default: // the machine cannot: the rate reached is reported
				}
			}
		})
	}
	return func() { cancel(); running.Wait() }
}

// revoke plays a scenario: a target for each kind of change, all changed at once under load.
func (e *twoGateways) revoke(scenario string, rate int, around func(targets []target, mark func())) {
	t := e.t
	t.Helper()
	targets := []target{e.good}
	slug := strings.ReplaceAll(scenario, " ", "-")
	for i := range revocations {
		capability := fmt.Sprintf("%s-%d", slug, i)
		e.admin.capability(capability, e.upstream.URL, upstreamKey)
		targets = append(targets, e.newTarget(scenario, capability))
	}
	e.made.Store(0)
	began := time.Now()
	stop := e.load(rate, targets)
	eventually(t, time.Minute, "every key works on every gateway", func() error {
		for _, target := range targets {
			for _, gate := range e.gates {
				j := &journey{process: gate, key: target.key}
				if status, _, body := j.send("POST", "/v1/json?model="+target.capability, "application/json", []byte(`{}`)); status != 200 {
					return fmt.Errorf("%d %s", status, body)
				}
			}
		}
		return nil
	})
	var changed time.Time
	around(targets[1:], func() { changed = time.Now() })
	if changed.IsZero() {
		t.Fatal("nothing was changed")
	}
	time.Sleep(time.Until(changed.Add(revocationBound + 300*time.Millisecond))) // any later acceptance would be a fault too
	stop()
	figures := ""
	for i, r := range revocations {
		last := time.Unix(0, targets[i+1].accepted.Load())
		worst := max(0, last.Sub(changed))
		figures += fmt.Sprintf(", %s %v", r.name, worst.Round(time.Millisecond))
		if worst > revocationBound {
			t.Errorf("%s, %s: accepted %v after the change", scenario, r.name, worst)
		}
	}
	t.Logf("%s at %.0f calls/s%s; of the good key's calls %d were not answered with 200, %d of them with 401",
		scenario, float64(e.made.Load())/time.Since(began).Seconds(), figures, e.lost.Load(), e.wrong401.Load())
	if e.wrong401.Load() != 0 || e.lost.Load() != 0 {
		t.Errorf("%s: %d of the good key's calls failed, %d with 401", scenario, e.lost.Load(), e.wrong401.Load())
	}
}

// askAll makes every change through the console at once.
func (e *twoGateways) askAll(targets []target) {
	var all sync.WaitGroup
	for i, r := range revocations {
		all.Go(func() { r.ask(e, targets[i]) })
	}
	all.Wait()
}

// TestRevokedKeysAreRefusedByEveryGatewayWithinTwoSeconds changes what keys may do while two gateways
// are under load, whatever else fails at that moment. REVOCATION_RATE, in calls per second, makes it
// play every scenario (make chaos).
func TestRevokedKeysAreRefusedByEveryGatewayWithinTwoSeconds(t *testing.T) {
	rate := fromEnvironment("REVOCATION_RATE", 200)
	e := newTwoGateways(t)
	if os.Getenv("REVOCATION_RATE") != "" {
		e.revoke("announced", rate, func(targets []target, mark func()) {
			mark()
			e.askAll(targets)
		})
		e.deskRedis.Cut()
		e.revoke("publishing cut", rate, func(targets []target, mark func()) {
			mark()
			e.askAll(targets)
		})
		e.deskRedis.Mend()
		e.revoke("Redis restarted empty", rate, func(targets []target, mark func()) {
			e.gateRedis.Cut()
			if err := e.redis.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			e.gateRedis.Mend()
			mark()
			e.askAll(targets)
		})
	}
	e.revoke("Redis down", rate, func(targets []target, mark func()) {
		e.gateRedis.Cut()
		e.deskRedis.Cut()
		mark()
		e.askAll(targets)
	})
	e.gateRedis.Mend()
	e.deskRedis.Mend()
	e.revoke("committed out of order", rate, e.outOfOrder)
	e.revoke("console killed after its commit", rate, e.killConsole)
	e.outages(rate)
}

// outOfOrder lets a transaction with every change begin, others commit and be read, and then commits it.
func (e *twoGateways) outOfOrder(targets []target, mark func()) {
	ctx := e.t.Context()
	tx, err := e.sql.Begin(ctx)
	if err != nil {
		e.t.Fatal(err)
	}
	for i, r := range revocations {
		if _, err := tx.Exec(ctx, r.sql, targets[i].app); err != nil {
			e.t.Fatalf("%s: %v", r.name, err)
		}
	}
	for range 3 {
		e.dev.attempt("PATCH", "/api/applications/"+e.good.app, object{"description": time.Now().String()})
		time.Sleep(300 * time.Millisecond) // the feed is read meanwhile
	}
	mark()
	if err := tx.Commit(ctx); err != nil {
		e.t.Fatal(err)
	}
}

// killConsole kills the console as soon as every change is committed, or is not because it came too late.
func (e *twoGateways) killConsole(targets []target, mark func()) {
	var before int64
	if err := e.sql.QueryRow(e.t.Context(), `SELECT coalesce(max(id), 0) FROM access_changes`).Scan(&before); err != nil {
		e.t.Fatal(err)
	}
	var apps, capabilities []string
	for _, target := range targets {
		apps, capabilities = append(apps, target.app), append(capabilities, target.capability)
	}
	mark()
	asked := make(chan struct{})
	go func() { e.askAll(targets); close(asked) }()
	eventually(e.t, time.Minute, "every change is committed", func() error {
		var seen int
		err := e.sql.QueryRow(e.t.Context(), `
			SELECT count(DISTINCT coalesce(application_id::text, capability_id)) FROM access_changes
			WHERE id > $1 AND (application_id = ANY($2::uuid[]) OR capability_id = ANY($3))`, before, apps, capabilities).Scan(&seen)
		if err == nil && seen < len(revocations) {
			err = fmt.Errorf("%d are", seen)
		}
		return err
	})
	e.console.stop(syscall.SIGKILL)
	<-asked
	e.startConsole()
}

// outages: a key that is known keeps working while the stores are away, and none is called unknown.
func (e *twoGateways) outages(rate int) {
	fresh := e.newTarget("never called", "spare")
	stop := e.load(rate, []target{e.good})
	defer stop()
	for name, links := range map[string][]*embedded.Link{
		"Redis": {e.gateRedis}, "PostgreSQL": {e.postgres}, "both": {e.postgres, e.gateRedis},
	} {
		for _, link := range links {
			link.Cut()
		}
		for began := time.Now(); name != "Redis" && time.Since(began) < 2*time.Second; time.Sleep(50 * time.Millisecond) {
			j := &journey{process: e.gates[0], key: fresh.key}
			if status, _, body := j.send("POST", "/v1/json?model=spare", "application/json", []byte(`{}`)); status != 503 {
				e.t.Errorf("a key nobody can be asked about, %s away: %d %s", name, status, body)
			}
		}
		if name == "Redis" {
			time.Sleep(2 * time.Second)
		}
		for _, link := range links {
			link.Mend()
		}
		time.Sleep(time.Second)
		e.t.Logf("%s away for 2 s: of the good key's calls %d were not answered with 200, %d of them with 401", name, e.lost.Load(), e.wrong401.Load())
	}
	if e.lost.Load() != 0 {
		e.t.Errorf("%d of the good key's calls failed, %d with 401", e.lost.Load(), e.wrong401.Load())
	}
}
