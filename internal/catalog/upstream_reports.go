package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ReportUpstreams stores how a gateway, named by its spool, sees the upstreams, instead of what it told before. What
// it says of one that does not exist is left out, and nothing is stored before its first heartbeat. Keys that may
// not be put back any more are removed with it: some gateway always reports.
func (s *Store) ReportUpstreams(ctx context.Context, spool uuid.UUID, reports map[string]UpstreamReport) error {
	n := len(reports)
	ids, states, errs := make([]string, 0, n), make([]string, 0, n), make([]string, 0, n)
	opened, errorsAt := make([]*time.Time, 0, n), make([]*time.Time, 0, n)
	calls, failures := make([]int64, 0, n), make([]int64, 0, n)
	for id, r := range reports {
		ids, states, errs = append(ids, id), append(states, r.State), append(errs, r.Error)
		opened, errorsAt = append(opened, r.OpenedAt), append(errorsAt, r.ErrorAt)
		calls, failures = append(calls, r.Calls), append(failures, r.Failures)
	}
	batch := &pgx.Batch{}
	batch.Queue(`UPDATE upstreams SET former_key = NULL, former_until = NULL WHERE former_until < now()`)
	batch.Queue(`DELETE FROM gateway_upstreams WHERE spool_id = $1 AND upstream_id <> ALL($2)`, spool, ids)
	batch.Queue(`
		INSERT INTO gateway_upstreams (spool_id, upstream_id, state, opened_at, calls, failures, error, error_at)
		SELECT g.spool_id, u.id, r.state, r.opened_at, r.calls, r.failures, r.error, r.error_at
		FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::bigint[], $6::bigint[], $7::text[], $8::timestamptz[])
		     AS r (id, state, opened_at, calls, failures, error, error_at)
		JOIN upstreams u ON u.id = r.id JOIN gateways g ON g.spool_id = $1
		ON CONFLICT (spool_id, upstream_id) DO UPDATE
		SET state = excluded.state, opened_at = excluded.opened_at, calls = excluded.calls, failures = excluded.failures,
		    error = excluded.error, error_at = excluded.error_at, reported_at = now()`,
		spool, ids, states, opened, calls, failures, errs, errorsAt)
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("report upstreams: %w", err)
	}
	return nil
}
