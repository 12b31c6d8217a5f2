package budget

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/pricing"
)

// accountKey is a budget in a period, which begins on a day.
type accountKey struct {
	budget uuid.UUID
	from   beijing.Day
}

// redis is where Redis keeps what is known of it.
func (k accountKey) redis() string {
	return "callgate:budget:{" + k.budget.String() + "}:" + k.from.String()
}

// account is what a gateway knows of a budget in a period. Calls take of the lease without asking anybody.
type account struct {
	accountKey
	days     beijing.Range          // of the period
	budget   atomic.Pointer[Budget] // as it is now
	lastUse  atomic.Int64           // elapsed
	emptyTo  atomic.Int64           // elapsed until which nobody asks again
	unpriced atomic.Pointer[[]string]
	exchange sync.Mutex // one at a time

	mu       sync.Mutex
	lease    int64                          // millionths that calls may still take before the next exchange
	estimate int64                          // of what a call costs, by those before it; 0: none has cost anything
	inFlight int                            // calls
	nearEnd  bool                           // so little is left that every call asks, and what it cost is said at once
	used     map[beijing.Day]*pricing.Tally // what was used by calls that began on them and have ended
	began    int64                          // ms: the first call that is in it, or in flight
	reserved int64                          // for calls in flight
	taken    int64                          // ever: spent, and reserved
	blind    bool                           // nobody says what is spent: the gateway's share is
	spent    int64                          // by all gateways and the ledger, and reserved here, when that was known last
	then     int64                          // taken, at that exchange
	settled  int                            // calls that have ended
	reading  int64                          // that was told last
}

func newAccount(key accountKey, days beijing.Range) *account {
	return &account{accountKey: key, days: days, used: map[beijing.Day]*pricing.Tally{}, began: math.MaxInt64, nearEnd: true}
}

// begin takes in a call that began. If it is to be paid for, what it is expected to cost is reserved of the lease; enough tells
// whether that does.
func (a *account) begin(start time.Time, paid bool) (expected int64, enough bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight++
	a.began = min(a.began, start.UnixMilli())
	if !paid {
		return 0, true
	}
	expected = a.expected()
	return expected, a.reserve(expected)
}

// expected is what the next call is likely to cost. mu is held.
func (a *account) expected() int64 { return max(1, a.estimate) }

// take reserves n of the lease for a call that has begun.
func (a *account) take(n int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.reserve(n)
}

// reserve is take with mu held.
func (a *account) reserve(n int64) bool {
	if a.lease < n {
		return false
	}
	a.lease -= n
	a.reserved += n
	a.taken += n
	return true
}

// giveBack ends a call that was not made.
func (a *account) giveBack(reserved int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight--
	a.lease += reserved
	a.reserved -= reserved
	a.taken -= reserved
}

// settle counts what a call used, and cost, instead of what was reserved for it. It tells whether that is to be said at once.
func (a *account) settle(reserved, cost int64, used []pricing.Usage) (atOnce bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight--
	if cost > 0 {
		if a.estimate == 0 {
			a.estimate = cost
		}
		a.estimate += (cost - a.estimate) / 8
	}
	a.settled++
	a.lease += reserved - cost
	a.reserved -= reserved
	a.taken += cost - reserved
	if len(used) > 0 {
		tally := a.used[used[0].Day]
		if tally == nil {
			tally = &pricing.Tally{}
			a.used[used[0].Day] = tally
		}
		tally.Add(used)
	}
	return a.nearEnd
}

// answer is what an exchange gives.
type answer struct {
	ms, others, mine, at, cut, granted int64
	unpriced                           []string
	claimed, late                      bool
}

func parseAnswer(got any) (a answer, err error) {
	list, ok := got.([]any)
	if !ok || len(list) != 9 {
		return a, fmt.Errorf("what is known of a budget answers %T of %d", got, len(list))
	}
	var claimed, late int64
	for i, to := range []*int64{&a.ms, &a.others, &a.mine, &a.at, &a.cut, nil, &a.granted, &claimed, &late} {
		if to == nil {
			text, is := list[i].(string)
			ok, a.unpriced = ok && is, strings.Fields(text)
			continue
		}
		n, is := list[i].(int64)
		ok, *to = ok && is, n
	}
	if !ok {
		return a, errors.New("what is known of a budget answers something else than numbers")
	}
	a.claimed, a.late = claimed == 1, late == 1
	return a, nil
}

// asking is what an exchange says that is under way.
type asking struct {
	taken int64 // ever, when it was asked
	days  string
	began int64
	anew  string // since when it counts if the ledger was asked before anybody knew of its calls; "": it has none
}

// ask says what the calls of each day cost by a book; what is reserved is said of today.
func (a *account) ask(book *pricing.Book, now time.Time) asking {
	a.mu.Lock()
	defer a.mu.Unlock()
	currency, reserved, today := a.budget.Load().Currency, max(0, a.reserved), beijing.DayOf(now)
	var days []string
	for _, day := range slices.Sorted(maps.Keys(a.used)) {
		amount, _ := a.used[day].Sum(book).In(currency)
		n := micro(amount)
		if day == today {
			n, reserved = n+reserved, 0
		}
		days = append(days, strconv.Itoa(int(day))+"="+strconv.FormatInt(n, 10))
	}
	if reserved > 0 {
		days = append(days, strconv.Itoa(int(today))+"="+strconv.FormatInt(reserved, 10))
	}
	asked := asking{taken: a.taken, days: strings.Join(days, " "), began: a.began}
	if len(a.used) > 0 {
		asked.anew = strconv.FormatInt(now.Add(-settled).UnixMilli(), 10)
	}
	return asked
}

// settled is how old the calls are of an account that is idle: the ledger has them.
const settled = warm * 2 / 3

// callsNearEnd is for how many calls a gateway's part of what is left must do, or every call asks: so do the first ones, of which
// nobody knows what they cost.
const callsNearEnd = 4

// accept takes the answer to an exchange.
func (a *account) accept(asked asking, got answer, gateways int64, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if got.at == 0 { // Redis has lost it, or knew nothing yet
		if !a.blind {
			a.lease = 0
		}
		return
	}
	if got.late {
		clear(a.used)
		a.began, _ = strconv.ParseInt(asked.anew, 10, 64)
	}
	for day := range a.used {
		if int64(day) < got.cut {
			delete(a.used, day)
		}
	}
	a.blind, a.spent, a.then = false, got.others+got.mine, asked.taken
	a.lease = got.granted - (a.taken - asked.taken)
	a.nearEnd = a.settled < callsNearEnd || a.left(now)/(2*gateways) < callsNearEnd*a.expected()
	if got.at != a.reading {
		a.reading = got.at
		a.unpriced.Store(&got.unpriced)
	}
}

// left is what is left of the amount that holds, by what was spent when that was known last. mu is held.
func (a *account) left(now time.Time) int64 { return micro(a.budget.Load().Holds(now)) - a.spent }

// neverKnown tells whether nobody has ever said what is spent, and when the first call began of those that it counts.
func (a *account) neverKnown() (began time.Time, unknown bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.UnixMilli(a.began), a.reading == 0
}

// know takes what is spent but by the calls that it counts.
func (a *account) know(spent int64, unpriced []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reading, a.spent, a.then = byLedger, spent, 0
	a.unpriced.Store(&unpriced)
}

// byLedger is a reading that no other gateway knows of.
const byLedger = -1

// share leases this gateway's part of what is left as far as anybody knows: of the whole budget, if nobody ever knew.
func (a *account) share(gateways int64, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.blind = true
	mine := a.left(now)/gateways - (a.taken - a.then)
	if mine > 0 { // the last call may cost more than is left
		mine = max(mine, a.expected())
	}
	a.lease = mine
}

// noteUnpriced notes a capability of which a call's cost is not known, until the next reading says.
func (a *account) noteUnpriced(capability string) {
	for {
		known := a.unpriced.Load()
		if known != nil && slices.Contains(*known, capability) {
			return
		}
		next := []string{capability}
		if known != nil {
			next = append(next, *known...)
		}
		if a.unpriced.CompareAndSwap(known, &next) {
			return
		}
	}
}

// isOver tells whether no call is charged to it any more: the day after its period a call's day is another one.
func (a *account) isOver(today beijing.Day) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.days.End+1 < today && a.inFlight == 0
}

// due tells whether there is something to exchange: calls were made under it lately, are in flight, or left a lease.
func (a *account) due(now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inFlight > 0 || a.lease != 0 || now-time.Duration(a.lastUse.Load()) <= warm
}

// wants is the least that it wants to spend, by itself: nothing where calls ask, or make no use of it.
func (a *account) wants(now time.Duration) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.nearEnd || now-time.Duration(a.lastUse.Load()) >= warm {
		return nothing
	}
	return 0
}
