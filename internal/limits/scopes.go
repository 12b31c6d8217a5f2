package limits

import (
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// Caller is whose call it is.
type Caller struct{ Key, Application, Owner uuid.UUID }

// maxLevels is in how many scopes a call is counted at most.
const maxLevels = 3

// level is one scope that calls are counted in.
type level struct {
	*tally
	limits  Limits            // those of the tally's that concern the calls
	sources [numLimits]Source // who set each of them
	keyName string            // of a key; empty: the application's first one, which nobody has named
}

// Scopes are all that the calls of a key are counted in, the narrowest first. They do not change.
type Scopes struct {
	snapshot *Snapshot
	levels   []level
	headers  headers
}

// isValid tells whether its tallies are kept, and have the limits of its snapshot.
func (s *Scopes) isValid() bool {
	for i := range s.levels {
		if s.levels[i].snapshot.Load() != s.snapshot {
			return false
		}
	}
	return true
}

// State is what a gateway knows of the limits that hold for an application's calls, by one snapshot. Safe for
// concurrent use.
type State struct {
	snapshot *Snapshot
	keys     map[uuid.UUID]KeyLimits  // those that have limits of their own
	others   atomic.Pointer[Scopes]   // of every other key
	mu       sync.Mutex               // of writing
	byKey    atomic.Pointer[keyScope] // replaced as a whole
}

type keyScope map[uuid.UUID]*Scopes

// Of gives what is known of a caller's application, and what its call is counted in: nil for nothing. known is what an
// earlier call of the application gave, and nil is nothing known.
func (l *Limiter) Of(known *State, by Caller) (*State, *Scopes) {
	now := l.snapshot.Load()
	if known == nil || known.snapshot != now {
		known = &State{snapshot: now, keys: now.keys[by.Application]}
		known.byKey.Store(&keyScope{})
	}
	var scopes *Scopes
	_, limited := known.keys[by.Key]
	if limited {
		scopes = (*known.byKey.Load())[by.Key]
	} else {
		scopes = known.others.Load()
	}
	if scopes == nil || !scopes.isValid() {
		scopes = l.scopesOf(now, by)
		known.keep(by.Key, limited, scopes)
	}
	if len(scopes.levels) == 0 {
		return known, nil
	}
	return known, scopes
}

func (s *State) keep(key uuid.UUID, limited bool, scopes *Scopes) {
	if !limited {
		s.others.Store(scopes)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := keyScope{key: scopes}
	for id, of := range *s.byKey.Load() {
		if id != key {
			next[id] = of
		}
	}
	s.byKey.Store(&next)
}

// scopesOf puts together what a call is counted in.
func (l *Limiter) scopesOf(now *Snapshot, by Caller) *Scopes {
	s := &Scopes{snapshot: now}
	alone, together := now.split(by.Application, by.Owner)
	add := func(of Subject, all, concern Limits, keyName string, source func(i int, limit int64) Source) {
		if concern == (Limits{}) {
			return
		}
		one := level{tally: l.tallyOf(of, all, now), limits: concern, keyName: keyName}
		for i, limit := range concern.values() {
			if *limit != 0 {
				one.sources[i] = source(i, *limit)
			}
		}
		s.levels = append(s.levels, one)
	}
	key := now.keys[by.Application][by.Key]
	add(Subject{Scope: ForKey, ID: by.Key, Application: by.Application}, key.Limits, key.Limits, key.Name,
		func(int, int64) Source { return Own })
	own, ceiling := now.own[by.Application], now.applications[by.Application]
	add(Subject{Scope: ForApplication, ID: by.Application}, alone, alone, "", func(i int, limit int64) Source {
		switch limit {
		case *own.values()[i]:
			return Own
		case *ceiling.values()[i]:
			return Source(ForApplication)
		}
		return Source(ForAll)
	})
	add(Subject{Scope: ForOwner, ID: by.Owner}, now.owners[by.Owner], together, "",
		func(int, int64) Source { return Source(ForOwner) })
	s.headers = newHeaders(s.levels, l.pace)
	return s
}
