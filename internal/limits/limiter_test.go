package limits

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"callgate/internal/beijing"
)

// quick goes ten times as fast as usual.
var quick = pace{window: 6 * time.Second, unit: 25 * time.Millisecond, life: 60 * time.Millisecond, tick: 10 * time.Millisecond,
	resume: 3 * time.Second, timeout: 50 * time.Millisecond, stale: 1500 * time.Millisecond}

// patient waits for a Redis on a busy machine: a gateway that cannot ask in time admits its share beside what the others
// hold, which is another test's.
func patient(p pace) pace {
	p.timeout = 10 * time.Second
	return p
}

func init() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// fleet is some gateways' limiters.
type fleet struct {
	t           testing.TB
	pace        pace
	application uuid.UUID
	limiters    []*Limiter
	began       time.Time

	mu       sync.Mutex
	admitted []time.Duration
	tokens   []int64
	slowest  time.Duration
}

func newFleet(t testing.TB, s *redistest.Server, p pace, gateways int, limits Limits) *fleet {
	return newFleetOn(t, s.Client, p, gateways, limits, nil)
}

// spent is Config.Spent.
type spent func(ctx context.Context, of Subject, except []uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error)

// scopes are what a call of an application's key without limits of its own is counted in.
func (l *Limiter) scopes(application, owner uuid.UUID) *Scopes {
	_, scopes := l.Of(nil, Caller{Application: application, Owner: owner})
	return scopes
}

func newFleetOn(t testing.TB, client func() redis.UniversalClient, p pace, gateways int, limits Limits, before spent) *fleet {
	application := uuid.New()
	f := newFleetOf(t, client, p, gateways, &Snapshot{own: map[uuid.UUID]Limits{application: limits}}, before)
	f.application = application
	return f
}

func newFleetOf(t testing.TB, client func() redis.UniversalClient, p pace, gateways int, held *Snapshot, before spent) *fleet {
	f := &fleet{t: t, pace: p, began: time.Now()}
	for rank := range gateways {
		rdb := client()
		l := Open(t.Context(), Config{Gateway: uuid.New(), Snapshot: func(context.Context, *Snapshot) (*Snapshot, error) { return held, nil },
			Redis: rdb, Spent: before, Logger: slog.New(slog.DiscardHandler), pace: p,
			peers: func(context.Context) (Peers, error) { return Peers{count: gateways, rank: rank, weight: 1}, nil }})
		t.Cleanup(func() { l.Close(); _ = rdb.Close() })
		f.limiters = append(f.limiters, l)
	}
	return f
}

// call makes one through a gateway.
func (f *fleet) call(gateway int, tokens int64, lasts time.Duration) *Reached {
	l := f.limiters[gateway]
	start := time.Now()
	ticket, reached := l.Admit(l.scopes(f.application, uuid.Nil), start)
	took := time.Since(start)
	f.mu.Lock()
	f.slowest = max(f.slowest, took)
	if reached == nil {
		f.admitted = append(f.admitted, time.Since(f.began))
		f.tokens = append(f.tokens, tokens)
	}
	f.mu.Unlock()
	if reached == nil {
		if lasts > 0 {
			time.Sleep(lasts)
		}
		l.End(ticket, tokens, true)
	}
	return reached
}

// load calls through a gateway, perSecond times, until ctx ends.
func (f *fleet) load(ctx context.Context, gateway, perSecond int, tokens int64) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	due := 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for due += float64(perSecond) * 0.005; due >= 1; due-- {
			f.call(gateway, tokens, 0)
		}
	}
}

// most is the largest amount admitted in any window, by weight.
func (f *fleet) most() (calls int, tokens int64, at time.Duration) {
	type one struct {
		at     time.Duration
		tokens int64
	}
	all := make([]one, len(f.admitted))
	for i := range all {
		all[i] = one{f.admitted[i], f.tokens[i]}
	}
	slices.SortFunc(all, func(a, b one) int { return int(a.at - b.at) })
	first, sum := 0, int64(0)
	for i, c := range all {
		sum += c.tokens
		for all[first].at <= c.at-f.pace.window {
			sum -= all[first].tokens
			first++
		}
		if i-first+1 > calls {
			calls, at = i-first+1, c.at
		}
		tokens = max(tokens, sum)
	}
	return calls, tokens, at
}

func (f *fleet) between(from, to time.Duration) (n int) {
	for _, at := range f.admitted {
		if at >= from && at < to {
			n++
		}
	}
	return n
}

// TestNoWindowHasMoreThanTheLimit: three gateways under ten times the load, Redis killed, hung and back. With
// LIMITS_PACE=usual a minute is a minute, and it takes ten of them.
func TestNoWindowHasMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 3000
	pace, step, bound := quick, time.Second, limit*105/100 // ten times as fast, a delay of the machine weighs ten times as much
	if os.Getenv("LIMITS_PACE") == "usual" {
		pace, step, bound = usual, 14*time.Second, limit*102/100
	}
	s := redistest.Start(t)
	f := newFleet(t, s, pace, 3, Limits{RequestsPerMinute: limit})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for gateway := range f.limiters {
		running.Go(func() { f.load(ctx, gateway, int(10*limit/3/pace.window.Seconds()), 0) })
	}
	time.Sleep(15 * step)
	healthy := time.Since(f.began)
	s.Signal(syscall.SIGSTOP)
	time.Sleep(9 * step)
	s.Signal(syscall.SIGCONT)
	time.Sleep(7 * step)
	s.Kill()
	time.Sleep(2 * step)
	s.Start()
	time.Sleep(9 * step)
	cancel()
	running.Wait()
	most, _, at := f.most()
	used := f.between(0, healthy)
	possible := float64(limit * (1 + int(healthy/pace.window)))
	t.Logf("most in a window %d of %d (at %v); healthy %.3f of the limit; slowest decision %v; %d admitted", most, limit, at,
		float64(used)/possible, f.slowest, len(f.admitted))
	if most > bound {
		t.Errorf("%d calls within a window of %d", most, limit)
	}
	if float64(used) < 0.95*possible {
		t.Errorf("%d calls while Redis was healthy, of %.0f that could be", used, possible)
	}
	if f.slowest > time.Second {
		t.Errorf("a decision took %v", f.slowest)
	}
}

// TestTokensAreChargedWhenTheCallEndsAndADebtIsCarriedOver: calls of many tokens, of which nobody knows before they end.
func TestTokensAreChargedWhenTheCallEndsAndADebtIsCarriedOver(t *testing.T) {
	t.Parallel()
	const limit = 300_000
	f := newFleet(t, redistest.Start(t), quick, 3, Limits{TokensPerMinute: limit})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var running sync.WaitGroup
	for gateway := range f.limiters {
		running.Go(func() { f.load(ctx, gateway, 10*limit/1000/3/6, 1000) })
	}
	running.Wait()
	_, most, _ := f.most()
	t.Logf("most in a window %d of %d; %d used", most, limit, 1000*len(f.admitted))
	if most > limit*102/100 {
		t.Errorf("%d tokens within a window of %d", most, limit)
	}
}

func TestADebtIsPaidBeforeAnybodyCallsAgain(t *testing.T) {
	t.Parallel()
	patient := quick
	patient.timeout = 5 * time.Second // the debt is the count's: a gateway that cannot ask in time spends its share
	s := redistest.Start(t)
	f := newFleet(t, s, patient, 2, Limits{TokensPerMinute: 1000})
	if reached := f.call(0, 2500, 0); reached != nil {
		t.Fatal("the first call is refused")
	}
	client := s.Client()
	defer func() { _ = client.Close() }()
	began := time.Now()
	for debt := ""; debt == "" || debt == "0"; debt = client.HGet(t.Context(), keyOf(f.application, "tokens"), "debt").Val() {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the debt is not told")
		}
		time.Sleep(quick.tick)
	}
	began = time.Now()
	for f.call(1, 1, 0) != nil {
		if time.Since(began) > 30*time.Second {
			t.Fatal("the debt is never paid")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if took := time.Since(began); took < 2*quick.window || took > 3*quick.window {
		t.Errorf("2.5 times the limit is paid after %v, not within the third window", took)
	}
}

// TestNoMoreCallsAreInFlightThanTheLimit, over gateways, and all of it can be used by any of them.
func TestNoMoreCallsAreInFlightThanTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 40
	patient := quick
	patient.timeout = 5 * time.Second // a gateway that cannot ask in time admits its share beside what the others hold
	s := redistest.Start(t)
	f := newFleet(t, s, patient, 3, Limits{Concurrency: limit})
	var now, most atomic.Int64
	var running sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	var admitted atomic.Int64
	for gateway, l := range f.limiters {
		for range 30 {
			running.Go(func() {
				for ctx.Err() == nil {
					ticket, reached := l.Admit(l.scopes(f.application, uuid.Nil), time.Now())
					if reached != nil {
						time.Sleep(time.Millisecond)
						continue
					}
					admitted.Add(1)
					n := now.Add(1)
					for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
					}
					time.Sleep(20 * time.Millisecond)
					now.Add(-1)
					l.End(ticket, 0, true)
				}
			})
		}
		_ = gateway
	}
	running.Wait()
	t.Logf("most in flight %d of %d; %d calls, %.2f of what is possible", most.Load(), limit, admitted.Load(), float64(admitted.Load())/(6*limit*50))
	if most.Load() > limit {
		t.Errorf("%d calls in flight of %d", most.Load(), limit)
	}
	time.Sleep(3 * quick.life)
	free := 0
	for range limit {
		if f.call(1, 0, 0) == nil {
			free++
		}
	}
	if free < limit {
		t.Errorf("one gateway can use %d of %d slots when the others use none", free, limit)
	}
}
