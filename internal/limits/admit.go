package limits

import (
	"slices"
	"time"
)

// Codes of what is reached; the gateway answers 429 with them.
const (
	RateLimited        = "rate_limited"
	ConcurrencyLimited = "concurrency_limited"
	QuotaExhausted     = "quota_exhausted"
)

// The limits, as the contract names them.
const (
	RequestsPerMinute = "requestsPerMinute"
	TokensPerMinute   = "tokensPerMinute"
	CallsPerDay       = "callsPerDay"
	TokensPerDay      = "tokensPerDay"
	Concurrency       = "concurrency"
)

// Reached is why a call is refused.
type Reached struct {
	Code       string
	Limit      string        // which one
	Scope      Scope         // whose it is; ForAll is each application's, by a ceiling
	KeyName    string        // of a key's; empty: the application's first one, which nobody has named
	Value      int64         // of it
	RetryAfter time.Duration // at least 1 s; of a day, until it ends
}

// Ticket is what a call has taken; End ends it. The zero Ticket took nothing.
type Ticket struct {
	estimate int64 // of tokens
	holds    [maxLevels]hold
	levels   int
}

// taken are what it has taken of each scope.
func (t *Ticket) taken() []hold { return t.holds[:t.levels] }

// hold is what a call has taken of the limits of a scope.
type hold struct {
	tally                 *tally
	requestIn, callIn     int64 // buckets
	tokensIn, dayTokensIn int64
	tokens, dayTokens     int64 // 0: none
	request, call, slot   bool
}

// Admit takes of every limit of every scope what a call needs, the narrowest first, so that a call refused by a key's
// takes nothing of its application's. A warm call asks nobody: it spends what is leased. start is when the call began.
func (l *Limiter) Admit(s *Scopes, start time.Time) (t Ticket, reached *Reached) {
	if s == nil {
		return Ticket{}, nil
	}
	now := start.Sub(l.began)
	t.estimate, t.levels = s.estimate(), len(s.levels)
	for i := range s.levels {
		if reached = l.take(&t.holds[i], &s.levels[i], t.estimate, start, now); reached == nil {
			continue
		}
		for i := range t.holds[:i] {
			t.holds[i].refund()
		}
		reached = l.tightest(s, reached)
		l.metrics.refused.WithLabelValues(reached.Limit).Inc()
		return Ticket{}, reached
	}
	return t, nil
}

// estimate is how many tokens a call is likely to use, by those before it: of the narrowest scope that knows any.
func (s *Scopes) estimate() int64 {
	for i := range s.levels {
		if n := s.levels[i].perCall.Load(); n > 0 {
			return n
		}
	}
	return 1
}

// tightest gives the one of the limits that are used up which is so for longest: who comes again when another one
// allows it is refused once more. Of those that end together it is the narrowest scope's. Nothing is taken to find out.
func (l *Limiter) tightest(s *Scopes, reached *Reached) *Reached {
	const together = time.Second
	for i := range s.levels {
		of := &s.levels[i]
		for _, name := range meterNames {
			m := of.meter(name)
			if of.limits.Get(name) == 0 || m.left() > 0 {
				continue
			}
			if other := l.reached(of, m, name); other.RetryAfter > reached.RetryAfter+together {
				reached = other
			}
		}
	}
	return reached
}

// take takes for a call what it needs of the limits of a level, or nothing.
func (l *Limiter) take(h *hold, of *level, estimate int64, start time.Time, now time.Duration) (reached *Reached) {
	h.tally = of.tally
	if of.limits.RequestsPerMinute != 0 {
		h.requestIn, h.request, reached = l.spend(of, of.requests, RequestsPerMinute, 1, now)
	}
	if reached == nil && of.limits.TokensPerMinute != 0 {
		h.tokensIn, h.tokens, reached = l.reserve(of, of.tokens, TokensPerMinute, estimate, now)
	}
	if reached == nil && of.limits.CallsPerDay != 0 {
		of.calls.countsFrom(start)
		h.callIn, h.call, reached = l.spend(of, of.calls, CallsPerDay, 1, now)
	}
	if reached == nil && of.limits.TokensPerDay != 0 {
		of.dayTokens.countsFrom(start)
		h.dayTokensIn, h.dayTokens, reached = l.reserve(of, of.dayTokens, TokensPerDay, estimate, now)
	}
	if reached == nil && of.limits.Concurrency != 0 {
		h.slot, reached = l.occupy(of, now)
	}
	if reached != nil {
		h.refund()
	}
	touch(&of.slots.lastUse, now) // also where no limit of calls in flight concerns the call: the tally is in use
	return reached
}

// reserve takes an estimate of tokens, which is not used yet. It gives how many were taken.
func (l *Limiter) reserve(of *level, m *meter, name string, estimate int64, now time.Duration) (bucket, n int64, reached *Reached) {
	limit := m.limit.Load()
	bucket, taken, reached := l.spend(of, m, name, estimate, now)
	if !taken {
		return 0, 0, reached
	}
	n = min(estimate, limit)
	m.reserve(bucket, n)
	of.reserving.Add(1)
	return bucket, n, nil
}

// refund gives everything back.
func (h *hold) refund() {
	if h.request {
		h.tally.requests.giveBack(h.requestIn, 1)
	}
	if h.call {
		h.tally.calls.giveBack(h.callIn, 1)
	}
	h.free()
	h.settle(0, 0)
}

// free gives the slot back.
func (h *hold) free() {
	if h.slot {
		h.tally.slots.release()
	}
}

// settle counts so many tokens instead of the estimate.
func (h *hold) settle(tokens int64, now time.Duration) {
	if h.tokens > 0 {
		h.tally.tokens.settle(h.tokensIn, h.tokens, tokens, now)
		h.tally.reserving.Add(-1)
	}
	if h.dayTokens > 0 {
		h.tally.dayTokens.settle(h.dayTokensIn, h.dayTokens, tokens, now)
		h.tally.reserving.Add(-1)
	}
}

// learn notes what a call used, for the estimates of later ones.
func (h *hold) learn(tokens int64) {
	average := h.tally.perCall.Load()
	if average == 0 {
		average = tokens
	}
	h.tally.perCall.Store(average + (tokens-average)/8)
}

// countsTokens tells whether a limit of tokens holds.
func (h *hold) countsTokens() bool { return h.tokens > 0 || h.dayTokens > 0 }

// End ends what a call took: its slot is free, and its tokens are counted. all tells whether the answer said how many
// they are; else they are a lower bound, of which what was estimated stays counted where that is more: a caller that
// leaves before the end saves nothing by it. It gives how many are counted, 0 where no limit of tokens holds.
func (l *Limiter) End(t Ticket, tokens int64, all bool) (counted int64) {
	taken, charges := t.taken(), false
	for i := range taken {
		taken[i].free()
		charges = charges || taken[i].countsTokens()
	}
	if !charges {
		return 0
	}
	learns := all && tokens > 0 // a call that failed used none, which says nothing of the others
	if !all {
		tokens = max(tokens, t.estimate)
		l.metrics.estimated.Inc()
	}
	now := l.elapsed()
	for i := range taken {
		if learns {
			taken[i].learn(tokens)
		}
		taken[i].settle(tokens, now)
	}
	return tokens
}

// settle counts n instead of what was reserved for them.
func (m *meter) settle(bucket, taken, n int64, now time.Duration) {
	m.reserve(bucket, -taken)
	if n >= taken {
		m.charge(m.bucket(now), n-taken)
		return
	}
	m.giveBack(bucket, taken-n)
}

// spend takes n of a limit where there is one.
func (l *Limiter) spend(of *level, m *meter, name string, n int64, now time.Duration) (bucket int64, taken bool, reached *Reached) {
	limit := m.limit.Load()
	if limit == 0 {
		return 0, false, nil
	}
	n = min(n, limit)
	touch(&m.lastUse, now)
	if bucket, taken = m.take(n, now); taken {
		return bucket, true, nil
	}
	m.waiting.Add(n)
	bucket, taken = l.spendMore(of.tally, m, n)
	m.waiting.Add(-n)
	if taken {
		return bucket, true, nil
	}
	m.vain.Add(n)
	return 0, false, l.reached(of, m, name)
}

// reached tells that a limit which a meter counts is used up.
func (l *Limiter) reached(of *level, m *meter, name string) *Reached {
	after := time.Duration(m.frees(l.elapsed())) * time.Millisecond
	return of.reached(name, m.limit.Load(), max(after, time.Second))
}

func (v *level) reached(name string, limit int64, after time.Duration) *Reached {
	r := &Reached{Code: RateLimited, Limit: name, Scope: v.Scope, KeyName: v.keyName, Value: limit, RetryAfter: after}
	switch name {
	case CallsPerDay, TokensPerDay:
		r.Code = QuotaExhausted
	case Concurrency:
		r.Code = ConcurrencyLimited
	}
	if v.sources[slices.Index(limitNames[:], name)] == Source(ForAll) {
		r.Scope = ForAll
	}
	return r
}

// spendMore asks the count for more, or spends of the gateway's share while it cannot be asked.
func (l *Limiter) spendMore(t *tally, m *meter, n int64) (bucket int64, taken bool) {
	if int64(l.elapsed()) < m.emptyTo.Load() {
		return 0, false
	}
	asks := m.exchange.LockWithin(l.pace.timeout)
	if asks {
		defer m.exchange.Unlock()
	}
	now := l.elapsed()
	if bucket, taken = m.take(n, now); taken { // another call has brought some
		return bucket, true
	}
	if int64(now) < m.emptyTo.Load() {
		return 0, false
	}
	answered := false
	if asks && !l.link.sharing(now) && !m.lost.Load() {
		bucket, taken, answered = l.exchange(t, m, m.demand(n, now, l.pace.life), n)
	}
	// A count that turns out to have lost everything grants nothing: until it is whole again, the share is spent.
	if !answered || !taken && l.link.sharing(l.elapsed()) {
		bucket, taken = m.share(n, *l.peers.Load(), l.elapsed(), l.pace.life)
	}
	if !taken {
		m.emptyTo.Store(int64(l.elapsed() + l.pace.tick))
	}
	return bucket, taken
}

// demand is how much is likely to be spent within the life of a lease, at least n. What was spent early grows at most
// twofold: one burst is not yet a rate.
func (m *meter) demand(n int64, now, life time.Duration) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	demanded := m.demanded()
	return n + min(2*demanded, int64(float64(demanded)*float64(life)/float64(max(now-m.last, time.Millisecond))))
}

// occupy takes a slot where calls in flight are limited.
func (l *Limiter) occupy(of *level, now time.Duration) (taken bool, reached *Reached) {
	limit := of.slots.limit.Load()
	if limit == 0 {
		return false, nil
	}
	touch(&of.slots.lastUse, now)
	if of.slots.take() || l.occupyMore(of.tally) {
		return true, nil
	}
	of.slots.wanted.Add(1)
	return false, of.reached(Concurrency, limit, time.Second)
}

func (l *Limiter) occupyMore(t *tally) bool {
	asks := t.slots.exchange.LockWithin(l.pace.timeout)
	if asks {
		defer t.slots.exchange.Unlock()
	}
	now := l.elapsed()
	switch {
	case t.slots.take():
		return true
	case int64(now) < t.slots.emptyTo.Load():
		return false
	}
	taken, answered := false, false
	if asks && !l.link.sharing(now) {
		taken, answered = l.exchangeSlots(t, 8)
	}
	if !answered {
		t.slots.share(*l.peers.Load(), now, l.pace.window)
		taken = t.slots.take()
	}
	if taken {
		return true
	}
	t.slots.emptyTo.Store(int64(l.elapsed() + l.pace.tick))
	return false
}
