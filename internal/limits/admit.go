package limits

import "time"

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
	Owner      bool          // it is the ceiling of the owner, for all applications together
	Value      int64         // of it
	RetryAfter time.Duration // at least 1 s; of a day, until it ends
}

// Ticket is what a call has taken; End ends it. The zero Ticket took nothing.
type Ticket struct {
	state    *State
	estimate int64 // of tokens
	own      hold
	owner    hold // of the owner's ceiling, if any
}

// hold is what a call has taken of the limits of a state.
type hold struct {
	state                 *State
	requestIn, callIn     int64 // buckets
	tokensIn, dayTokensIn int64
	tokens, dayTokens     int64 // 0: none
	request, call, slot   bool
}

// Admit takes of every limit of an application what a call needs. A warm call asks nobody: it spends what is leased.
// start is when the call began.
func (l *Limiter) Admit(s *State, start time.Time) (t Ticket, reached *Reached) {
	if !s.limited {
		return Ticket{}, nil
	}
	now := start.Sub(l.began)
	t = Ticket{state: s, estimate: s.perCall.Load(), own: hold{state: s}}
	owner := s.owner.Load()
	if t.estimate == 0 && owner != nil { // what is known of its owner's other applications
		t.estimate = owner.perCall.Load()
	}
	t.estimate = max(1, t.estimate)
	reached = l.take(&t.own, allLimits, t.estimate, start, now)
	if owner != nil && reached == nil {
		t.owner.state = owner.State
		if reached = l.take(&t.owner, owner.limits, t.estimate, start, now); reached != nil {
			reached.Owner = true
			t.own.refund()
		}
	}
	if reached != nil {
		l.metrics.refused.WithLabelValues(reached.Limit).Inc()
		return Ticket{}, reached
	}
	return t, nil
}

// allLimits concern every call of a state.
var allLimits = Limits{RequestsPerMinute: 1, TokensPerMinute: 1, Concurrency: 1, CallsPerDay: 1, TokensPerDay: 1}

// take takes for a call of those limits of h's state that concern it, or nothing.
func (l *Limiter) take(h *hold, concern Limits, estimate int64, start time.Time, now time.Duration) (reached *Reached) {
	s := h.state
	if concern.RequestsPerMinute != 0 {
		h.requestIn, h.request, reached = l.spend(s, s.requests, RequestsPerMinute, RateLimited, 1, now)
	}
	if reached == nil && concern.CallsPerDay != 0 {
		s.calls.countsFrom(start)
		h.callIn, h.call, reached = l.spend(s, s.calls, CallsPerDay, QuotaExhausted, 1, now)
	}
	if reached == nil && concern.TokensPerMinute != 0 {
		h.tokensIn, h.tokens, reached = l.reserve(s, s.tokens, TokensPerMinute, RateLimited, estimate, now)
	}
	if reached == nil && concern.TokensPerDay != 0 {
		s.dayTokens.countsFrom(start)
		h.dayTokensIn, h.dayTokens, reached = l.reserve(s, s.dayTokens, TokensPerDay, QuotaExhausted, estimate, now)
	}
	if reached == nil && concern.Concurrency != 0 {
		h.slot, reached = l.occupy(s, now)
	}
	if reached != nil {
		h.refund()
	}
	touch(&s.slots.lastUse, now) // also of a state whose limits do not concern the call: it is in use
	return reached
}

// reserve takes an estimate of tokens, which is not used yet. It gives how many were taken.
func (l *Limiter) reserve(s *State, m *meter, name, code string, estimate int64, now time.Duration) (bucket, n int64, reached *Reached) {
	limit := m.limit.Load()
	bucket, taken, reached := l.spend(s, m, name, code, estimate, now)
	if !taken {
		return 0, 0, reached
	}
	n = min(estimate, limit)
	m.reserve(bucket, n)
	s.reserving.Add(1)
	return bucket, n, nil
}

// refund gives everything back.
func (h *hold) refund() {
	s := h.state
	if h.request {
		s.requests.giveBack(h.requestIn, 1)
	}
	if h.call {
		s.calls.giveBack(h.callIn, 1)
	}
	h.free()
	h.settle(0, 0)
}

// free gives the slot back.
func (h *hold) free() {
	if h.slot {
		h.state.slots.release()
	}
}

// settle counts so many tokens instead of the estimate.
func (h *hold) settle(tokens int64, now time.Duration) {
	s := h.state
	if h.tokens > 0 {
		s.tokens.settle(h.tokensIn, h.tokens, tokens, now)
		s.reserving.Add(-1)
	}
	if h.dayTokens > 0 {
		s.dayTokens.settle(h.dayTokensIn, h.dayTokens, tokens, now)
		s.reserving.Add(-1)
	}
}

// learn notes what a call used, for the estimates of later ones.
func (h *hold) learn(tokens int64) {
	if h.state != nil {
		average := h.state.perCall.Load()
		if average == 0 {
			average = tokens
		}
		h.state.perCall.Store(average + (tokens-average)/8)
	}
}

// countsTokens tells whether a limit of tokens holds.
func (h *hold) countsTokens() bool { return h.tokens > 0 || h.dayTokens > 0 }

// End ends what a call took: its slot is free, and its tokens are counted. all tells whether the answer said how many
// they are; else they are a lower bound, of which what was estimated stays counted where that is more: a caller that
// leaves before the end saves nothing by it. It gives how many are counted, 0 where no limit of tokens holds.
func (l *Limiter) End(t Ticket, tokens int64, all bool) (counted int64) {
	if t.state == nil {
		return 0
	}
	t.own.free()
	t.owner.free()
	if !t.own.countsTokens() && !t.owner.countsTokens() {
		return 0
	}
	switch {
	case !all:
		tokens = max(tokens, t.estimate)
		l.metrics.estimated.Inc()
	case tokens > 0: // a call that failed used none, which says nothing of the others
		t.own.learn(tokens)
		t.owner.learn(tokens)
	}
	now := l.elapsed()
	t.own.settle(tokens, now)
	t.owner.settle(tokens, now)
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
func (l *Limiter) spend(s *State, m *meter, name, code string, n int64, now time.Duration) (bucket int64, taken bool, reached *Reached) {
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
	bucket, taken = l.spendMore(s, m, n)
	m.waiting.Add(-n)
	if taken {
		return bucket, true, nil
	}
	m.vain.Add(n)
	after := time.Duration(m.frees(l.elapsed())) * time.Millisecond
	return 0, false, &Reached{Code: code, Limit: name, Value: limit, RetryAfter: max(after, time.Second)}
}

// spendMore asks the count for more, or spends of the gateway's share while it cannot be asked.
func (l *Limiter) spendMore(s *State, m *meter, n int64) (bucket int64, taken bool) {
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
		bucket, taken, answered = l.exchange(s, m, m.demand(n, now, l.pace.life), n)
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
func (l *Limiter) occupy(s *State, now time.Duration) (taken bool, reached *Reached) {
	limit := s.slots.limit.Load()
	if limit == 0 {
		return false, nil
	}
	touch(&s.slots.lastUse, now)
	if s.slots.take() || l.occupyMore(s) {
		return true, nil
	}
	s.slots.wanted.Add(1)
	return false, &Reached{Code: ConcurrencyLimited, Limit: Concurrency, Value: limit, RetryAfter: time.Second}
}

func (l *Limiter) occupyMore(s *State) bool {
	asks := s.slots.exchange.LockWithin(l.pace.timeout)
	if asks {
		defer s.slots.exchange.Unlock()
	}
	now := l.elapsed()
	switch {
	case s.slots.take():
		return true
	case int64(now) < s.slots.emptyTo.Load():
		return false
	}
	taken, answered := false, false
	if asks && !l.link.sharing(now) {
		taken, answered = l.exchangeSlots(s, 8)
	}
	if !answered {
		s.slots.share(*l.peers.Load(), now, l.pace.window)
		taken = s.slots.take()
	}
	if taken {
		return true
	}
	s.slots.emptyTo.Store(int64(l.elapsed() + l.pace.tick))
	return false
}
