package main

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"callgate/internal/embedded"
)

func failRedisOver(t *testing.T, fleet *redisFleet) {
	settings := map[string]string{"REDIS_URL": fleet.url, "SSL_CERT_FILE": fleet.authority.file}
	e := &twoGateways{}
	e.open(t, embedded.Own(t), settings, settings)
	before, during := e.newTarget("revoked before", "spare"), e.newTarget("revoked during", "spare")
	key, value := e.kept(fleet, before)
	e.mustBeServed(during)
	e.disable(before)
	eventually(t, time.Minute, "the revoked key is refused", e.refuses(before))
	var cold []target
	for n := range 60 {
		cold = append(cold, e.newTarget(fmt.Sprint("cold ", n), "spare"))
	}

	stop := e.load(200, []target{e.good})
	eventually(t, time.Minute, "calls are made", func() error {
		if e.made.Load() < 200 {
			return fmt.Errorf("%d are", e.made.Load())
		}
		return nil
	})
	began := time.Now()
	fleet.fail()
	var calling sync.WaitGroup
	calling.Go(func() {
		for _, target := range cold { // spread over the time without a master, and after
			e.mustBeServed(target)
			time.Sleep(100 * time.Millisecond)
		}
	})
	e.disable(during)
	disabled := time.Now()
	eventually(t, revocationBound, "a key revoked without Redis is refused", e.refuses(during))
	refused := time.Since(disabled)
	fleet.awaitWrites("another server takes over")
	tookOver := time.Since(began)
	calling.Wait()
	if err := fleet.client.Set(t.Context(), key, value, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, revoked := range []target{before, during} {
			if err := e.refuses(revoked)(); err != nil {
				t.Fatalf("a revoked key: %v", err)
			}
		}
	}
	eventually(t, time.Minute, "the gateways use the fleet again", func() error {
		had, err := fleet.grants()
		if err != nil {
			return err
		}
		e.mustBeServed(e.newTarget("after", "spare"))
		var has []string
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && len(has) <= len(had); time.Sleep(10 * time.Millisecond) {
			if has, err = fleet.grants(); err != nil {
				return err
			}
		}
		if len(has) <= len(had) {
			return fmt.Errorf("%d grants, %d before", len(has), len(had))
		}
		return nil
	})
	stop()
	t.Logf("%d calls of a known key, of which %d failed, %d with 401; %d of unknown ones served; another server took writes %v after the kill; a key revoked meanwhile was refused after %v",
		e.made.Load(), e.lost.Load(), e.wrong401.Load(), len(cold), tookOver.Round(10*time.Millisecond), refused.Round(time.Millisecond))
	if e.lost.Load() != 0 || e.wrong401.Load() != 0 {
		t.Errorf("%d calls failed, %d of them with 401", e.lost.Load(), e.wrong401.Load())
	}
}

func (e *twoGateways) disable(t target) {
	e.dev.attempt("PATCH", "/api/applications/"+t.app+"/status", object{"status": "disabled"})
}

// mustBeServed calls once on each gateway.
func (e *twoGateways) mustBeServed(t target) {
	e.t.Helper()
	for _, gate := range e.gates {
		j := &journey{process: gate, key: t.key}
		if status, _, body := j.send("POST", "/v1/json?model="+t.capability, "application/json", []byte(`{}`)); status != 200 {
			e.t.Errorf("a call: %d %s", status, body)
		}
	}
}

// kept is what Redis keeps of a target once it has been called.
func (e *twoGateways) kept(fleet *redisFleet, of target) (key, value string) {
	e.t.Helper()
	had, err := fleet.grants()
	if err != nil {
		e.t.Fatal(err)
	}
	e.mustBeServed(of)
	eventually(e.t, time.Minute, "Redis keeps the grant", func() error {
		has, err := fleet.grants()
		for _, one := range has {
			if !slices.Contains(had, one) {
				key = one
			}
		}
		if err == nil && key == "" {
			err = fmt.Errorf("%d grants, as before", len(has))
		}
		return err
	})
	if value, err = fleet.client.Get(e.t.Context(), key).Result(); err != nil {
		e.t.Fatal(err)
	}
	return key, value
}
