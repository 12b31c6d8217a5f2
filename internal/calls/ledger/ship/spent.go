package ship

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
)

// spentQuery counts calls that were let through: what we refused ourselves uses nothing of a quota.
const spentQuery = `
SELECT count(), toInt64(sum(toUInt64(ifNull(input_tokens, 0)) + ifNull(output_tokens, 0) + estimated_tokens))
FROM calls
WHERE %s AND start_time >= {from:DateTime64(3)} AND start_time < {until:DateTime64(3)}
  AND reason_type NOT IN ('limited', 'permission_denied', 'invalid_request', 'overloaded')
  AND NOT arrayExists((prefix, since) -> startsWith(batch_id, prefix) AND toUnixTimestamp64Milli(start_time) >= since,
                      {prefixes:Array(String)}, {since:Array(Int64)})`

// Spent counts the calls of an application on a Beijing day that were let through, and the tokens they were charged,
// reported or estimated, but for those of the spools named that began at or after the time given there: their gateways
// count these themselves.
func (s *Shipper) Spent(ctx context.Context, application uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error) {
	return s.spentOf(ctx, application, `application_id = {application:UUID}`, day, counted)
}

// KeySpent is Spent for one of the application's keys.
func (s *Shipper) KeySpent(ctx context.Context, application, key uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error) {
	return s.spentOf(ctx, application, `application_id = {application:UUID} AND key_id = {key:UUID}`, day, counted, clickhouse.Named("key", key.String()))
}

// spentOf counts those of an application for which a condition holds, on its shard.
func (s *Shipper) spentOf(ctx context.Context, application uuid.UUID, condition string, day beijing.Day, counted map[uuid.UUID]time.Time, args ...any) (calls, tokens int64, err error) {
	found, err := s.servers.Shards(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("calls of %s: %w", day, err)
	}
	on := found[0]
	if len(found) > 1 {
		on = found[cluster.Of(application, len(found))]
	}
	return s.spentOn(ctx, on, condition, day, counted, append(args, clickhouse.Named("application", application.String()))...)
}

// OwnerSpent is Spent for all applications of an owner but for some.
func (s *Shipper) OwnerSpent(ctx context.Context, owner uuid.UUID, except []uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error) {
	found, err := s.servers.Shards(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("calls of %s: %w", day, err)
	}
	left := make([]string, len(except))
	for i, id := range except {
		left[i] = id.String()
	}
	for _, on := range found {
		n, of, err := s.spentOn(ctx, on, `user_id = {owner:UUID} AND NOT has({except:Array(String)}, toString(application_id))`, day, counted,
			clickhouse.Named("owner", owner.String()), clickhouse.Named("except", left))
		if err != nil {
			return 0, 0, err
		}
		calls, tokens = calls+n, tokens+of
	}
	return calls, tokens, nil
}

// spentOn counts those of a shard for which a condition holds.
func (s *Shipper) spentOn(ctx context.Context, on *shards.Shard, condition string, day beijing.Day, counted map[uuid.UUID]time.Time, args ...any) (calls, tokens int64, err error) {
	prefixes, since := make([]string, 0, len(counted)), make([]int64, 0, len(counted))
	for id, at := range counted {
		prefixes, since = append(prefixes, spool.BatchPrefix(id)), append(since, at.UnixMilli())
	}
	args = append(args, clickhouse.DateNamed("from", day.Start(), clickhouse.MilliSeconds), clickhouse.DateNamed("until", day.End(), clickhouse.MilliSeconds),
		clickhouse.Named("prefixes", prefixes), clickhouse.Named("since", since))
	var n uint64
	if err = on.Conn().QueryRow(ctx, fmt.Sprintf(spentQuery, condition), args...).Scan(&n, &tokens); err != nil {
		return 0, 0, fmt.Errorf("calls of %s: %w", day, err)
	}
	return int64(n), tokens, nil
}
