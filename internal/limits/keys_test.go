package limits

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"callgate/internal/beijing"
)

// callers are two keys of an application, of which the first has limits.
type callers struct{ limited, other Caller }

func newCallers() callers {
	application, owner := uuid.New(), uuid.New()
	return callers{Caller{uuid.New(), application, owner}, Caller{uuid.New(), application, owner}}
}

// holding is a snapshot with these limits.
func (c callers) holding(key, application, owner, all Limits) *Snapshot {
	return &Snapshot{all: all, owners: map[uuid.UUID]Limits{c.limited.Owner: owner}, own: map[uuid.UUID]Limits{c.limited.Application: application},
		keys: map[uuid.UUID]map[uuid.UUID]KeyLimits{c.limited.Application: {c.limited.Key: {Name: "Batch", Limits: key}}}}
}

// call makes one of so many tokens; one that is to stay in flight is not ended.
func (l *Limiter) call(by Caller, tokens int64, stays bool) *Reached {
	_, scopes := l.Of(nil, by)
	ticket, reached := l.Admit(scopes, time.Now())
	if reached == nil && !stays {
		l.End(ticket, tokens, true)
	}
	return reached
}

// TestTheTightestLimitAnswers, of the key, the application, the owner and everybody: as many calls as it allows come
// through, and the one after them is told whose limit it was.
func TestTheTightestLimitAnswers(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for name, c := range map[string]struct {
		key, application, owner, all Limits
		admitted                     int
		limit                        string
		scope                        Scope
		value                        int64
	}{
		"the key's alone":       {key: Limits{RequestsPerMinute: 3}, admitted: 3, limit: RequestsPerMinute, scope: ForKey, value: 3},
		"the key's":             {key: Limits{CallsPerDay: 3}, application: Limits{CallsPerDay: 5}, owner: Limits{CallsPerDay: 7}, admitted: 3, limit: CallsPerDay, scope: ForKey, value: 3},
		"the application's":     {key: Limits{CallsPerDay: 5}, application: Limits{CallsPerDay: 3}, owner: Limits{CallsPerDay: 7}, admitted: 3, limit: CallsPerDay, scope: ForApplication, value: 3},
		"the owner's":           {key: Limits{CallsPerDay: 5}, application: Limits{CallsPerDay: 4}, owner: Limits{CallsPerDay: 3}, admitted: 3, limit: CallsPerDay, scope: ForOwner, value: 3},
		"everybody's":           {key: Limits{CallsPerDay: 5}, all: Limits{CallsPerDay: 3}, admitted: 3, limit: CallsPerDay, scope: ForAll, value: 3},
		"in flight":             {key: Limits{Concurrency: 2}, application: Limits{Concurrency: 4}, admitted: 2, limit: Concurrency, scope: ForKey, value: 2},
		"of other limits":       {key: Limits{RequestsPerMinute: 50, Concurrency: 9}, application: Limits{Concurrency: 4}, admitted: 4, limit: Concurrency, scope: ForApplication, value: 4},
		"together, the narrow":  {key: Limits{CallsPerDay: 3}, application: Limits{CallsPerDay: 3}, owner: Limits{CallsPerDay: 3}, admitted: 3, limit: CallsPerDay, scope: ForKey, value: 3},
		"together, the day":     {key: Limits{RequestsPerMinute: 3}, application: Limits{CallsPerDay: 3}, admitted: 3, limit: CallsPerDay, scope: ForApplication, value: 3},
		"of one scope, the day": {key: Limits{RequestsPerMinute: 3, CallsPerDay: 3}, admitted: 3, limit: CallsPerDay, scope: ForKey, value: 3},
		"a day beside a slot":   {key: Limits{Concurrency: 2}, all: Limits{CallsPerDay: 2}, admitted: 2, limit: CallsPerDay, scope: ForAll, value: 2},
		"tokens of a day":       {key: Limits{RequestsPerMinute: 1}, application: Limits{TokensPerDay: 100}, admitted: 1, limit: TokensPerDay, scope: ForApplication, value: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := newCallers()
			l := newFleetOf(t, s.Client, patient(usual), 1, by.holding(c.key, c.application, c.owner, c.all), nil).limiters[0]
			if beijing.DayOf(time.Now().Add(2*time.Minute)) != beijing.DayOf(time.Now()) {
				c.limit, c.scope = "", "" // a day that ends within the minute is not over later
			}
			stays := c.key.Concurrency != 0
			for i := range c.admitted {
				if reached := l.call(by.limited, 100, stays); reached != nil {
					t.Fatalf("call %d is refused by %+v", i, reached)
				}
			}
			time.Sleep(2 * usual.life) // until the counts have been told of it
			reached := l.call(by.limited, 100, stays)
			if reached == nil || c.limit != "" && (reached.Limit != c.limit || reached.Scope != c.scope || reached.Value != c.value) {
				t.Fatalf("%+v, want %s %d of %s", reached, c.limit, c.value, c.scope)
			}
			if (reached.Scope == ForKey) != (reached.KeyName == "Batch") || reached.RetryAfter < time.Second {
				t.Errorf("%+v", reached)
			}
		})
	}
}

// TestAKeysLimitHoldsNoOtherKey: what the limited one is refused takes nothing of what they share, and what it is not
// refused counts there.
func TestAKeysLimitHoldsNoOtherKey(t *testing.T) {
	t.Parallel()
	s, by := redistest.Start(t), newCallers()
	f := newFleetOf(t, s.Client, patient(usual), 2, by.holding(Limits{RequestsPerMinute: 4, Concurrency: 1},
		Limits{RequestsPerMinute: 60, Concurrency: 2, CallsPerDay: 60}, Limits{}, Limits{}), nil)
	limited, let := 0, 0
	for i := range 800 {
		if f.limiters[i%2].call(by.limited, 0, false) == nil {
			limited++
		}
		if i >= 400 && f.limiters[i/2%2].call(by.other, 0, false) == nil { // beside the flood
			let++
		}
		if i%10 == 9 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	if limited != 4 || let != 56 {
		t.Errorf("%d calls of the limited key, %d of the other one, of 4 and 56", limited, let)
	}
}

// TestWhatAKeyUsesIsCountedInEveryScope, and told to its holder: of its owner's ceiling only what it is.
func TestWhatAKeyUsesIsCountedInEveryScope(t *testing.T) {
	t.Parallel()
	s, by := redistest.Start(t), newCallers()
	f := newFleetOf(t, s.Client, patient(usual), 2, by.holding(Limits{CallsPerDay: 20, TokensPerDay: 5000}, Limits{CallsPerDay: 30}, Limits{CallsPerDay: 40},
		Limits{RequestsPerMinute: 50}), nil)
	for i := range 6 {
		if f.limiters[i%2].call(by.limited, 100, false) != nil || i < 4 && f.limiters[i%2].call(by.other, 100, false) != nil {
			t.Fatal("refused")
		}
	}
	eventually(t, func() bool {
		var told []string
		for _, use := range f.limiters[0].Uses(t.Context(), by.limited) {
			text := string(use.Scope) + " " + use.Name + " " + string(use.Source)
			switch {
			case use.Used == nil:
				text += " unknown"
			case *use.Used == map[string]int64{"key callsPerDay own": 6, "key tokensPerDay own": 600, "application callsPerDay own": 10, "application requestsPerMinute all": 10}[text]:
				text += " right"
			}
			told = append(told, text)
		}
		return strings.Join(told, ", ") == "key callsPerDay own right, key tokensPerDay own right, application requestsPerMinute all right, "+
			"application callsPerDay own right, owner callsPerDay owner unknown"
	})
	for _, use := range f.limiters[1].Uses(t.Context(), by.other) {
		if use.Scope == ForKey {
			t.Errorf("another key is told of %+v", use)
		}
	}
	header := func(of Caller) string {
		_, scopes := f.limiters[0].Of(nil, of)
		return string(f.limiters[0].AppendHeaders(nil, scopes, time.Now()))
	}
	if got := header(by.limited); !strings.Contains(got, `"requests";q=50;w=60, "key-day-calls";q=20;w=86400, "key-day-tokens";q=5000;w=86400`+"\r\n") ||
		strings.Contains(got, "owner-") {
		t.Errorf("a key of which least is left: %s", got)
	}
	eventually(t, func() bool { // it is told with this gateway's next exchange what the other one spent
		return strings.Contains(header(by.limited), `"key-day-calls";r=14;t=`)
	})
	if got := header(by.other); !strings.Contains(got, `"day-calls";q=30;w=86400`) || strings.Contains(got, "key-") {
		t.Errorf("another key: %s", got)
	}
}

// TestAKeysDayIsWhatItWasAfterRedisLostEverything: the ledger is asked for the key, and for its application.
func TestAKeysDayIsWhatItWasAfterRedisLostEverything(t *testing.T) {
	t.Parallel()
	const ofKey, ofApplication = 8, 30
	s, by := redistest.Start(t), newCallers()
	ledger := func(_ context.Context, of Subject, _ []uuid.UUID, _ beijing.Day, _ map[uuid.UUID]time.Time) (int64, int64, error) {
		switch of {
		case Subject{ForKey, by.limited.Key, by.limited.Application}:
			return ofKey, 0, nil
		case Subject{Scope: ForApplication, ID: by.limited.Application}:
			return ofApplication, 0, nil
		}
		t.Errorf("asked for %+v", of)
		return 0, 0, nil
	}
	f := newFleetOf(t, s.Client, quick, 2, by.holding(Limits{CallsPerDay: 20}, Limits{CallsPerDay: 100}, Limits{}, Limits{}), ledger)
	rdb := s.Client()
	defer func() { _ = rdb.Close() }()
	used := func(key, application int64) func() bool {
		return func() bool {
			found, err := NewReader(rdb).Usages(t.Context(), by.limited.Key, by.limited.Application)
			of, all := found[by.limited.Key].CallsToday, found[by.limited.Application].CallsToday
			return err == nil && of != nil && all != nil && *of == key && *all == application
		}
	}
	for i := range 6 {
		if f.limiters[i%2].call(by.limited, 0, false) != nil || f.limiters[i%2].call(by.other, 0, false) != nil {
			t.Fatal("refused")
		}
	}
	eventually(t, used(ofKey+6, ofApplication+12))
	eventually(t, func() bool { return f.limiters[0].knowsBase(by.limited) && f.limiters[1].knowsBase(by.limited) })
	if err := rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	let := 0
	eventually(t, func() bool {
		for _, l := range f.limiters {
			if l.call(by.limited, 0, false) == nil {
				let++
			}
		}
		return used(20, ofApplication+12+int64(let))()
	})
	if let != 20-ofKey-6 {
		t.Errorf("%d calls of %d that were left", let, 20-ofKey-6)
	}
}

// calling counts the commands that are sent one by one: for a call that waits. Those of ticks are sent together.
type calling struct{ alone atomic.Int64 }

func (c *calling) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

func (c *calling) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if strings.HasPrefix(command.Name(), "eval") {
			c.alone.Add(1)
		}
		return next(ctx, command)
	}
}

func (c *calling) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestAWarmCallOfThreeScopesAsksNobody: with five limits each of its key, its application and its owner.
func TestAWarmCallOfThreeScopesAsksNobody(t *testing.T) {
	t.Parallel()
	s, by, asked := redistest.Start(t), newCallers(), new(calling)
	many := Limits{RequestsPerMinute: 1 << 40, TokensPerMinute: 1 << 40, Concurrency: 10_000, CallsPerDay: 1 << 40, TokensPerDay: 1 << 40}
	client := func() redis.UniversalClient {
		rdb := s.Client()
		rdb.AddHook(asked)
		return rdb
	}
	lasting := patient(usual)
	lasting.life = 20 * time.Second // whatever else the machine does, a lease is renewed in time
	l := newFleetOf(t, client, lasting, 1, by.holding(many, many, many, Limits{}), nil).limiters[0]
	var state *State
	call := func() {
		var scopes *Scopes
		if state, scopes = l.Of(state, by.limited); len(scopes.levels) != maxLevels {
			t.Fatalf("%d scopes", len(scopes.levels))
		}
		ticket, reached := l.Admit(scopes, time.Now())
		if reached != nil {
			t.Fatal(reached)
		}
		l.End(ticket, 50, true)
	}
	load := func(lasts time.Duration) (calls int) {
		for end := time.Now().Add(lasts); time.Now().Before(end); time.Sleep(time.Millisecond) {
			call()
			calls++
		}
		return calls
	}
	load(2 * time.Second) // leases grow until they last
	before := asked.alone.Load()
	if before == 0 {
		t.Error("no call has asked for its first lease")
	}
	calls := load(3 * time.Second)
	if asked := asked.alone.Load() - before; asked != 0 {
		t.Errorf("%d of %d calls asked Redis", asked, calls)
	}
}
