package stats

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
)

// Reason is why calls of one capability failed.
type Reason struct {
	Type, Code     string // empty: no reason was recorded
	UpstreamStatus uint16 // 0: the upstream did not answer
	Model          string // empty: calls that named no capability that exists
}

// ReasonFigures are the failures of one reason.
type ReasonFigures struct {
	Reason
	Failures  int64
	FirstSeen string // Beijing time, RFC 3339 with milliseconds: when the first of these calls started
	LastSeen  string

	Applications int64     // that it hit
	Top          uuid.UUID // the application it hit most; of equals the one with the least id
	TopFailures  int64
}

// reasonRow is a reason of one application.
type reasonRow struct {
	Reason
	application   uuid.UUID
	failures      int64
	firstMs, last int64
}

const everyonesReasons = `
SELECT o.application_id AS application, toString(o.reason_type) AS kind, toString(o.reason_code) AS cause, o.upstream_status AS answered, toString(o.model) AS capability,
    sum(o.calls) AS failures,
    toUnixTimestamp64Milli(minIf(o.first_seen, o.calls > 0)) AS first_ms, toUnixTimestamp64Milli(maxIf(o.last_seen, o.calls > 0)) AS last_ms
FROM failures_daily AS o
WHERE o.day BETWEEN {start:Date} AND {end:Date} AND o.day NOT IN {unsure:Array(Date)}`

const everyonesReasonsOfRows = `
SELECT application_id AS application, toString(reason_type) AS kind, toString(reason_code) AS cause, upstream_status AS answered, toString(model) AS capability,
    toInt64(count()) AS failures, toUnixTimestamp64Milli(min(start_time)) AS first_ms, toUnixTimestamp64Milli(max(start_time)) AS last_ms
FROM calls
WHERE toYYYYMMDD(start_time) IN {days:Array(UInt32)} AND NOT success`

const (
	ofApplications     = ` AND application_id IN {applications:Array(UUID)}`
	reasonsQuery       = everyonesReasons + ofApplications
	reasonsOfRowsQuery = everyonesReasonsOfRows + ofApplications
)

const groupedReasons = `
GROUP BY application_id, reason_type, reason_code, upstream_status, model
HAVING failures > 0`

// unsureQuery finds the days on which failures_daily has not the failures of usage_daily: days of before it was there that
// are not filled yet, or an insert is on its way.
const unsureQuery = `
SELECT DISTINCT toInt32(day)
FROM (
    SELECT u.application_id AS application, u.day AS day, toInt64(u.calls - u.successes) AS failed
    FROM usage_daily AS u
    WHERE u.application_id IN {applications:Array(UUID)} AND u.day BETWEEN {start:Date} AND {end:Date}
    UNION ALL
    SELECT o.application_id, o.day, -o.calls
    FROM failures_daily AS o
    WHERE o.application_id IN {applications:Array(UUID)} AND o.day BETWEEN {start:Date} AND {end:Date}
)
GROUP BY application, day
HAVING sum(failed) != 0`

// Reasons tells why calls of one application, or of several together, failed: all reasons, most failures first. model nil is
// all. Every failure is counted in one of them. Faults: Unavailable.
func (r *Reader) Reasons(ctx context.Context, applications []uuid.UUID, days beijing.Range, model *string) ([]ReasonFigures, error) {
	days = r.KeptStatistics(days)
	if len(applications) == 0 || days.Days() < 1 {
		return []ReasonFigures{}, nil
	}
	pairs := []any{"applications", applications, "start", days.Start, "end", days.End}
	var unsure []beijing.Day
	var rows []reasonRow
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		unsure, err = r.daysIn(groupCtx, unsureQuery, args(pairs...))
		return err
	})
	group.Go(func() (err error) {
		rows, err = r.rolledUpReasons(groupCtx, reasonsQuery, model, pairs, nil)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if len(unsure) > 0 {
		counted, err := r.reasonRows(ctx, reasonsOfRowsQuery, model, append(pairs, "days", numbersOf(unsure)))
		if err != nil {
			return nil, err
		}
		if rows, err = r.rolledUpReasons(ctx, reasonsQuery, model, pairs, unsure); err != nil {
			return nil, err
		}
		rows = append(rows, counted...)
	}
	return reasonsOf(rows), nil
}

// daysIn are the days of a query whose calls are kept: of others the rollup is all there is.
func (r *Reader) daysIn(ctx context.Context, query string, parameters []any) (unsure []beijing.Day, err error) {
	kept := r.days.CallsFrom(beijing.Today(r.now()))
	err = r.each(ctx, "days without reasons", query, parameters, func(rows driver.Rows) error {
		var day int32
		if err := rows.Scan(&day); err != nil {
			return unavailable(err, "read days without reasons")
		}
		if beijing.Day(day) >= kept {
			unsure = append(unsure, beijing.Day(day))
		}
		return nil
	})
	return unsure, err
}

func namesOf(days []beijing.Day) []string {
	names := make([]string, len(days))
	for i, d := range days {
		names[i] = d.String()
	}
	return names
}

func numbersOf(days []beijing.Day) []uint32 {
	numbers := make([]uint32, len(days))
	for i, d := range days {
		numbers[i] = d.Number()
	}
	return numbers
}

func (r *Reader) rolledUpReasons(ctx context.Context, query string, model *string, pairs []any, unsure []beijing.Day) ([]reasonRow, error) {
	return r.reasonRows(ctx, query, model, append(slices.Clone(pairs), "unsure", namesOf(unsure)))
}

func (r *Reader) reasonRows(ctx context.Context, query string, model *string, pairs []any) (found []reasonRow, err error) {
	if model != nil {
		query, pairs = query+" AND "+ofModel, append(slices.Clone(pairs), "model", *model)
	}
	err = r.each(ctx, "reasons", query+groupedReasons, args(pairs...), func(rows driver.Rows) error {
		var row reasonRow
		if err := rows.Scan(&row.application, &row.Type, &row.Code, &row.UpstreamStatus, &row.Model, &row.failures, &row.firstMs, &row.last); err != nil {
			return unavailable(err, "read reasons")
		}
		found = append(found, row)
		return nil
	})
	return found, err
}

// reasonsOf adds up what applications have in common.
func reasonsOf(rows []reasonRow) []ReasonFigures {
	type ofApplication struct {
		Reason
		application uuid.UUID
	}
	whole, each := map[Reason]*reasonRow{}, map[ofApplication]int64{}
	for _, row := range rows {
		sum := whole[row.Reason]
		if sum == nil {
			sum = &reasonRow{firstMs: row.firstMs, last: row.last}
			whole[row.Reason] = sum
		}
		sum.failures += row.failures
		sum.firstMs, sum.last = min(sum.firstMs, row.firstMs), max(sum.last, row.last)
		each[ofApplication{row.Reason, row.application}] += row.failures
	}
	figures := make(map[Reason]*ReasonFigures, len(whole))
	for reason, sum := range whole {
		figures[reason] = &ReasonFigures{Reason: reason, Failures: sum.failures,
			FirstSeen: beijing.Format(time.UnixMilli(sum.firstMs)), LastSeen: beijing.Format(time.UnixMilli(sum.last))}
	}
	for of, failures := range each {
		f := figures[of.Reason]
		f.Applications++
		if failures > f.TopFailures || failures == f.TopFailures && slices.Compare(of.application[:], f.Top[:]) < 0 {
			f.Top, f.TopFailures = of.application, failures
		}
	}
	list := make([]ReasonFigures, 0, len(figures))
	for _, f := range figures {
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b ReasonFigures) int {
		return cmp.Or(cmp.Compare(b.Failures, a.Failures), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.UpstreamStatus, b.UpstreamStatus), cmp.Compare(a.Model, b.Model))
	})
	return list
}
