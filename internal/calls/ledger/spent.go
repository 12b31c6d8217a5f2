package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
)

// spentQuery counts calls that were let through: what we refused ourselves uses nothing of a quota.
const spentQuery = `
SELECT count(), toInt64(sum(toUInt64(ifNull(input_tokens, 0)) + ifNull(output_tokens, 0) + estimated_tokens))
FROM calls
WHERE application_id = {application:UUID} AND start_time >= {from:DateTime64(3)} AND start_time < {until:DateTime64(3)}
  AND reason_type NOT IN ('limited', 'permission_denied', 'invalid_request', 'overloaded')
  AND NOT arrayExists((prefix, since) -> startsWith(batch_id, prefix) AND toUnixTimestamp64Milli(start_time) >= since,
                      {prefixes:Array(String)}, {since:Array(Int64)})`

// Spent counts the calls of an application on a Beijing day that were let through, and the tokens they were charged,
// reported or estimated, but for those of the spools named that began at or after the time given there: their gateways
// count these themselves.
func (s *Shipper) Spent(ctx context.Context, application uuid.UUID, day beijing.Day, counted map[uuid.UUID]time.Time) (calls, tokens int64, err error) {
	shards, err := s.servers.shards(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("calls of %s: %w", day, err)
	}
	on := shards[0]
	if len(shards) > 1 {
		on = shards[cluster.Of(application, len(shards))]
	}
	prefixes, since := make([]string, 0, len(counted)), make([]int64, 0, len(counted))
	for id, at := range counted {
		prefixes, since = append(prefixes, spool.BatchPrefix(id)), append(since, at.UnixMilli())
	}
	var n uint64
	err = on.conn().QueryRow(ctx, spentQuery, clickhouse.Named("application", application.String()),
		clickhouse.DateNamed("from", day.Start(), clickhouse.MilliSeconds), clickhouse.DateNamed("until", day.End(), clickhouse.MilliSeconds),
		clickhouse.Named("prefixes", prefixes), clickhouse.Named("since", since)).Scan(&n, &tokens)
	if err != nil {
		return 0, 0, fmt.Errorf("calls of %s: %w", day, err)
	}
	return int64(n), tokens, nil
}
