package limits

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store keeps limits and ceilings in PostgreSQL.
type Store struct {
	pool *pgxpool.Pool
}

// New returns a store on pool.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// columnsOf selects the limits of a table, or of an alias of one, as an array in the order of values; of a row that
// an outer join did not find they are all 0.
func columnsOf(table string) string {
	return fmt.Sprintf(`ARRAY[coalesce(%[1]s.requests_per_minute, 0), coalesce(%[1]s.tokens_per_minute, 0),
		coalesce(%[1]s.concurrency, 0), coalesce(%[1]s.calls_per_day, 0), coalesce(%[1]s.tokens_per_day, 0)]`, table)
}

// limitsOf is what columnsOf selected.
func limitsOf(columns []int64) (l Limits) {
	for i, value := range l.values() {
		*value = columns[i]
	}
	return l
}

// ReadSnapshot reads limits and ceilings when their version is another than known's, which may be nil; it gives
// known back when nothing has changed. That costs one row.
func (s *Store) ReadSnapshot(ctx context.Context, known *Snapshot) (*Snapshot, error) {
	if known != nil {
		var version uuid.UUID
		if err := s.pool.QueryRow(ctx, `SELECT version FROM limits_version`).Scan(&version); err != nil {
			return nil, fmt.Errorf("version of limits: %w", err)
		}
		if version == known.version {
			return known, nil
		}
	}
	var read *Snapshot
	moment := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, moment, func(tx pgx.Tx) (err error) {
		read, err = readSnapshot(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read limits: %w", err)
	}
	return read, nil
}

// readSnapshot reads everything; the transaction holds it to one moment.
func readSnapshot(ctx context.Context, tx pgx.Tx) (*Snapshot, error) {
	s := &Snapshot{own: map[uuid.UUID]Limits{}, owners: map[uuid.UUID]Limits{}, applications: map[uuid.UUID]Limits{},
		keys: map[uuid.UUID]map[uuid.UUID]KeyLimits{}}
	if err := tx.QueryRow(ctx, `SELECT version FROM limits_version`).Scan(&s.version); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
		SELECT '' AS scope, l.application_id, `+columnsOf("l")+` FROM application_limits l
		UNION ALL
		SELECT c.scope, coalesce(c.application_id, c.owner_id), `+columnsOf("c")+` FROM limit_ceilings c`)
	if err != nil {
		return nil, err
	}
	var scope Scope
	var target *uuid.UUID
	var columns []int64
	_, err = pgx.ForEachRow(rows, []any{&scope, &target, &columns}, func() error {
		s.put(scope, target, limitsOf(columns))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, s.readKeys(ctx, tx)
}

// readKeys reads the limits of keys, and what the keys are called.
func (s *Snapshot) readKeys(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `
		SELECT k.application_id, k.id, CASE WHEN k.first AND k.name = 'default' THEN '' ELSE k.name END, `+columnsOf("l")+`
		FROM key_limits l JOIN application_keys k ON k.id = l.key_id`)
	if err != nil {
		return err
	}
	var application, key uuid.UUID
	var name string
	var columns []int64
	_, err = pgx.ForEachRow(rows, []any{&application, &key, &name, &columns}, func() error {
		if l := limitsOf(columns); l != (Limits{}) {
			if s.keys[application] == nil {
				s.keys[application] = map[uuid.UUID]KeyLimits{}
			}
			s.keys[application][key] = KeyLimits{Name: name, Limits: l}
		}
		return nil
	})
	return err
}

// put takes one row; a row that sets nothing is as good as none.
func (s *Snapshot) put(scope Scope, target *uuid.UUID, l Limits) {
	switch {
	case l == Limits{}:
	case scope == ForAll:
		s.all = l
	case scope == ForOwner:
		s.owners[*target] = l
	case scope == ForApplication:
		s.applications[*target] = l
	default:
		s.own[*target] = l
	}
}
