package budget

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
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

// account is what a gateway knows of a budget in a period. Calls spend of the lease without a lock.
type account struct {
	accountKey
	budget   atomic.Pointer[Budget] // as it is now
	lastUse  atomic.Int64           // elapsed
	emptyTo  atomic.Int64           // elapsed until which nobody asks again
	lease    atomic.Int64           // millionths that calls may still spend before the next exchange
	unpriced atomic.Pointer[[]string]
	exchange sync.Mutex // one at a time

	mu    sync.Mutex
	tail  map[int64]*slice // by the second in which the calls ended
	spent int64            // ever
	known bool             // there was an exchange that said what is spent
	blind bool             // none says so: the gateway's share is spent
	left  int64            // of all gateways, at the last exchange
	then  int64            // spent, at the last exchange
}

// slice is what calls cost that ended in the same second.
type slice struct {
	cost      int64
	confirmed int64 // ms of Redis at which the ledger had them all; 0: not yet
}

func newAccount(key accountKey) *account {
	return &account{accountKey: key, tail: map[int64]*slice{}}
}

// spend counts what a call cost that has ended.
func (a *account) spend(n int64, ended time.Time) {
	a.lease.Add(-n)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spent += n
	at := a.tail[ended.Unix()]
	if at == nil {
		at = &slice{}
		a.tail[ended.Unix()] = at
	}
	at.cost += n
}

// untold is what the gateway's calls cost that no reading has. mu is held.
func (a *account) untold() (n int64) {
	for _, of := range a.tail {
		n += of.cost
	}
	return n
}

// answer is what an exchange gives.
type answer struct {
	ms, spent, at, others, granted int64
	unpriced                       []string
	claimed                        bool
}

func parseAnswer(got any) (a answer, err error) {
	list, ok := got.([]any)
	if !ok || len(list) != 7 {
		return a, fmt.Errorf("what is known of a budget answers %T of %d", got, len(list))
	}
	var claimed int64
	for i, to := range []*int64{&a.ms, &a.spent, &a.at, nil, &a.others, &a.granted, &claimed} {
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
	a.claimed = claimed == 1
	return a, nil
}

// asking is an exchange that is under way.
type asking struct {
	spent  int64 // ever, when it was asked
	tail   int64
	oldest int64 // least end of a call that the ledger had not confirmed then, in Unix milliseconds
}

// settleAfter is how old calls are before the spool's word counts for them: they have been handed over to it by then.
const settleAfter = 2 * time.Second

func (a *account) ask(oldest int64) asking {
	a.mu.Lock()
	defer a.mu.Unlock()
	return asking{spent: a.spent, tail: a.untold(), oldest: oldest}
}

// accept takes the answer to an exchange.
func (a *account) accept(asked asking, got answer, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for second, of := range a.tail {
		end := (second + 1) * 1000
		switch {
		case of.confirmed == 0 && end <= asked.oldest && end <= now.Add(-settleAfter).UnixMilli():
			of.confirmed = got.ms
		case of.confirmed > 0 && got.at > of.confirmed:
			delete(a.tail, second)
		}
	}
	if got.at == 0 { // Redis has lost it, or knew nothing yet
		if !a.blind {
			a.lease.Store(0)
		}
		return
	}
	a.known, a.blind, a.then = true, false, asked.spent
	a.left = micro(a.budget.Load().Holds(now)) - got.spent - got.others - asked.tail
	a.lease.Store(got.granted - (a.spent - asked.spent))
	if known := a.unpriced.Load(); known == nil || !slices.Equal(*known, got.unpriced) {
		a.unpriced.Store(&got.unpriced)
	}
}

// share leases this gateway's part of what was left when that was known last: of the whole budget, if it never was.
func (a *account) share(gateways int64, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := a.left
	if !a.known {
		left = micro(a.budget.Load().Holds(now))
	}
	a.blind = true
	a.lease.Store(left/gateways - (a.spent - a.then))
}

// idle tells whether nothing of it must be kept.
func (a *account) idle(now, within time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.tail) == 0 && now-time.Duration(a.lastUse.Load()) > within
}
