package limits

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// slots are the calls in flight that a subject may have, as this gateway sees them.
type slots struct {
	limit    atomic.Int64 // 0: none
	held     atomic.Int64 // written under mu
	free     atomic.Int64 // of those held; below 0: more calls than are held
	others   atomic.Int64 // held by them, at the last exchange
	used     atomic.Int64 // by others, at the last exchange
	lastUse  atomic.Int64 // elapsed, to the second
	emptyTo  atomic.Int64
	wanted   atomic.Int64 // in vain, since the last exchange
	exchange gate         // one at a time

	mu     sync.Mutex
	epoch  string
	last   time.Duration
	told   int64         // in flight, at the last exchange
	lossAt time.Duration // 0: none
	atLoss int64         // held then
}

// take never makes free negative, not for a moment either: ask would hold slots for calls that are refused.
func (s *slots) take() bool {
	for free := s.free.Load(); free > 0; free = s.free.Load() {
		if s.free.CompareAndSwap(free, free-1) {
			return true
		}
	}
	return false
}

func (s *slots) release() { s.free.Add(1) }

// inFlight is how many are in use.
func (s *slots) inFlight() int64 { return s.held.Load() - s.free.Load() }

// hold makes n the number of slots held; those in use stay so.
func (s *slots) hold(n int64) {
	s.free.Add(n - s.held.Swap(n))
}

// room is how many nobody holds, at the last exchange.
func (s *slots) room() int64 { return s.limit.Load() - s.others.Load() - s.held.Load() }

// spare is what is given back: all but a reserve, which is none where slots are scarce.
func (s *slots) spare(peers int, keep bool) int64 {
	reserve := int64(0)
	if room := s.room(); keep && room > 0 {
		reserve = room / int64(4*peers)
	}
	return max(0, s.free.Load()-reserve)
}

// ask is what an exchange tells and wants; what is spare is given back by it.
func (s *slots) ask(gateway string, want int64, peers int, keep bool, stale time.Duration) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if over := -s.free.Load(); over > 0 { // calls that were in flight when the share was less: they hold theirs
		s.hold(s.held.Load() + over)
	}
	s.wanted.Store(0)
	if want == 0 {
		for n := s.spare(peers, keep); n > 0 && s.take(); n-- { // a call may have been sooner
			s.held.Add(-1)
		}
	}
	s.told = max(0, s.inFlight())
	return []any{s.limit.Load(), gateway, s.held.Load(), want, min(want, 1), peers, stale.Milliseconds(), s.told}
}

// accept takes the answer. It reports whether what others hold was lost, and whether there is enough for the call that
// asked, which has it then.
func (s *slots) accept(answer any, sent time.Duration, reserve int64) (lost, served bool, err error) {
	list, ok := answer.([]any)
	if !ok || len(list) != 4 {
		return false, false, fmt.Errorf("the slots of a limit answer %T", answer)
	}
	epoch, isText := list[0].(string)
	others, isNumber := list[1].(int64)
	granted, isToo := list[2].(int64)
	used, isAlso := list[3].(int64)
	if !isText || !isNumber || !isToo || !isAlso {
		return false, false, errors.New("the slots of a limit answer something else than numbers")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lost = s.epoch != "" && s.epoch != epoch && s.others.Load() > 0
	s.others.Store(others)
	s.used.Store(used)
	s.epoch, s.last, s.lossAt = epoch, sent, 0
	if served = reserve > 0 && granted >= reserve; !served {
		reserve = 0
	}
	s.held.Add(granted)
	s.free.Add(granted - reserve)
	return lost, served, nil
}

// share holds this gateway's share while there is nobody to ask. What others held when Redis was lost, they may hold on
// to for a window; after it everybody holds an equal share.
func (s *slots) share(of Peers, now, window time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lossAt == 0 {
		s.lossAt, s.atLoss = now, s.held.Load()
	}
	mine := of.part(s.limit.Load())
	if now-s.lossAt < window && s.epoch != "" {
		mine = min(max(mine, s.atLoss), s.atLoss+of.part(s.limit.Load()-s.others.Load()-s.atLoss))
	}
	s.hold(mine)
}
