package limits

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// SetKey gives what changes the limits of one of an application's keys, inside the transaction that changes the key: the
// application's row is locked in it, and the key is known to be the application's. It gives what was changed, for the
// audit trail. Faults: Invalid with every wrong field, also for a limit above its application's ceiling.
func SetKey(edit Edit, actor string) func(ctx context.Context, tx pgx.Tx, application, key uuid.UUID) (audit.Changes, error) {
	return func(ctx context.Context, tx pgx.Tx, application, key uuid.UUID) (audit.Changes, error) {
		wrong := fault.Fields{}
		if edit.check(wrong); wrong.Err() != nil {
			return nil, wrong.Err()
		}
		found, err := standings(ctx, tx, []uuid.UUID{application})
		if err != nil {
			return nil, err
		}
		if edit.above(wrong, found[application]); wrong.Err() != nil {
			return nil, wrong.Err()
		}
		of, err := keyLimits(ctx, tx, application)
		if err != nil {
			return nil, err
		}
		before := of[key]
		after := edit.of(before)
		if after == before {
			return nil, nil
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO key_limits (key_id, updated_by, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, tokens_per_day)
			VALUES ($1, $2, nullif($3::bigint, 0), nullif($4::bigint, 0), nullif($5::bigint, 0), nullif($6::bigint, 0), nullif($7::bigint, 0))
			ON CONFLICT (key_id) DO UPDATE SET updated_by = excluded.updated_by, updated_at = clock_timestamp(),
				requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute,
				concurrency = excluded.concurrency, calls_per_day = excluded.calls_per_day, tokens_per_day = excluded.tokens_per_day`,
			key, actor, after.RequestsPerMinute, after.TokensPerMinute, after.Concurrency, after.CallsPerDay, after.TokensPerDay)
		if err != nil {
			return nil, fmt.Errorf("write limits of a key: %w", err)
		}
		return changesOf(before, after), nil
	}
}

// OfKeys gives the limits of an application's keys; a key that has none is not in it.
func (s *Store) OfKeys(ctx context.Context, application uuid.UUID) (map[uuid.UUID]Limits, error) {
	return keyLimits(ctx, s.pool, application)
}

func keyLimits(ctx context.Context, db querier, application uuid.UUID) (map[uuid.UUID]Limits, error) {
	rows, err := db.Query(ctx, `
		SELECT l.key_id, `+columnsOf("l")+` FROM application_keys k JOIN key_limits l ON l.key_id = k.id
		WHERE k.application_id = $1`, application)
	if err != nil {
		return nil, fmt.Errorf("limits of keys: %w", err)
	}
	of, key, columns := map[uuid.UUID]Limits{}, uuid.UUID{}, []int64(nil)
	_, err = pgx.ForEachRow(rows, []any{&key, &columns}, func() error {
		if l := limitsOf(columns); l != (Limits{}) {
			of[key] = l
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("limits of keys: %w", err)
	}
	return of, nil
}
