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

// ofKey is the query's key filter.
const ofKey = `key_id = {key:UUID}`

// keyDays counts by day, from the rollups: all calls, those with any key, those of the query's key, and successful ones among
// these.
func keyDays(q CallsQuery) string {
	listed := ofKey
	if q.Model != nil {
		listed += " AND " + ofModel
	}
	return `
SELECT toInt32(day), sum(n), sum(with_key), sum(total), sum(total) - sum(failed)
FROM (
    SELECT u.day AS day, u.calls AS n, toInt64(0) AS with_key, toInt64(0) AS total, toInt64(0) AS failed
    FROM usage_daily AS u
    WHERE u.` + q.ofApplications() + ` AND u.day >= {start:Date} AND u.day <= {end:Date}
    UNION ALL
    SELECT k.day AS day, toInt64(0), if(k.meter = 'total', k.amount, 0), if(k.meter = 'total' AND ` + listed + `, k.amount, 0), if(k.meter = 'failed' AND ` + listed + `, k.amount, 0)
    FROM keys_daily AS k
    WHERE k.` + q.ofApplications() + ` AND k.day >= {start:Date} AND k.day <= {end:Date} AND k.meter IN ('total', 'failed')
)
GROUP BY day`
}

// countKeyDays counts the calls of a key by day, from the rollups, and from rows on days on which not every call is known to have
// a key: there were none then, the rollup was not filled yet, or an insert is on its way.
func (r *Reader) countKeyDays(ctx context.Context, q CallsQuery, days beijing.Range) (t series, err error) {
	var unsure []uint32
	parameters := q.parameters("start", days.Start, "end", days.End)
	err = r.each(inOneThread(ctx), "count calls of a key", keyDays(q), parameters, func(rows driver.Rows) error {
		var of beijing.Day
		var withKey int64
		b := timeBucket{unit: day}
		if err := rows.Scan((*int32)(&of), &b.rows, &withKey, &b.calls, &b.successes); err != nil {
			return unavailable(err, "count calls of a key")
		}
		if b.start = of.Start().Unix(); withKey == b.rows {
			t = append(t, b)
		} else {
			unsure = append(unsure, of.Number())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.withRows(ctx, q, t, unsure)
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
