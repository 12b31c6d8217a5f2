package limits

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// TestSlotsThatAGatewayLeavesIdleServeTheOthers: a burst is refused at the first gateway, which is then used by one call
// at a time. All other slots are the second one's within a second.
func TestSlotsThatAGatewayLeavesIdleServeTheOthers(t *testing.T) {
	t.Parallel()
	server, small := redistest.Start(t), miniredis.RunT(t) // the other is a development instance's
	for limit, client := range map[int64]func() redis.UniversalClient{
		3: func() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: small.Addr()}) }, 40: server.Client,
	} {
		f := newFleetOn(t, client, patient(usual), 2, Limits{Concurrency: limit}, nil)
		open := func(gateway int) (Ticket, bool) {
			l := f.limiters[gateway]
			ticket, reached := l.Admit(l.scopes(f.application, uuid.Nil), time.Now())
			return ticket, reached == nil
		}
		var burst []Ticket
		for range 2 * limit { // half of them in vain
			if ticket, admitted := open(0); admitted {
				burst = append(burst, ticket)
			}
		}
		if int64(len(burst)) != limit {
			t.Fatalf("%d of %d calls at one gateway", len(burst), limit)
		}
		for _, ticket := range burst {
			f.limiters[0].End(ticket, 0, true)
		}
		var held []Ticket
		for began := time.Now(); time.Since(began) < time.Second; time.Sleep(50 * time.Millisecond) {
			f.call(0, 0, 0)
		}
		for began := time.Now(); int64(len(held)) < limit-1 && time.Since(began) < time.Second; time.Sleep(time.Millisecond) {
			if ticket, admitted := open(1); admitted {
				held = append(held, ticket)
			}
		}
		if int64(len(held)) < limit-1 {
			t.Errorf("%d calls in flight at the second gateway, of %d slots of which the first uses one", len(held), limit)
		}
		for _, ticket := range held {
			f.limiters[1].End(ticket, 0, true)
		}
	}
}

// TestSlotsFollowDemandThatMoves between two and three gateways: never more calls in flight than the limit, and at least
// 0.95 of it a while after demand has moved.
func TestSlotsFollowDemandThatMoves(t *testing.T) {
	t.Parallel()
	for _, gateways := range []int{2, 3} {
		const limit = 40
		f := newFleet(t, redistest.Start(t), patient(usual), gateways, Limits{Concurrency: limit})
		var now, most atomic.Int64
		var busy [3]atomic.Bool // for whom there is demand
		var done atomic.Bool
		var calling sync.WaitGroup
		for gateway, l := range f.limiters {
			for range 2 * limit {
				calling.Go(func() {
					for !done.Load() {
						if !busy[gateway].Load() && rand.IntN(2000) > 0 { // else four calls a second
							time.Sleep(10 * time.Millisecond)
							continue
						}
						ticket, reached := l.Admit(l.scopes(f.application, uuid.Nil), time.Now())
						if reached != nil {
							time.Sleep(time.Duration(1+rand.IntN(3)) * time.Millisecond)
							continue
						}
						n := now.Add(1)
						for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
						}
						time.Sleep(time.Duration(100+rand.IntN(100)) * time.Millisecond)
						now.Add(-1)
						l.End(ticket, 0, true)
					}
				})
			}
		}
		for phase := range 4 {
			for gateway := range gateways {
				busy[gateway].Store(gateway == phase%gateways || rand.IntN(3) == 0)
			}
			time.Sleep(time.Second)
			eventually(t, func() bool { // at once, on a machine that is not busy with something else
				sum, looks := int64(0), int64(0)
				for began := time.Now(); time.Since(began) < time.Second/2; time.Sleep(5 * time.Millisecond) {
					sum, looks = sum+now.Load(), looks+1
				}
				return float64(sum)/float64(looks) >= 0.95*limit
			})
		}
		done.Store(true)
		calling.Wait()
		if most.Load() > limit {
			t.Errorf("%d gateways: %d calls in flight of %d", gateways, most.Load(), limit)
		}
	}
}
