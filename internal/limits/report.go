package limits

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Source says who set a limit that holds: Own, or the scope of an administrator's ceiling.
type Source string

// Own is the source of a limit that the application's owner has set.
const Own Source = "own"

// Standing is what of limits concerns one application.
type Standing struct {
	Owner    uuid.UUID
	Own      Limits
	Ceilings Limits // of each limit the most specific one
	scopes   [numLimits]Scope
}

// Holding is a limit that holds.
type Holding struct {
	Name   string // as the contract names it
	Limit  int64  // 0: none
	Source Source // empty: none
}

// Holding gives the five limits that hold, in the order of Limits.
func (s Standing) Holding() (holding [numLimits]Holding) {
	own, effective := s.Own, s.Own.within(s.Ceilings)
	for i, limit := range effective.values() {
		holding[i] = Holding{Name: limitNames[i], Limit: *limit}
		switch {
		case *limit == 0:
		case *limit == *own.values()[i]:
			holding[i].Source = Own
		default:
			holding[i].Source = Source(s.scopes[i])
		}
	}
	return holding
}

// lower lays a more specific ceiling over the ones so far.
func (s *Standing) lower(scope Scope, ceiling Limits) {
	for i, limit := range ceiling.values() {
		if *limit != 0 {
			*s.Ceilings.values()[i], s.scopes[i] = *limit, scope
		}
	}
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Standings gives the standing of applications; of one that there is not it is the zero Standing.
func (s *Store) Standings(ctx context.Context, applications ...uuid.UUID) (map[uuid.UUID]Standing, error) {
	return standings(ctx, s.pool, applications)
}

func standings(ctx context.Context, db querier, applications []uuid.UUID) (map[uuid.UUID]Standing, error) {
	rows, err := db.Query(ctx, `
		SELECT a.id, a.owner_id, `+columnsOf("l")+`, `+columnsOf("every")+`, `+columnsOf("owned")+`, `+columnsOf("one")+`
		FROM applications a
		LEFT JOIN application_limits l ON l.application_id = a.id
		LEFT JOIN limit_ceilings every ON every.scope = 'all'
		LEFT JOIN limit_ceilings owned ON owned.owner_id = a.owner_id
		LEFT JOIN limit_ceilings one ON one.application_id = a.id
		WHERE a.id = ANY($1)`, applications)
	if err != nil {
		return nil, fmt.Errorf("limits of applications: %w", err)
	}
	found := make(map[uuid.UUID]Standing, len(applications))
	var id, owner uuid.UUID
	var own, every, owned, one []int64
	_, err = pgx.ForEachRow(rows, []any{&id, &owner, &own, &every, &owned, &one}, func() error {
		standing := Standing{Owner: owner, Own: limitsOf(own)}
		standing.lower(ForAll, limitsOf(every))
		standing.lower(ForOwner, limitsOf(owned))
		standing.lower(ForApplication, limitsOf(one))
		found[id] = standing
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("limits of applications: %w", err)
	}
	return found, nil
}
