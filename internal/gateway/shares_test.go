package gateway

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/access"
	"callgate/internal/calls"
)

// grantOfOwner gives the applications numbered 10 to 19 one owner, those from 20 on another, and so on.
func grantOfOwner(ctx context.Context, recent *access.Recent, key []byte) (*access.Grant, error) {
	grant, err := grantOfNumber(ctx, recent, key)
	if err != nil {
		return nil, err
	}
	of := grant.ApplicationID
	of[15] /= 10
	of[0] = 0xff
	return access.NewGrant(grant.ApplicationID, of, true, 1, "m"), nil
}

// TestAnOwnerLeavesTheOthersTheirPart lets four applications of one owner hold as many silent calls as they can, and
// another owner call the same upstream.
func TestAnOwnerLeavesTheOthersTheirPart(t *testing.T) {
	const most, part = 8, 2
	small, long := `"hold"`, `"hold`+strings.Repeat("x", 1_000)+`"`
	limits := map[string]struct {
		body  string
		limit func(*Config)
	}{
		"connections": {small, func(c *Config) { c.MaxUpstreamConns = most }},
		"bytes":       {long, func(c *Config) { c.MaxInflightBytes = int64(most*len(long)*spared/(spared-1) + spared) }},
	}
	for name, limited := range limits {
		for _, expected := range []bool{true, false} { // whether the other owner called lately
			t.Run(fmt.Sprint(name, expected), func(t *testing.T) {
				finish := make(chan struct{})
				end := sync.OnceFunc(func() { close(finish) })
				r := newRig(t, func(conn net.Conn, a asked) bool {
					if strings.HasPrefix(string(a.body), `"hold`) {
						<-finish
					}
					_, err := io.WriteString(conn, okAnswer)
					return err == nil
				}, limited.limit, func(c *Config) { c.Grant = grantOfOwner })
				t.Cleanup(end)
				call := func(application int, body string) (int, string) {
					a := r.ask(post("/gateway/v1?model=m", numbered(application), body))
					return a.StatusCode, string(a.body)
				}
				refused := func(application int, body string) {
					t.Helper()
					a := r.ask(post("/gateway/v1?model=m", numbered(application), body))
					record := r.record()
					if a.StatusCode != 503 || a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.body), `"overloaded"`) || record.ReasonType != calls.Overloaded || record.StatusCode != 503 {
						t.Errorf("answer %d %v %s, record %+v", a.StatusCode, a.Header, a.body, record)
					}
				}
				allowed := most
				if expected {
					allowed = most - part
					if status, body := call(20, "{}"); status != 200 || !r.record().Success {
						t.Fatalf("another owner, before: %d %s", status, body)
					}
				}
				var held sync.WaitGroup
				hold := func(application int) {
					held.Go(func() {
						if status, body := call(application, limited.body); status != 200 {
							t.Errorf("a held call: %d %s", status, body)
						}
					})
				}
				for i := range allowed {
					hold(10 + i%4)
					waitFor(t, func() bool { return r.gateway.supervisor.len() == i+1 })
					if name == "connections" {
						r.next()
					}
				}
				for i := range 4 {
					refused(10+i, limited.body)
				}
				if expected { // its part is there
					for range 3 {
						if status, body := call(20, "{}"); status != 200 || !r.record().Success {
							t.Errorf("another owner: %d %s", status, body)
						}
					}
				} else { // it is refused once: what becomes free is kept for it
					refused(20, limited.body)
					finish <- struct{}{}
					r.record()
					refused(10, limited.body)
					if status, body := call(20, "{}"); status != 200 || !r.record().Success {
						t.Errorf("another owner, asking again: %d %s", status, body)
					}
					allowed--
				}
				end()
				held.Wait()
				for range allowed {
					r.record()
				}
				if status, _ := call(11, limited.body); status != 200 || !r.record().Success {
					t.Errorf("the first owner, later: %d", status)
				}
				waitFor(t, func() bool { return r.gateway.supervisor.len() == 0 })
				if n := r.gateway.shares.bytes.used.Load(); n != 0 {
					t.Errorf("%d bytes were not given back", n)
				}
				r.gateway.shares.known.Range(func(_, found any) bool {
					one := found.(*share)
					if one.calls.Load() != 0 || one.bytes.taken.Load() != 0 {
						t.Errorf("%d calls and %d bytes were not given back", one.calls.Load(), one.bytes.taken.Load())
					}
					for _, place := range *one.pools.Load() {
						if n := place.taken.Load() + place.pool.places.used.Load(); n != 0 {
							t.Errorf("%d connections were not given back", n)
						}
					}
					return true
				})
			})
		}
	}
}

func TestWhatIsSharedIsDividedByNeed(t *testing.T) {
	const limit, part = 128, 32
	now := time.Now()
	for name, test := range map[string]struct {
		before func(f *fair, one, other *holding)
		gets   int64
	}{
		"nobody else":              {func(*fair, *holding, *holding) {}, limit - limit/spared},
		"another one lately":       {func(f *fair, _, other *holding) { f.note(other, now) }, limit - part},
		"another one, then itself": {func(f *fair, one, other *holding) { f.note(other, now.Add(-needLasts/2)); f.note(one, now) }, limit - part},
		"in turns": {func(f *fair, one, other *holding) {
			for i := range 100 {
				at := now.Add(time.Duration(i-100) * time.Millisecond)
				f.note([]*holding{one, other}[i%2], at)
			}
		}, limit - part},
		"another one long ago": {func(f *fair, one, other *holding) { f.note(other, now.Add(-2*needLasts)); f.note(one, now) }, limit - limit/spared},
		"another one waits":    {func(f *fair, _, _ *holding) { f.wanted.Store(now.UnixNano()) }, part},
		"it waited":            {func(f *fair, _, _ *holding) { f.wanted.Store(now.Add(-2 * wantLasts).UnixNano()) }, limit - limit/spared},
	} {
		t.Run(name, func(t *testing.T) {
			var f fair
			f.divide(limit, 0.25)
			one, other := new(holding), new(holding)
			test.before(&f, one, other)
			mine := &stake{of: &f}
			got := int64(0)
			for mine.take(one, 1) == nil {
				got++
			}
			if got != test.gets || f.used.Load() != got || mine.taken.Load() != got {
				t.Errorf("it gets %d of %d, want %d; used %d", got, limit, test.gets, f.used.Load())
			}
			if theirs := (&stake{of: &f}); theirs.take(other, 1) != nil {
				t.Error("there is none for another one")
			}
		})
	}
}

func TestApplicationsWithoutCallsAreForgottenWhenThereAreMany(t *testing.T) {
	var s shares
	busy := s.enter(application, owner)
	var all sync.WaitGroup
	stop := make(chan struct{})
	for range 4 { // calls begin and end while others are forgotten
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.enter(owner, owner).leave()
				}
			}
		})
	}
	for range 2 * manyShares {
		s.enter(uuid.New(), uuid.New()).leave()
	}
	for range 100 {
		s.tidy(time.Now())
	}
	close(stop)
	all.Wait()
	s.tidy(time.Now())
	if n := len(s.owners); n > manyShares {
		t.Errorf("%d owners are kept", n)
	}
	if n := s.count.Load(); n > manyShares {
		t.Errorf("%d applications are kept", n)
	}
	if again := s.enter(application, owner); again != busy || busy.calls.Load() != 2 {
		t.Error("one with a call in flight was forgotten")
	}
}

// BenchmarkShare is what a warm call pays.
func BenchmarkShare(b *testing.B) {
	var s shares
	pool := &connPool{}
	pool.places.divide(4, 0.25)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		one := s.enter(application, owner)
		place := one.at(pool)
		pool.places.note(one.holding, now)
		_ = place.take(one.holding, 1)
		place.give(1)
		one.leave()
	}
}

func TestAnApplicationThatWasMovedTakesOfItsNewOwnersShare(t *testing.T) {
	var s shares
	s.divide(100, 0.25)
	former, next := uuid.New(), uuid.New()
	running := s.enter(application, former)
	if err := running.bytes.take(running.holding, 10); err != nil {
		t.Fatal(err)
	}
	others := s.enter(uuid.New(), next)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				one := s.enter(application, next)
				if one.holding != others.holding {
					t.Error("it takes of another share")
				}
				one.leave()
			}
		})
	}
	all.Wait()
	running.bytes.give(10)
	running.leave()
	if n := s.bytes.used.Load(); n != 0 || running.calls.Load() != 0 {
		t.Errorf("%d bytes and %d calls are left over", n, running.calls.Load())
	}
	if len(s.owners) != 1 || s.owners[next].applications != 2 || s.count.Load() != 2 {
		t.Errorf("%d applications of %v are known", s.count.Load(), s.owners)
	}
}
