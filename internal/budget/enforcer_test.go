package budget

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/redistest"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/pricing"
)

// fakeLedger has a call a while after it has ended.
type fakeLedger struct {
	mu    sync.Mutex
	lag   time.Duration
	calls []fakeCall
}

type fakeCall struct {
	gateway uuid.UUID
	cost    int64 // whole units
	start   time.Time
	at      time.Time // in the ledger from then on
}

func (l *fakeLedger) add(gateway uuid.UUID, cost int64, start time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, fakeCall{gateway, cost, start, time.Now().Add(l.lag)})
}

func (l *fakeLedger) read(_ context.Context, q Question) (found Spent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		day := beijing.DayOf(c.start)
		since, counted := q.Counted[c.gateway]
		counted = counted && day >= q.Cut && c.start.UnixMilli() >= since.UnixMilli()
		if !time.Now().Before(c.at) && !counted && q.Period.Of(q.From).Contains(day) {
			found.Amount = found.Amount.Add(decimal.NewFromInt(c.cost))
		}
	}
	return found, nil
}

// spent is what all calls of some days cost.
func (l *fakeLedger) spent(days beijing.Range) (sum int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		if days.Contains(beijing.DayOf(c.start)) {
			sum += c.cost
		}
	}
	return sum
}

// fleet is some gateways that hold one budget of an application.
type fleet struct {
	t       *testing.T
	ledger  *fakeLedger
	by      Caller
	budget  atomic.Pointer[Budget]
	others  []*Budget // of the application
	timeout time.Duration
	redis   func() redis.UniversalClient
	members []*Enforcer
	mu      sync.Mutex
	ended   []uuid.UUID
	spent   int64
}

// newFleet holds an amount a day; a token costs one unit.
func newFleet(t *testing.T, client func() redis.UniversalClient, gateways int, amount int64) *fleet {
	f := &fleet{t: t, timeout: 2 * time.Second, ledger: &fakeLedger{lag: 300 * time.Millisecond}, redis: client, by: Caller{Application: uuid.New(), Capability: "chat"}}
	f.budget.Store(&Budget{ID: uuid.New(), Subject: Subject{Scope: ForApplication, Application: f.by.Application}, Period: Day,
		Amount: decimal.NewFromInt(amount), Currency: "USD", Action: Block, Unknown: Allow})
	for range gateways {
		f.join()
	}
	return f
}

func (f *fleet) join() {
	rdb, id := f.redis(), uuid.New()
	book := pricing.NewBook([]pricing.Price{{CapabilityID: "chat", Currency: "USD", Rates: pricing.Rates{Input: decimal.NewFromInt(1_000_000)}}})
	e := Open(f.t.Context(), Config{Gateway: id, Redis: rdb, timeout: f.timeout, Logger: slog.New(slog.DiscardHandler), Read: f.ledger.read,
		Snapshot: func(_ context.Context, known *Snapshot) (*Snapshot, error) { return f.snapshot(known), nil },
		Book:     func(context.Context) (*pricing.Book, error) { return book, nil },
		Settled: func(context.Context) (time.Time, []uuid.UUID, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return time.Now(), f.ended, nil
		},
		Gateways: func(context.Context) (int, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return max(1, len(f.members)), nil
		}})
	f.t.Cleanup(func() { e.Close(); _ = rdb.Close() })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members = append(f.members, e)
	for _, other := range f.members {
		other.gateways.Store(int64(len(f.members)))
	}
}

// snapshot is a gateway's of the budget as it is.
func (f *fleet) snapshot(known *Snapshot) *Snapshot {
	b := f.budget.Load()
	if known != nil && len(known.applications[f.by.Application]) > 0 && known.applications[f.by.Application][0].Budget == b {
		return known
	}
	all := []*enforced{{Budget: b}}
	for _, other := range f.others {
		all = append(all, &enforced{Budget: other})
	}
	return &Snapshot{applications: map[uuid.UUID][]*enforced{f.by.Application: all}}
}

// raise has another amount hold.
func (f *fleet) raise(amount int64) {
	raised := *f.budget.Load()
	raised.Amount = decimal.NewFromInt(amount)
	f.budget.Store(&raised)
	for _, e := range f.members {
		e.snapshot.Store(f.snapshot(nil))
	}
}

// known is where Redis keeps what is known of the budget.
func (f *fleet) known() string {
	return accountKey{f.budget.Load().ID, Day.Of(beijing.Today(time.Now())).Start}.redis()
}

// call makes one that costs so much, and tells whether it was let through.
func (f *fleet) call(gateway int, cost int64) bool { return f.callAt(gateway, cost, time.Now()) }

// callAt makes one that began then, and ends now.
func (f *fleet) callAt(gateway int, cost int64, start time.Time) bool {
	e := f.members[gateway]
	bill, refused := e.Admit(f.by, start)
	if refused != nil {
		return false
	}
	r := &calls.Record{Model: "chat", Start: start}
	r.Usage.Set(calls.UsageInput, uint32(cost))
	e.End(bill, r)
	f.ledger.add(e.config.Gateway, cost, start)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spent += cost
	return true
}

// use calls one after another until all gateways have refused for a while.
func (f *fleet) use(cost func() int64) {
	f.t.Helper()
	for refused := (time.Time{}); refused.IsZero() || time.Since(refused) < 5*tickEvery; {
		for gateway := range f.members {
			if f.call(gateway, cost()) {
				refused = time.Time{}
			} else if refused.IsZero() {
				refused = time.Now()
			}
			f.said(gateway)
		}
	}
}

// said waits until a gateway has said what its calls cost under budgets of which little is left, unless Redis is away.
func (f *fleet) said(gateway int) {
	for deadline := time.Now().Add(2 * tickEvery); time.Now().Before(deadline); {
		time.Sleep(3 * time.Millisecond)
		all := true
		f.members[gateway].accounts.Range(func(_, found any) bool {
			a := found.(*account)
			a.mu.Lock()
			defer a.mu.Unlock()
			all = !a.nearEnd || a.blind || a.then == a.taken
			return all
		})
		if all {
			return
		}
	}
}

// TestCallsOneAfterAnotherAreRefusedExactlyWhenTheBudgetIsUsedUp on one to three gateways, with costs that nobody can foresee: the
// call that reaches the amount is the last. What the ledger has by then changes nothing.
func TestCallsOneAfterAnotherAreRefusedExactlyWhenTheBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var running sync.WaitGroup
	for plan := range 100 {
		running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(plan), 7))
			amount, most := 20+random.Int64N(300), 1+random.Int64N(30)
			f := newFleet(t, server.Client, 1+plan%3, amount)
			for round := range 3 {
				f.use(func() int64 { return 1 + random.Int64N(most) })
				if f.spent < amount || f.spent-amount >= most {
					t.Errorf("plan %d, round %d: %d spent of %d, a call costs at most %d", plan, round, f.spent, amount, most)
					return
				}
				if time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second)))); random.IntN(2) == 0 { // raised
					amount = f.spent + 1 + random.Int64N(100)
					f.raise(amount)
				}
			}
		})
	}
	running.Wait()
}

// TestACallIsChargedToThePeriodsOfTheDayThatItBeganOn, those of a day, a week and a month together, while calls of yesterday end
// among today's.
func TestACallIsChargedToThePeriodsOfTheDayThatItBeganOn(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var running errgroup.Group
	running.SetLimit(4) // more, on a slow machine, and an exchange takes too long to be waited for
	for plan := range 30 {
		running.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(plan), 9))
			most := 1 + random.Int64N(10)
			f := newFleet(t, server.Client, 1+plan%3, 20+random.Int64N(100))
			for i, e := range f.members {
				e.config.CallTimeout = 36 * time.Hour
				f.ledger.calls = append(f.ledger.calls, // of before anybody began to count
					fakeCall{e.config.Gateway, int64(3 + i), time.Now().Add(-3 * 24 * time.Hour), time.Now()})
			}
			for _, period := range []Period{Week, Month} {
				b := *f.budget.Load()
				b.ID, b.Period, b.Amount = uuid.New(), period, decimal.NewFromInt(40+random.Int64N(150))
				f.others = append(f.others, &b)
			}
			for _, e := range f.members {
				e.snapshot.Store(f.snapshot(nil))
			}
			for refused := 0; refused < 100; {
				gateway, start := random.IntN(len(f.members)), time.Now().Add(-time.Duration(random.IntN(2))*24*time.Hour)
				if f.callAt(gateway, 1+random.Int64N(most), start) {
					refused = 0
				} else {
					refused++
					time.Sleep(tickEvery / 20)
				}
				f.said(gateway)
			}
			budgets := append([]*Budget{f.budget.Load()}, f.others...)
			for back := range 2 {
				day, full := beijing.Today(time.Now())-beijing.Day(back), false
				for _, b := range budgets {
					spent, amount := f.ledger.spent(b.Period.Of(day)), b.Amount.IntPart()
					full = full || spent >= amount
					if spent-amount >= most {
						t.Errorf("plan %d, %s of %s: %d spent of %d, a call costs at most %d", plan, b.Period, day, spent, amount, most)
					}
				}
				if !full {
					t.Errorf("plan %d: calls of %s are refused, and no budget of it is used up", plan, day)
				}
			}
			return nil
		})
	}
	_ = running.Wait()
}

// TestManyCallsAtOnceExceedABudgetByWhatWasInFlight at most, and use nearly all of it.
func TestManyCallsAtOnceExceedABudgetByWhatWasInFlight(t *testing.T) {
	t.Parallel()
	const amount, cost, callers = 3000, 3, 8
	f := newFleet(t, redistest.Start(t).Client, 3, amount)
	var running sync.WaitGroup
	for gateway := range f.members {
		for range callers {
			running.Go(func() {
				for until := time.Now().Add(4 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
					f.call(gateway, cost)
				}
			})
		}
	}
	running.Wait()
	if f.spent < amount || f.spent > amount+3*callers*cost {
		t.Errorf("%d spent of %d by %d callers at %d a call", f.spent, amount, 3*callers, cost)
	}
}

// TestABudgetOutlivesRedis: gone and empty again it lets nothing through that is spent, also at a gateway that starts meanwhile.
func TestABudgetOutlivesRedis(t *testing.T) {
	t.Parallel()
	const amount = 220 // 120 of it for three, once 100 are spent
	server := redistest.Start(t)
	f := newFleet(t, server.Client, 2, amount)
	one := func() int64 { return 1 }
	for range 50 {
		f.call(0, 1)
		f.call(1, 1)
	}
	time.Sleep(2 * tickEvery)
	server.Kill()
	f.join()
	f.use(one)
	if f.spent > amount || f.spent < amount*9/10 {
		t.Fatalf("%d of %d spent while Redis was away", f.spent, amount)
	}
	server.Start()
	f.use(one)
	if f.spent != amount {
		t.Fatalf("%d of %d spent once Redis was back, empty", f.spent, amount)
	}
	if err := f.redis().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	f.use(one)
	if f.spent != amount {
		t.Fatalf("%d of %d spent after it lost everything again", f.spent, amount)
	}
}

// TestWhatAnEndedGatewayHadSpentCountsOnce: until the ledger has it by its last word, then by the ledger.
func TestWhatAnEndedGatewayHadSpentCountsOnce(t *testing.T) {
	t.Parallel()
	const amount = 100
	f := newFleet(t, redistest.Start(t).Client, 1, amount)
	f.ledger.lag = time.Hour // nobody sends its spool
	for range 60 {
		f.call(0, 1)
	}
	gone := f.members[0]
	gone.Close()
	f.members = nil
	f.join()
	f.use(func() int64 { return 1 })
	if f.spent != amount {
		t.Fatalf("%d of %d spent, of which another gateway's 60 are in no ledger yet", f.spent, amount)
	}
	f.ledger.mu.Lock()
	for i := range f.ledger.calls {
		f.ledger.calls[i].at = time.Now()
	}
	f.ledger.lag = 100 * time.Millisecond
	f.ledger.mu.Unlock()
	f.mu.Lock()
	f.ended = []uuid.UUID{gone.config.Gateway}
	f.mu.Unlock()
	if err := f.redis().HDel(t.Context(), f.known(), "version").Err(); err != nil { // a reading is due
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	f.raise(150)
	f.use(func() int64 { return 1 })
	if f.spent != 150 {
		t.Errorf("%d of 150 spent once the ledger had all of it", f.spent)
	}
	if f.redis().HExists(t.Context(), f.known(), "gateway:"+gone.config.Gateway.String()).Val() {
		t.Error("the ended gateway's part is still counted")
	}
}
