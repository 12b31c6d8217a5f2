package limits

import (
	"slices"

	"github.com/google/uuid"
)

// Limits bound what an application may use. 0 is no limit, else 1 to Most. Minutes are sliding,
// days are Beijing days, tokens are input and output together as the answers report them, or an
// estimate where they do not.
type Limits struct {
	RequestsPerMinute int64
	TokensPerMinute   int64
	Concurrency       int64 // calls in flight
	CallsPerDay       int64
	TokensPerDay      int64
}

// Most is the greatest limit there is.
const Most = 1_000_000_000_000

// Scope says for whom a limit is: those of a key and an application are their owner's, the wider ones, and that for one
// application too, are ceilings of administrators.
type Scope string

// The scopes, from the widest on: of ceilings, a narrower one holds before a wider one.
const (
	ForAll         Scope = "all"
	ForOwner       Scope = "owner"
	ForApplication Scope = "application"
	ForKey         Scope = "key"
)

// numLimits is how many limits there are.
const numLimits = 5

// limitNames are the limits as the contract names them, in the order of values.
var limitNames = [numLimits]string{"requestsPerMinute", "tokensPerMinute", "concurrency", "callsPerDay", "tokensPerDay"}

// values are the limits one by one, for what treats all of them alike.
func (l *Limits) values() [numLimits]*int64 {
	return [numLimits]*int64{&l.RequestsPerMinute, &l.TokensPerMinute, &l.Concurrency, &l.CallsPerDay, &l.TokensPerDay}
}

// Get is a limit by its name.
func (l Limits) Get(name string) int64 { return *l.values()[slices.Index(limitNames[:], name)] }

// Each gives the limits that are set, by their names.
func (l Limits) Each(yield func(name string, limit int64) bool) {
	for i, limit := range l.values() {
		if *limit != 0 && !yield(limitNames[i], *limit) {
			return
		}
	}
}

// over gives l where it sets a limit, else wider.
func (l Limits) over(wider Limits) Limits {
	mine, others := l.values(), wider.values()
	for i := range mine {
		if *mine[i] == 0 {
			*mine[i] = *others[i]
		}
	}
	return l
}

// within gives the lesser of l and ceilings, limit by limit.
func (l Limits) within(ceilings Limits) Limits {
	mine, most := l.values(), ceilings.values()
	for i := range mine {
		if *most[i] != 0 && (*mine[i] == 0 || *mine[i] > *most[i]) {
			*mine[i] = *most[i]
		}
	}
	return l
}

// Snapshot is all that a gateway needs to know of limits, as of one moment. It never changes. The zero value is
// that of an installation without limits.
type Snapshot struct {
	version      uuid.UUID
	own          map[uuid.UUID]Limits // by application
	all          Limits               // ceilings
	owners       map[uuid.UUID]Limits
	applications map[uuid.UUID]Limits
	keys         map[uuid.UUID]map[uuid.UUID]KeyLimits // by application and key
}

// KeyLimits are the limits of one key, beneath those of its application.
type KeyLimits struct {
	Name   string // empty: the application's first key, which nobody has named
	Limits Limits
}

// Of gives what holds for an application: its own limits within the ceilings, of which the most specific that sets
// a limit counts. The zero Limits is none.
func (s *Snapshot) Of(application, owner uuid.UUID) Limits {
	return s.own[application].within(s.applications[application].over(s.owners[owner]).over(s.all))
}

// split gives what holds for an application alone, and what of its owner's ceiling holds for it together with the
// owner's other applications. Where an administrator has raised the application's own ceiling above its owner's, its
// calls are not the owner's. Of both the lesser is what Of gives.
func (s *Snapshot) split(application, owner uuid.UUID) (alone, together Limits) {
	alone, together = s.own[application], s.owners[owner]
	ceiling, every := s.applications[application], s.all
	ceilings, others, shared, single := ceiling.values(), every.values(), together.values(), alone.values()
	for i := range single {
		switch {
		case *shared[i] == 0:
			if *ceilings[i] == 0 {
				*ceilings[i] = *others[i]
			}
		case *ceilings[i] > *shared[i]:
			*shared[i] = 0
		}
	}
	alone = alone.within(ceiling)
	for i := range shared {
		if *shared[i] != 0 && *single[i] > *shared[i] {
			*single[i] = 0
		}
	}
	return alone, together
}

// raised are the applications that have a ceiling of their own above an owner's, of one limit: they are not counted in
// the owner's. Others' applications may be among them.
func (s *Snapshot) raised(owner uuid.UUID, limit int) (applications []uuid.UUID) {
	ceiling := s.owners[owner]
	for id, l := range s.applications {
		if *l.values()[limit] > *ceiling.values()[limit] {
			applications = append(applications, id)
		}
	}
	return applications
}

// Empty tells that nobody has any limit.
func (s *Snapshot) Empty() bool {
	return s.all == Limits{} && len(s.own) == 0 && len(s.owners) == 0 && len(s.applications) == 0 && len(s.keys) == 0
}
