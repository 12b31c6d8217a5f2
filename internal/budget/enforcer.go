package budget

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/pricing"
)

// Config says what an Enforcer works with.
type Config struct {
	Gateway  uuid.UUID // this process, as its spool is named
	Snapshot func(ctx context.Context, known *Snapshot) (*Snapshot, error)
	Book     func(ctx context.Context) (*pricing.Book, error)
	// Gateways tells how many gateways live.
	Gateways func(ctx context.Context) (live int, err error)
	// Settled tells until when the ledger has every call that ended, and which gateways have ended and left nothing.
	Settled func(ctx context.Context) (through time.Time, ended []uuid.UUID, err error)
	// Read asks the ledger.
	Read        func(ctx context.Context, q Question) (Spent, error)
	CallTimeout time.Duration // no call lasts longer
	Redis       redis.UniversalClient
	Logger      *slog.Logger
	Registry    prometheus.Registerer

	timeout time.Duration // of an exchange with Redis; 0: usualTimeout
}

const (
	tickEvery     = 250 * time.Millisecond
	readEvery     = time.Minute            // of the ledger, of each budget that calls are made under
	readTimeout   = 10 * time.Second       // of the ledger's answer
	timeoutMargin = 5 * time.Minute        // beyond the longest call
	firstReading  = 2 * time.Second        // how long the first call of a budget waits for what is spent
	usualTimeout  = 100 * time.Millisecond // of an exchange with Redis
	silentAfter   = 15 * time.Second       // what a silent gateway may spend is free for others
	allSaid       = tickEvery * 3 / 2      // after which every gateway has said its part where Redis lost it
	warm          = 3 * time.Second        // after its last call a budget still has a lease
	exchangesOnce = 500                    // of one round trip
)

// Codes of refusals; the gateway answers 429 with them.
const (
	Exceeded    = "budget_exceeded"
	CostUnknown = "cost_unknown"
)

// Refused is why a call is refused.
type Refused struct {
	Code   string
	Budget *Budget
	Begins time.Time // when the budget begins anew
}

// Enforcer holds calls to the budgets that block. It is for one gateway; every gateway has one.
type Enforcer struct {
	config   Config
	began    time.Time
	snapshot atomic.Pointer[Snapshot]
	book     atomic.Pointer[pricing.Book]
	gateways atomic.Int64
	accounts sync.Map // accountKey -> *account
	refused  *prometheus.CounterVec
	failed   prometheus.Counter

	work    context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	reading atomic.Bool
	soon    chan *account // that are to be exchanged about at once
}

// Open reads the budgets, and goes on reading and exchanging until Close. While PostgreSQL cannot be read the budgets read last
// hold; before the first time nobody has any.
func Open(ctx context.Context, config Config) *Enforcer {
	config.timeout = cmp.Or(config.timeout, usualTimeout)
	e := &Enforcer{config: config, began: time.Now(), soon: make(chan *account, exchangesOnce)}
	e.refused = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "callgate_budget_refusals_total",
		Help: "Calls refused for a budget, by code: budget_exceeded, cost_unknown."}, []string{"code"})
	e.failed = prometheus.NewCounter(prometheus.CounterOpts{Name: "callgate_budget_exchange_failures_total",
		Help: "Exchanges about budgets with Redis, and readings of the ledger for them, that failed."})
	for _, code := range [...]string{Exceeded, CostUnknown} {
		e.refused.WithLabelValues(code)
	}
	if config.Registry != nil {
		config.Registry.MustRegister(e.refused, e.failed)
	}
	e.snapshot.Store(&Snapshot{})
	e.book.Store(pricing.NewBook(nil))
	e.gateways.Store(1)
	e.refresh(ctx)
	e.work, e.cancel = context.WithCancel(context.WithoutCancel(ctx))
	e.every(time.Second, e.refresh)
	e.every(tickEvery, e.tick)
	e.running.Go(e.exchangeSoon)
	return e
}

func (e *Enforcer) every(pause time.Duration, work func(context.Context)) {
	e.running.Go(func() {
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		for {
			select {
			case <-e.work.Done():
				return
			case <-ticker.C:
				work(e.work)
			}
		}
	})
}

// refresh brings budgets, prices and gateways up to date; errors leave them as they are.
func (e *Enforcer) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	known := e.snapshot.Load()
	read, err := e.config.Snapshot(ctx, known)
	if err != nil {
		e.config.Logger.Debug("budgets cannot be read", "error", err)
		return
	}
	if e.snapshot.Store(read); read.empty() {
		return
	}
	if book, err := e.config.Book(ctx); err == nil {
		e.book.Store(book)
	}
	if live, err := e.config.Gateways(ctx); err == nil {
		e.gateways.Store(int64(max(1, live)))
	}
}

func (s *Snapshot) empty() bool {
	return len(s.keys)+len(s.applications)+len(s.owners)+len(s.capabilities) == 0
}

func (e *Enforcer) elapsed() time.Duration { return time.Since(e.began) }

// Ticket is what a call will be charged to; End does it. The zero Ticket is of a call without budgets.
type Ticket struct{ holds []hold }

// hold is what is reserved of a budget for a call.
type hold struct {
	*account
	reserved int64
}

// Admit tells whether a call may be made under all its budgets. Of those that forbid it the one is told that begins anew last:
// who comes again before that is refused once more. A warm call asks nobody. start is when the call began.
func (e *Enforcer) Admit(by Caller, start time.Time) (t Ticket, refused *Refused) {
	budgets, count := e.snapshot.Load().of(by)
	if count == 0 {
		return Ticket{}, nil
	}
	today, now := beijing.DayOf(start), e.elapsed()
	t.holds = make([]hold, 0, count)
	for _, some := range budgets {
		for _, b := range some {
			h, code := e.hold(b, by.Capability, today, start, now)
			if code != "" {
				if begins := b.Period.Of(today).End.End(); refused == nil || begins.After(refused.Begins) {
					refused = &Refused{Code: code, Budget: b.Budget, Begins: begins}
				}
			}
			t.holds = append(t.holds, h)
		}
	}
	if refused != nil {
		e.refused.WithLabelValues(refused.Code).Inc()
		for _, h := range t.holds {
			h.giveBack(h.reserved)
		}
		return Ticket{}, refused
	}
	return t, nil
}

// hold reserves of a budget what a call is expected to cost; code is why it may not be made.
func (e *Enforcer) hold(b *enforced, capability string, today beijing.Day, start time.Time, now time.Duration) (h hold, code string) {
	h.account = e.account(b, today, now)
	var enough bool
	if h.reserved, enough = h.begin(start, b.Action == Block); !enough && !e.ask(h) {
		h.reserved = 0
		return h, Exceeded
	}
	if b.Unknown == Block && e.unpriced(h.account, capability, today) {
		return h, CostUnknown
	}
	return h, ""
}

// unpriced tells whether a call's cost would not be known: nothing has a price, or calls of before were without one.
func (e *Enforcer) unpriced(a *account, capability string, today beijing.Day) bool {
	if !e.book.Load().Prices(capability, today) {
		return true
	}
	found := a.unpriced.Load()
	return found != nil && slices.Contains(*found, capability)
}

// account gives the one of a budget in the period of a day.
func (e *Enforcer) account(b *enforced, day beijing.Day, now time.Duration) *account {
	a := b.latest.Load()
	if a == nil || !a.days.Contains(day) {
		days := b.Period.Of(day)
		key := accountKey{b.ID, days.Start}
		found, ok := e.accounts.Load(key)
		if !ok {
			found, _ = e.accounts.LoadOrStore(key, newAccount(key, days))
		}
		a = found.(*account)
		if a.budget.Swap(b.Budget) != b.Budget { // another amount may hold
			a.emptyTo.Store(0)
		}
		b.latest.Store(a)
	}
	if int64(now)-a.lastUse.Load() > int64(time.Second) {
		a.lastUse.Store(int64(now))
	}
	return a
}

// End charges a call that has ended.
func (e *Enforcer) End(t Ticket, r *calls.Record) {
	if len(t.holds) == 0 {
		return
	}
	book := e.book.Load()
	used := pricing.UsedBy(r)
	sum := book.CostOf(used)
	var currency string
	var cost, unknown int64
	for _, h := range t.holds {
		if in := h.budget.Load().Currency; in != currency {
			var amount decimal.Decimal
			amount, unknown = sum.In(in)
			currency, cost = in, micro(amount)
		}
		atOnce := h.settle(h.reserved, cost, used)
		if unknown > 0 {
			h.noteUnpriced(r.Model)
		}
		if atOnce {
			select {
			case e.soon <- h.account:
			default: // so many are said with the next tick
			}
		}
	}
}

// ask exchanges for a call that found too small a lease, and tells whether it has got what it expects to cost. The first call of
// all waits until what is spent was read. Without Redis the gateway spends its share of what is left.
func (e *Enforcer) ask(h hold) bool {
	a := h.account
	if int64(e.elapsed()) < a.emptyTo.Load() {
		return false
	}
	a.exchange.Lock()
	defer a.exchange.Unlock()
	if a.take(h.reserved) {
		return true
	}
	if int64(e.elapsed()) < a.emptyTo.Load() {
		return false
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		got, err := e.alone(a, h.reserved)
		switch {
		case err != nil:
			e.shareBlind(a)
		case got.claimed:
			ctx, cancel := context.WithTimeout(e.work, firstReading)
			e.read(ctx, claim{a, got.ms})
			cancel()
			continue
		case got.at == 0 && time.Since(began) < firstReading:
			continue
		case got.at == 0:
			e.shareBlind(a)
		}
		break
	}
	if a.take(h.reserved) {
		return true
	}
	a.emptyTo.Store(int64(e.elapsed() + tickEvery))
	return false
}

// shareBlind leases the gateway's share. What is spent is asked of the ledger if that was never known.
func (e *Enforcer) shareBlind(a *account) {
	if began, unknown := a.neverKnown(); unknown {
		ctx, cancel := context.WithTimeout(e.work, firstReading)
		defer cancel()
		q := Question{Ask: Ask{a.budget.Load(), a.from}, Cut: a.from, Counted: map[uuid.UUID]time.Time{e.config.Gateway: began}}
		if found, err := e.config.Read(ctx, q); err == nil {
			a.know(micro(found.Amount), found.Unpriced)
		} else {
			e.failed.Inc()
		}
	}
	a.share(e.gateways.Load(), time.Now())
}

// Close gives back what is leased. What its calls cost stays said.
func (e *Enforcer) Close() {
	e.cancel()
	e.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var all []*account
	e.accounts.Range(func(_, found any) bool {
		all = append(all, found.(*account))
		return true
	})
	e.exchangeAll(ctx, all, false)
}
