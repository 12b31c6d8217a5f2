package stats

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
)

// HourSpan is how long the last hour and the one before it are.
const HourSpan = time.Hour

// HourFigures are those of the calls that started within sixty minutes.
type HourFigures struct {
	Calls, Failures int64
	P95Ms           *int64 // exact, nearest rank; nil without calls
}

// TwoHours are the last sixty minutes and the sixty before them.
type TwoHours struct{ Last, Before HourFigures }

// FailingNow are failures of one reason in the last two hours.
type FailingNow struct {
	Reason
	Failures, Before int64       // in the last hour, in the one before
	FirstMs, LastMs  int64       // Unix milliseconds in which the first and the last of them started
	Applications     []uuid.UUID // that it hit in the last hour
	Hits             []int64     // how many failures of that hour are of each of these
}

// Now is what the calls of the last two hours say. No rollup knows of hours that are none of the clock's.
type Now struct {
	Until   time.Time
	All     TwoHours
	Models  map[string]TwoHours
	Failing []FailingNow // in the last hour
}

var nowQuery = `
SELECT grouping(c.model) = 0, toString(c.model), c.start_time > fromUnixTimestamp64Milli({middle:Int64}, 'Asia/Shanghai') AS lately, toInt64(count()), toInt64(countIf(NOT c.success)),
    toInt64(quantileExact(0.9499999)(c.duration_ms))
FROM calls AS c
WHERE ` + ofTwoHours

const ofTwoHours = `start_time > fromUnixTimestamp64Milli({from:Int64}, 'Asia/Shanghai') AND start_time <= fromUnixTimestamp64Milli({until:Int64}, 'Asia/Shanghai')`

const failingNowQuery = `
SELECT toString(reason_type), toString(reason_code), upstream_status, toString(model), sum(failed) AS failures, sum(failed_before),
    min(first_ms), max(last_ms), groupArrayIf(application_id, failed > 0), groupArrayIf(failed, failed > 0)
FROM (
    SELECT reason_type, reason_code, upstream_status, model, application_id,
        toInt64(countIf(start_time > fromUnixTimestamp64Milli({middle:Int64}, 'Asia/Shanghai'))) AS failed, toInt64(count()) - failed AS failed_before,
        toUnixTimestamp64Milli(min(start_time)) AS first_ms, toUnixTimestamp64Milli(max(start_time)) AS last_ms
    FROM calls WHERE ` + ofTwoHours + ` AND NOT success`

const failingNowGroups = `
    GROUP BY reason_type, reason_code, upstream_status, model, application_id
)
GROUP BY reason_type, reason_code, upstream_status, model
HAVING failures > 0`

// Now tells what everyone's calls of the last two hours say, of one capability or, model nil, of all. It reads the rows of
// these hours. Faults: Unavailable.
func (r *Reader) Now(ctx context.Context, who Everyone, model *string) (Now, error) {
	now := Now{Until: r.now().Truncate(time.Millisecond), Models: map[string]TwoHours{}}
	condition, pairs := who.condition()
	pairs = append(pairs, "from", now.Until.Add(-2*HourSpan).UnixMilli(), "middle", now.Until.Add(-HourSpan).UnixMilli(), "until", now.Until.UnixMilli())
	if model != nil {
		condition, pairs = condition+" AND "+ofModel, append(pairs, "model", *model)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		query := nowQuery + condition + " GROUP BY GROUPING SETS ((c.model, lately), (lately))"
		return r.each(groupCtx, "calls of the last hours", query, args(pairs...), now.take)
	})
	group.Go(func() (err error) {
		now.Failing, err = r.failingNow(groupCtx, failingNowQuery+condition+failingNowGroups, args(pairs...))
		return err
	})
	return now, group.Wait()
}

// take reads a row of nowQuery.
func (n *Now) take(rows driver.Rows) error {
	var ofModel, lately bool
	var model string
	var f HourFigures
	var p95 int64
	if err := rows.Scan(&ofModel, &model, &lately, &f.Calls, &f.Failures, &p95); err != nil {
		return unavailable(err, "read calls of the last hours")
	}
	f.P95Ms = &p95
	of := n.All
	if ofModel {
		of = n.Models[model]
	}
	if lately {
		of.Last = f
	} else {
		of.Before = f
	}
	if ofModel {
		n.Models[model] = of
	} else {
		n.All = of
	}
	return nil
}

func (r *Reader) failingNow(ctx context.Context, query string, parameters []any) (failing []FailingNow, err error) {
	err = r.each(ctx, "failures of the last hours", query, parameters, func(rows driver.Rows) error {
		var f FailingNow
		if err := rows.Scan(&f.Type, &f.Code, &f.UpstreamStatus, &f.Model, &f.Failures, &f.Before, &f.FirstMs, &f.LastMs, &f.Applications, &f.Hits); err != nil {
			return unavailable(err, "read failures of the last hours")
		}
		failing = append(failing, f)
		return nil
	})
	return failing, err
}
