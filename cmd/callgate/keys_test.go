package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/openapi"
)

// oneMoreKey makes one more key of an application.
func (e *twoGateways) oneMoreKey(app string, settings object) (openapi.NewKey, target) {
	e.t.Helper()
	made := do[openapi.NewKey](e.dev, "POST", "/api/applications/"+app+"/keys", settings)
	// Without an application: that the load is refused it is no fault (twoGateways.call).
	return made, target{key: made.AccessKey, capability: "spare", accepted: &atomic.Int64{}}
}

// works waits until every gateway takes a key.
func (e *twoGateways) works(t target) {
	e.t.Helper()
	eventually(e.t, time.Minute, "the key works on every gateway", func() error {
		for _, gate := range e.gates {
			if status, code := e.once(gate, t.key); status != 200 {
				return fmt.Errorf("%d %s", status, code)
			}
		}
		return nil
	})
}

// once calls a gateway with a key, and gives the status and the code of an answer of ours.
func (e *twoGateways) once(gate *process, key string) (status int, code string) {
	e.t.Helper()
	j := &journey{process: gate, key: key}
	status, header, _ := j.send("POST", "/v1/json?model=spare", "application/json", []byte(`{}`))
	return status, header.Get("X-Callgate-Error")
}

// TestARotationWithAnOverlapFailsNoCallAndEachKeyIsRevokedByItself rotates the key of an application three times under
// load, each new key called from the moment it is known and each old one until the end; then one of several keys is
// deleted and another ended, while the others are called. KEYS_RATE, in calls per second, is what the first key gets (make chaos).
func TestARotationWithAnOverlapFailsNoCallAndEachKeyIsRevokedByItself(t *testing.T) {
	rate := fromEnvironment("KEYS_RATE", 200)
	e := newTwoGateways(t)
	app := "/api/applications/" + e.good.app
	e.works(e.good)
	began := time.Now()
	stops := []func(){e.load(rate, []target{e.good})}
	stopAll := sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
	})
	defer stopAll()
	for range 3 {
		rotated := do[openapi.AccessKey](e.dev, "POST", app+"/access-key/rotate", object{"overlapHours": 1})
		next := e.good
		next.key = rotated.AccessKey
		stops = append(stops, e.load(max(10, rate/10), []target{next}))
		time.Sleep(time.Second) // of load beside the next rotation
	}
	keys := do[openapi.KeyItems](e.dev, "GET", app+"/keys", nil)
	if len(keys.Items) != 4 || !keys.Items[0].First || keys.Items[0].ExpiresAt != nil {
		t.Fatalf("after three rotations: %+v", keys)
	}
	t.Logf("3 rotations at %.0f calls/s: %d of %d calls were not answered with 200, %d with 401",
		float64(e.made.Load())/time.Since(began).Seconds(), e.lost.Load(), e.made.Load(), e.wrong401.Load())
	if e.lost.Load() != 0 {
		t.Errorf("%d calls failed", e.lost.Load())
	}

	oldest := keys.Items[1]
	do[any](e.dev, "DELETE", app+"/keys/"+keys.Items[3].ID.String(), nil) // its load fails from here on
	stopAll()
	stops = nil
	e.lost.Store(0)
	current, kept := e.good, e.good
	current.key = e.secret(app, keys.Items[0].ID.String())
	kept.key = e.secret(app, oldest.ID.String())
	deletedKey, deleted := e.oneMoreKey(e.good.app, object{"name": "deleted"})
	endedKey, ended := e.oneMoreKey(e.good.app, object{"name": "ended"})
	for _, target := range []target{current, kept, deleted, ended} {
		e.works(target)
	}
	stop := e.load(rate, []target{current, kept, deleted, ended})
	defer stop()
	eventually(t, time.Minute, "every key is called", func() error {
		if deleted.accepted.Load() == 0 || ended.accepted.Load() == 0 {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	changed := time.Now()
	do[any](e.dev, "DELETE", app+"/keys/"+deletedKey.ID.String(), nil)
	end := time.Now().Add(2 * time.Second) // still to come when a slow machine is told
	do[openapi.Key](e.dev, "PATCH", app+"/keys/"+endedKey.ID.String(), object{"expiresAt": end.Format(time.RFC3339Nano)})
	time.Sleep(time.Until(end.Add(revocationBound + 300*time.Millisecond))) // any later acceptance would be a fault too
	stop()
	for what, worst := range map[string]time.Duration{
		"deleted": time.Unix(0, deleted.accepted.Load()).Sub(changed), "ended": time.Unix(0, ended.accepted.Load()).Sub(end),
	} {
		t.Logf("%s: last accepted %v after it", what, worst.Round(time.Millisecond))
		if worst > revocationBound {
			t.Errorf("%s: accepted %v after the change", what, worst)
		}
	}
	if e.lost.Load() != 0 {
		t.Errorf("%d calls of the other keys failed", e.lost.Load())
	}
}

// secret reveals a key.
func (e *twoGateways) secret(app, key string) string {
	e.t.Helper()
	return do[openapi.AccessKey](e.dev, "GET", app+"/keys/"+key+"/secret", nil).AccessKey
}

// TestAKeyExpiresOnTimeOnEveryGatewayWhileRedisAndPostgreSQLAreDown: its end stands in what gateways have in memory.
func TestAKeyExpiresOnTimeOnEveryGatewayWhileRedisAndPostgreSQLAreDown(t *testing.T) {
	const late = 2 * time.Second
	e := newTwoGateways(t)
	ends := time.Now().Add(8 * time.Second).Truncate(time.Millisecond)
	made, short := e.oneMoreKey(e.good.app, object{"name": "short", "expiresAt": ends.Format(time.RFC3339Nano)})
	e.works(short)
	e.works(e.good)
	e.postgres.Cut()
	e.gateRedis.Cut()
	var all sync.WaitGroup
	for i, gate := range e.gates {
		all.Go(func() {
			accepted := 0
			for {
				asked := time.Now()
				status, code := e.once(gate, short.key)
				switch {
				case status == 200 && asked.Before(ends.Add(late)):
					accepted++
					continue
				case status != 403 || code != "key_expired":
					t.Errorf("gateway %d: %d %s, %v after the end", i, status, code, asked.Sub(ends))
				}
				t.Logf("gateway %d: refused %v after the end, %d calls accepted before", i, time.Since(ends).Round(time.Millisecond), accepted)
				if early := time.Until(ends); early > late || accepted == 0 {
					t.Errorf("gateway %d: refused %v before the end, after %d calls", i, early, accepted)
				}
				break
			}
			if status, code := e.once(gate, e.good.key); status != 200 {
				t.Errorf("gateway %d: the application's other key is answered %d %s", i, status, code)
			}
		})
	}
	all.Wait()
	e.postgres.Mend()
	e.gateRedis.Mend()
	eventually(t, time.Minute, "the refusals are in the statistics as the key's", func() error {
		_, answer := e.dev.try("GET", "/api/statistics/applications/"+e.good.app+"/calls?result=failure", nil)
		var page openapi.CallPage
		if err := json.Unmarshal(answer.Data, &page); err != nil {
			return err
		}
		if len(page.Items) != len(e.gates) {
			return fmt.Errorf("%d refusals", len(page.Items))
		}
		for _, call := range page.Items {
			if call.KeyID == nil || *call.KeyID != made.ID || call.StatusCode != 403 || call.EndedBy != "denied" {
				return fmt.Errorf("%+v", call)
			}
		}
		return nil
	})
	if csv := e.dev.exported(e.good.app); !strings.Contains(csv, made.ID.String()) {
		t.Error("the calls as CSV do not name the key")
	}
	for _, k := range do[openapi.KeyItems](e.dev, "GET", "/api/applications/"+e.good.app+"/keys", nil).Items {
		if k.LastUsedAt == nil {
			t.Errorf("of %+v no last use is told", k)
		}
	}
}
