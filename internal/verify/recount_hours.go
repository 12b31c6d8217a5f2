package verify

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// hourDifference is an hour of an application in which a rollup by the hour has other figures of a capability, and of a
// model that answered, than the rows of calls have.
type hourDifference struct {
	Rollup               string
	Hour                 time.Time
	Model, UpstreamModel string
	Columns              []string // that are counted, of
	Rows, Kept           []int64
	Buckets              uint64 // of durations that differ
}

// hourly is a rollup by the hour, and how its columns are counted from rows.
type hourly struct {
	table, upstream, counted string
	columns, ofRows          []string
	rows, kept               string // histograms
}

const noHistogram = "CAST(([], []), 'Tuple(Array(UInt16), Array(Int64))')"

// The bucket of a duration is worked out from its number, as recountQuery does.
var hourlies = []hourly{
	{
		table: "usage_hourly", upstream: "''", counted: "1",
		columns: []string{"calls", "successes", "duration_ms"}, ofRows: []string{"count()", "sum(success)", "sum(duration_ms)"},
		rows: "sumMap([toUInt16(32 * shift + bitShiftRight(duration_ms, shift))], [toInt64(1)])",
		kept: "sumMap(u.durations.1, arrayMap(n -> -n, u.durations.2))",
	},
	{
		table: "tokens_hourly", upstream: "upstream_model", counted: "usage_state != '' AND usage_state != 'none'",
		columns: []string{"reported", "partial", "absent", "unreadable", "counted", "input", "output", "cached", "cache_write", "reasoning"},
		ofRows: []string{
			"sum(usage_state = 'reported')", "sum(usage_state = 'partial')", "sum(usage_state = 'absent')", "sum(usage_state = 'unreadable')",
			"sum(input_tokens IS NOT NULL OR output_tokens IS NOT NULL)", "sum(ifNull(input_tokens, 0))", "sum(ifNull(output_tokens, 0))",
			"sum(ifNull(cached_tokens, 0))", "sum(ifNull(cache_write_tokens, 0))", "sum(ifNull(reasoning_tokens, 0))",
		},
		rows: noHistogram, kept: noHistogram,
	},
}

// query gives the hours that differ.
func (h hourly) query() string {
	ofRows, ofRollup, none := make([]string, len(h.columns)), make([]string, len(h.columns)), "["+strings.Repeat("toInt64(0), ", len(h.columns)-1)+"toInt64(0)]"
	for i, column := range h.columns {
		ofRows[i], ofRollup[i] = "toInt64("+h.ofRows[i]+")", "sum(u."+column+")"
	}
	return `
WITH toUInt8(greatest(ceil(log2(toUInt64(duration_ms) + 1)) - 6, 0)) AS shift
SELECT starts, of_model, of_upstream, sumForEach(counted) AS of_rows, sumForEach(kept) AS of_rollup,
    toUInt64(arrayCount(n -> n != 0, tupleElement(sumMap(histogram.1, histogram.2), 2))) AS buckets
FROM (
    SELECT toInt64(intDiv(toUnixTimestamp64Milli(start_time), 3600000) * 3600) AS starts, toString(model) AS of_model, toString(` + h.upstream + `) AS of_upstream,
        [` + strings.Join(ofRows, ", ") + `] AS counted, ` + none + ` AS kept, ` + h.rows + ` AS histogram
    FROM calls
    WHERE application_id = {application:UUID} AND ` + between + ` AND (` + h.counted + `)
    GROUP BY starts, of_model, of_upstream
    UNION ALL
    SELECT toInt64(toUnixTimestamp(u.hour)) AS starts, toString(model) AS of_model, toString(` + h.upstream + `) AS of_upstream,
        ` + none + ` AS counted, [` + strings.Join(ofRollup, ", ") + `] AS kept, ` + h.kept + ` AS histogram
    FROM ` + h.table + ` AS u
    WHERE application_id = {application:UUID} AND u.hour >= toDateTime({from:Int64}, 'Asia/Shanghai') AND u.hour < toDateTime({to:Int64}, 'Asia/Shanghai')
    GROUP BY starts, of_model, of_upstream
)
GROUP BY starts, of_model, of_upstream
HAVING of_rows != of_rollup OR buckets > 0
ORDER BY starts, of_model, of_upstream`
}

// hourDifferences hands out the hours of an application that differ, of each rollup. It reads every row of the range.
// Faults: Unavailable.
func (v *verifier) hourDifferences(ctx context.Context, application uuid.UUID, days beijing.Range, take func(hourDifference)) error {
	if days = v.Stats.KeptCalls(days); days.Days() < 1 {
		return nil
	}
	for _, h := range hourlies {
		parameters := []any{"application", application, "from", days.Start.Start().Unix(), "to", days.End.End().Unix()}
		err := v.Stats.Stream(ctx, "recount hours", h.query(), parameters, func(scan func(...any) error) error {
			d := hourDifference{Rollup: h.table, Columns: h.columns}
			var starts int64
			if err := scan(&starts, &d.Model, &d.UpstreamModel, &d.Rows, &d.Kept, &d.Buckets); err != nil {
				return err
			}
			d.Hour = time.Unix(starts, 0)
			take(d)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// utcRow is calls of one UTC day and one Beijing day whose capability and model that answered are the same; the model of
// calls without an answer is empty.
type utcRow struct {
	Date  string
	Calls int64
	tokenRow
}

var recountUTCQuery = `
WITH usage_state != '' AND usage_state != 'none' AS is_reported
SELECT toString(toDate(toInt32(intDiv(toUnixTimestamp64Milli(start_time), 86400000)))) AS of_date, toInt32(intDiv(toUnixTimestamp64Milli(start_time) + 28800000, 86400000)) AS of_day,
    toString(model) AS of_model, if(is_reported, toString(upstream_model), '') AS of_upstream, toInt64(count()),` + reportedOfRows + `
FROM calls
WHERE ` + between

// recountUTC counts the calls of applications between two instants; one day may be handed out in several pieces. It reads
// every row. Faults: Unavailable.
func (v *verifier) recountUTC(ctx context.Context, applications []uuid.UUID, from, until time.Time, take func(utcRow)) error {
	return ofSome(append([]uuid.UUID{}, applications...), func(condition string, pairs []any) error {
		query := recountUTCQuery + condition + " GROUP BY of_date, of_day, of_model, of_upstream" + usedGroups
		parameters := append(pairs, "from", from.Unix(), "to", until.Unix())
		return v.Stats.Stream(ctx, "recount days of UTC", query, parameters, func(scan func(...any) error) error {
			var row utcRow
			var day int32
			labels := []any{&row.Date, &day, &row.Model, &row.UpstreamModel, &row.Calls}
			if err := scan(append(labels, row.reportedFields()...)...); err != nil {
				return err
			}
			row.Day = beijing.Day(day)
			take(row)
			return nil
		})
	})
}
