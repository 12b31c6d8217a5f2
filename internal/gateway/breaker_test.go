package gateway

import (
	"testing"
	"time"

	"callgate/internal/access"
)

func TestABreakerOpensWhenHalfOfTwentyCallsFailWithinTenSeconds(t *testing.T) {
	const second = time.Second
	for name, test := range map[string]struct {
		happens func(b *breaker) (now time.Duration)
		failing bool
	}{
		"nothing":           {func(*breaker) time.Duration { return second }, false},
		"nineteen failures": {func(b *breaker) time.Duration { return burst(b, second, 0, 19) }, false},
		"twenty failures":   {func(b *breaker) time.Duration { return burst(b, second, 0, 20) }, true},
		"half of twenty":    {func(b *breaker) time.Duration { return burst(b, second, 10, 10) }, true},
		"less than half":    {func(b *breaker) time.Duration { return burst(b, second, 11, 10) }, false},
		"twenty failures, too slowly": {func(b *breaker) (now time.Duration) {
			for i := range 20 {
				now = time.Duration(i) * 600 * time.Millisecond
				b.count(now, 1, 1)
			}
			return now
		}, false},
		"twenty failures over nine seconds": {func(b *breaker) (now time.Duration) {
			for i := range 20 {
				now = time.Duration(i) * 470 * time.Millisecond
				b.count(now, 1, 1)
			}
			return now
		}, true},
		"many successes, and then failures only": {func(b *breaker) time.Duration {
			burst(b, second, 10_000, 0)
			return burst(b, 2*second, 0, 20)
		}, true},
		"failures of long ago": {func(b *breaker) time.Duration {
			burst(b, second, 0, 1000)
			return burst(b, 12*second, 1, 0)
		}, false},
		"the ring comes round": {func(b *breaker) time.Duration {
			burst(b, second, 0, 1000)
			return burst(b, 11*second, 0, 1)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := new(breaker)
			if now := test.happens(b); b.failing(now) != test.failing {
				t.Errorf("failing: %v", !test.failing)
			}
		})
	}
}

func burst(b *breaker, at time.Duration, successes, failures uint64) time.Duration {
	b.count(at, successes+failures, failures)
	return at
}

func TestAnOpenBreakerLetsOneCallTryAfterItsTime(t *testing.T) {
	b := new(breaker)
	b.open(time.Second, breakerOpen)
	if b.closed() || b.state() != "open" || b.probe(time.Second+breakerOpen-1, true) != 0 {
		t.Fatalf("before its time: %s", b.state())
	}
	claim := b.probe(time.Second+breakerOpen, true)
	if claim == 0 || b.probe(time.Second+breakerOpen, true) != 0 || b.probe(time.Second+3*breakerOpen, false) != 0 || b.state() != "probing" {
		t.Fatal("not one call was let try")
	}
	b.close()
	b.giveBack(claim)
	if !b.closed() || b.failing(time.Second+breakerOpen) {
		t.Error("it is not closed, or remembers")
	}
}

// TestAClaimOfACallWhoseBodyStillComesGivesWay: its caller may never end.
func TestAClaimOfACallWhoseBodyStillComesGivesWay(t *testing.T) {
	b := new(breaker)
	b.open(time.Second, breakerOpen)
	at := time.Second + breakerOpen
	part := b.probe(at, false)
	if part == 0 || b.probe(at+breakerOpen-1, false) != 0 {
		t.Fatal("not one such call was let try")
	}
	later := b.probe(at+breakerOpen, false)
	if later == 0 {
		t.Error("nobody else is let try")
	}
	whole := b.probe(at+breakerOpen, true)
	if whole == 0 {
		t.Error("no call that is whole is let try")
	}
	b.giveBack(part)
	b.giveBack(later)
	if b.state() != "probing" || b.probe(at+breakerOpen, true) != 0 {
		t.Errorf("others gave back the claim of the last: %s", b.state())
	}
	b.giveBack(whole)
	if b.state() != "open" || b.probe(at+breakerOpen, false) == 0 {
		t.Errorf("the claim was not given back: %s", b.state())
	}
}

func TestRetriesAreAtMostATenthOfTheCalls(t *testing.T) {
	b := newRetryBudget()
	retries, calls := 0, 100_000
	for i := range calls { // every call of a busy capability wants one
		b.call()
		if b.take(time.Duration(i) * time.Millisecond) {
			retries++
		}
	}
	if most := calls/10 + retryStart/retryCost; retries > most || retries < calls/11 {
		t.Errorf("%d retries for %d calls", retries, calls)
	}
}

func TestAQuietCapabilityMayRetryEveryCall(t *testing.T) {
	b := newRetryBudget()
	for i := range 1000 { // two a second: too few for its breakers
		b.call()
		if !b.take(time.Duration(i) * 500 * time.Millisecond) {
			t.Fatalf("call %d may not be tried again", i)
		}
	}
}

func TestSavedRetriesAreBounded(t *testing.T) {
	b := newRetryBudget()
	for range 1_000_000 {
		b.call()
	}
	retries := 0
	for b.take(time.Hour) {
		retries++
	}
	if retries < retryMost/retryCost || retries > retryMost/retryCost+retryFloor {
		t.Errorf("%d retries at once", retries)
	}
}

// member is a member of a capability at an address.
func member(id, address string, priority, weight int) access.Member {
	return access.Member{Upstream: &access.Upstream{ID: id, BaseURL: "http://" + address, Auth: "bearer"}, Priority: priority, Weight: weight}
}

func TestUpstreamsAreChosenByPriorityThenByWeight(t *testing.T) {
	g := New(Config{})
	defer g.Close()
	members := []access.Member{member("a", "a", 0, 3), member("b", "b", 0, 1), member("c", "c", 1, 1)}
	drawn := func(n int) map[string]int {
		found := map[string]int{}
		for range n {
			u, _, _ := g.pick(members, time.Second, nil, wholeProbe)
			found[u.ID]++
		}
		return found
	}
	if found := drawn(4000); found["a"] < 2800 || found["a"] > 3200 || found["a"]+found["b"] != 4000 {
		t.Errorf("of 4,000 calls %v", found)
	}
	open := func(id string, at time.Duration) { g.endpoints.of(id).breaker.open(at, breakerOpen) }
	open("a", 3)
	if found := drawn(100); found["b"] != 100 {
		t.Errorf("a is open: %v", found)
	}
	open("b", 2)
	if found := drawn(100); found["c"] != 100 {
		t.Errorf("a and b are open: %v", found)
	}
	open("c", 5)
	if found := drawn(100); found["b"] != 100 {
		t.Errorf("all are open, b for the longest: %v", found)
	}
	if u, _, _ := g.pick(members, time.Second, g.endpoints.of("b"), noProbe); u != nil {
		t.Errorf("a second attempt at %s, which is open", u.ID)
	}
	if u, _, claim := g.pick(members, 2+breakerOpen, nil, noProbe); u.ID != "b" || claim != 0 || g.endpoints.of("b").breaker.state() != "open" {
		t.Errorf("the time of b has come, but not for this call: %s, claim %d", u.ID, claim)
	}
	if u, _, claim := g.pick(members, 2+breakerOpen, nil, wholeProbe); u.ID != "b" || claim == 0 {
		t.Errorf("the time of b has come: %s, claim %d", u.ID, claim)
	}
}

func TestASoleUpstreamNeverOpens(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"), func(c *Config) {
		capability := c.Capability
		c.Capability = func(id string) *access.Capability {
			found := *capability(id)
			found.Upstreams = []access.Member{{Upstream: &access.Upstream{ID: "only", BaseURL: found.UpstreamBaseURL, Auth: "bearer"}, Weight: 1}}
			return &found
		}
		c.OpenUpstreamKey = func(*access.Upstream) ([]byte, error) { return []byte(upstreamKey), nil }
	})
	for range 60 {
		if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 500 {
			t.Fatalf("answer %d", a.StatusCode)
		}
		if record := r.record(); record.UpstreamID != "only" || record.Attempts != 1 {
			t.Fatalf("record %+v", record)
		}
	}
	if s := r.gateway.Upstreams()["only"]; s.State != "closed" || s.Failures == 0 || s.LastError != "it answered 500" {
		t.Errorf("state %+v", s)
	}
}

func TestChoosingAnUpstreamAllocatesNothing(t *testing.T) {
	g := New(Config{})
	defer g.Close()
	for name, members := range map[string][]access.Member{
		"own":  nil,
		"sole": {member("a", "a", 0, 1)},
		"two":  {member("a", "a", 0, 1), member("b", "b", 0, 1)},
	} {
		c := &call{gateway: g, start: time.Now(), capability: &access.Capability{ID: "m", Upstreams: members}}
		if n := testing.AllocsPerRun(1000, func() {
			c.choose()
			if c.endpoint != nil {
				c.status = 200
				c.countAttempt(nil)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
