package budget

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Caller is whose call it is, and of what.
type Caller struct {
	Key, Application, Owner uuid.UUID
	Capability              string
}

// Snapshot is all that gateways enforce, as of one moment. It never changes. The zero value has nothing.
type Snapshot struct {
	version      uuid.UUID
	keys         map[uuid.UUID][]*enforced // former keys too
	applications map[uuid.UUID][]*enforced
	owners       map[uuid.UUID][]*enforced
	capabilities map[string][]*enforced
}

// enforced is a budget of a snapshot, with the account that its calls were charged to last.
type enforced struct {
	*Budget
	latest atomic.Pointer[account]
}

// ReadSnapshot reads the budgets that are enforced when their version is another than known's, which may be nil; it gives
// known back when nothing has changed. That costs one row.
func (s *Store) ReadSnapshot(ctx context.Context, known *Snapshot) (*Snapshot, error) {
	read := &Snapshot{keys: map[uuid.UUID][]*enforced{}, applications: map[uuid.UUID][]*enforced{}, owners: map[uuid.UUID][]*enforced{},
		capabilities: map[string][]*enforced{}}
	if err := s.pool.QueryRow(ctx, `SELECT version FROM budgets_version`).Scan(&read.version); err != nil {
		return nil, fmt.Errorf("version of budgets: %w", err)
	}
	if known != nil && known.version == read.version {
		return known, nil
	}
	var budgets []Budget
	moment := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err := pgx.BeginTxFunc(ctx, s.pool, moment, func(tx pgx.Tx) (err error) {
		if err = tx.QueryRow(ctx, `SELECT version FROM budgets_version`).Scan(&read.version); err != nil {
			return err
		}
		budgets, err = query(ctx, tx, ``)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read budgets: %w", err)
	}
	for i := range budgets {
		if b := &budgets[i]; b.Enforced() {
			read.put(&enforced{Budget: b})
		}
	}
	return read, nil
}

func (s *Snapshot) put(b *enforced) {
	switch b.Scope {
	case ForKey:
		for _, key := range append([]uuid.UUID{b.Key}, b.FormerKeys...) {
			s.keys[key] = append(s.keys[key], b)
		}
	case ForApplication:
		s.applications[b.Application] = append(s.applications[b.Application], b)
	case ForOwner:
		s.owners[b.Owner] = append(s.owners[b.Owner], b)
	case ForCapability:
		s.capabilities[b.Capability] = append(s.capabilities[b.Capability], b)
	}
}

// of gives the budgets that a call is held to, the narrowest scope first, and how many they are.
func (s *Snapshot) of(by Caller) (found [4][]*enforced, count int) {
	found = [...][]*enforced{s.keys[by.Key], s.applications[by.Application], s.owners[by.Owner], s.capabilities[by.Capability]}
	for _, some := range found {
		count += len(some)
	}
	return found, count
}
