package gateway

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
)

// TestOneApplicationLeavesTheOthersTheirShare lets one application hold as many silent calls as it
// can, and another one call the same upstream.
func TestOneApplicationLeavesTheOthersTheirShare(t *testing.T) {
	const most, fair = 8, 2
	small, long := `"hold"`, `"hold`+strings.Repeat("x", 1_000)+`"`
	for name, test := range map[string]struct {
		body  string
		limit func(*Config)
	}{
		"connections": {small, func(c *Config) { c.MaxUpstreamConns = most }},
		"bytes":       {long, func(c *Config) { c.MaxInflightBytes = int64(most * len(long)) }},
	} {
		t.Run(name, func(t *testing.T) {
			finish := make(chan struct{})
			r := newRig(t, func(conn net.Conn, a asked) bool {
				if strings.HasPrefix(string(a.body), `"hold`) {
					<-finish
				}
				_, err := io.WriteString(conn, okAnswer)
				return err == nil
			}, test.limit, func(c *Config) { c.Grant = grantOfNumber })
			var held sync.WaitGroup
			refused := make(chan answer, most)
			for range most {
				held.Go(func() {
					if a := r.ask(post("/gateway/v1?model=m", numbered(1), test.body)); a.StatusCode == 503 {
						refused <- a
					} else if a.StatusCode != 200 {
						t.Errorf("a held call: %d %v", a.StatusCode, a.err)
					}
				})
			}
			for range most - fair {
				a, record := <-refused, r.record()
				if a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.body), `"overloaded"`) || record.ReasonType != calls.Overloaded || record.StatusCode != 503 {
					t.Errorf("refused with %v %s, record %+v", a.Header, a.body, record)
				}
			}
			for range 3 {
				if a := r.ask(post("/gateway/v1?model=m", numbered(2), "{}")); a.StatusCode != 200 || !r.record().Success {
					t.Errorf("another application: %d %s", a.StatusCode, a.body)
				}
			}
			close(finish)
			held.Wait()
			for range fair {
				r.record()
			}
			if a := r.ask(post("/gateway/v1?model=m", numbered(1), test.body)); a.StatusCode != 200 || !r.record().Success {
				t.Errorf("the first application, later: %d", a.StatusCode)
			}
			waitFor(t, func() bool { return r.gateway.supervisor.len() == 0 })
			r.gateway.shares.known.Range(func(_, found any) bool {
				one := found.(*share)
				if one.calls.Load() != 0 || one.bytes.Load() != 0 {
					t.Errorf("%d calls and %d bytes were not given back", one.calls.Load(), one.bytes.Load())
				}
				for _, place := range *one.pools.Load() {
					if n := place.inUse.Load(); n != 0 {
						t.Errorf("%d connections were not given back", n)
					}
				}
				return true
			})
		})
	}
}

func TestApplicationsWithoutCallsAreForgottenWhenThereAreMany(t *testing.T) {
	var s shares
	busy := s.enter(application)
	var all sync.WaitGroup
	stop := make(chan struct{})
	for range 4 { // calls begin and end while others are forgotten
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.enter(owner).leave()
				}
			}
		})
	}
	for range 2 * manyShares {
		s.enter(uuid.New()).leave()
	}
	for range 100 {
		s.tidy(time.Now())
	}
	close(stop)
	all.Wait()
	s.tidy(time.Now())
	if n := s.count.Load(); n > manyShares {
		t.Errorf("%d applications are kept", n)
	}
	if again := s.enter(application); again != busy || busy.calls.Load() != 2 {
		t.Error("one with a call in flight was forgotten")
	}
}

// BenchmarkShare is what a warm call pays.
func BenchmarkShare(b *testing.B) {
	var s shares
	pool := &connPool{}
	b.ReportAllocs()
	for b.Loop() {
		one := s.enter(application)
		place := one.of(pool)
		place.take(1)
		place.inUse.Add(-1)
		one.leave()
	}
}
