package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// KeyUsage is what the calls of one key and capability came to on a span of days, at one model that answered, tier of service
// and band of input. Unlike ModelTokens it is complete in itself.
type KeyUsage struct {
	Application, Key     uuid.UUID
	Day                  beijing.Day // the span's first
	Model, UpstreamModel string
	Total, Failed        int64 // all calls, and those without success; only where model that answered, tier and band are empty
	Calls                int64 // that used it first, or, without usage lines, have input or output tokens
	Metered                    // of no tier and band, what calls without lines used is here too
}

const keyTokensQuery = `
SELECT t.key_id, ` + ofSpan + namedModel + meteredColumns + `
FROM keys_daily AS t
WHERE t.key_id IN {keys:Array(UUID)} AND ` + inDays + `
GROUP BY t.key_id, t.application_id, span, t.model, named_model` + meteredGroups

// KeyTokens gives what each of some keys of these applications used, by spans of days of which these are the first, ascending, as
// SpanTokens does it of applications: what is charged for its rows adds up to what is charged for that, of calls since keys are
// told apart. What take is given is overwritten after it returns, but for its Meters. Faults: Unavailable.
func (r *Reader) KeyTokens(ctx context.Context, applications, keys []uuid.UUID, days beijing.Range, spans []beijing.Day, named []string, take func(*KeyUsage)) error {
	days = r.KeptStatistics(days)
	if len(applications) == 0 || len(keys) == 0 || days.Days() < 1 {
		return nil
	}
	var u KeyUsage
	var day int32
	var tier string
	var band uint32
	parameters := args("applications", applications, "keys", keys, "start", days.Start, "end", days.End, "spans", firstDays(spans), "named", named)
	return r.each(ctx, "usage of keys", keyTokensQuery, parameters, func(rows driver.Rows) error {
		var meters map[string]int64
		if err := rows.Scan(&u.Key, &u.Application, &day, &u.Model, &u.UpstreamModel, &tier, &band, &meters); err != nil {
			return unavailable(err, "read usage of keys")
		}
		u.Day, u.Total, u.Failed = beijing.Day(day), meters["total"], meters["failed"]
		delete(meters, "total")
		delete(meters, "failed")
		u.Calls = u.take(tier, band, meters)
		take(&u)
		return nil
	})
}

const lastUsesQuery = `
SELECT key_id, toUnixTimestamp64Milli(max(k.last_used)) FROM app_keys AS k WHERE application_id = {application:UUID} GROUP BY key_id`

// LastUses tells when each key of an application was used last: Beijing time, RFC 3339 with milliseconds, by key id.
// Keys that were never used are not in it. Faults: Unavailable.
func (r *Reader) LastUses(ctx context.Context, application uuid.UUID) (map[uuid.UUID]string, error) {
	uses := map[uuid.UUID]string{}
	err := r.each(ctx, "last uses of keys", lastUsesQuery, args("application", application), func(rows driver.Rows) error {
		var key uuid.UUID
		var at int64
		if err := rows.Scan(&key, &at); err != nil {
			return unavailable(err, "read last uses of keys")
		}
		uses[key] = beijing.Format(time.UnixMilli(at))
		return nil
	})
	return uses, err
}
