package spool

import (
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// Held is what of one process's spool ClickHouse has not confirmed, as far as it is on disk.
type Held struct {
	Bytes int64                 // of segments, the open one among them
	Calls map[beijing.Day]int64 // by the Beijing day of their start; nil for an adopted spool, whose calls nobody has counted
}

// Held tells it of this process's spool and of each adopted one.
func (s *Spool) Held() map[uuid.UUID]Held {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[uuid.UUID]Held{s.id: {Calls: map[beijing.Day]int64{}}}
	for id := range s.adopted {
		all[id] = Held{}
	}
	note := func(g *Segment) {
		held := all[g.Spool]
		held.Bytes += g.size
		for _, n := range g.calls {
			held.Calls[n.day] += n.calls // of this process's segments alone
		}
		all[g.Spool] = held
	}
	for _, g := range s.unsent {
		note(g)
	}
	if s.open != nil {
		note(s.open)
	}
	return all
}

// tally is how many calls there are of each Beijing day: of one or two, as a rule.
type tally []dayCalls

type dayCalls struct {
	day   beijing.Day
	calls int64
}

// add counts n calls of a day.
func (t tally) add(day beijing.Day, n int64) tally {
	for i := range t {
		if t[i].day == day {
			t[i].calls += n
			return t
		}
	}
	return append(t, dayCalls{day, n})
}
