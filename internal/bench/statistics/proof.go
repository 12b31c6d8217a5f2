package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"callgate/internal/beijing"
)

// differencesQuery counts the figures and histograms of a rollup, by application, day and model, that
// are not what the calls of these days say. It works out the buckets in its own way.
const differencesQuery = `
SELECT count() FROM (
    SELECT application_id, toDate(start_time) AS of_day, toString(model) AS of_model, toInt64(count()) AS calls, toInt64(countIf(success)) AS good,
        toInt64(sum(duration_ms)) AS took, sumMap([bucket], [toInt64(1)]) AS histogram
    FROM (SELECT application_id, start_time, model, success, duration_ms, toUInt8(greatest(ceil(log2(toUInt64(duration_ms) + 1)) - 6, 0)) AS shift,
        toUInt16(32 * shift + bitShiftRight(duration_ms, shift)) AS bucket
        FROM calls WHERE start_time >= toDateTime64({from:String}, 3, 'Asia/Shanghai') AND start_time < toDateTime64({until:String}, 3, 'Asia/Shanghai'))
    GROUP BY application_id, of_day, of_model
) AS counted FULL JOIN (
    SELECT application_id, toDate(%s) AS of_day, toString(model) AS of_model, sum(u.calls) AS calls, sum(u.successes) AS good,
        sum(u.duration_ms) AS took, sumMap(u.durations) AS histogram
    FROM %s AS u WHERE of_day >= {from:Date} AND of_day < {until:Date} GROUP BY application_id, of_day, of_model
) AS kept USING (application_id, of_day, of_model)
WHERE counted.calls != kept.calls OR counted.good != kept.good OR counted.took != kept.took OR counted.histogram != kept.histogram`

// reportedDifferencesQuery counts the rows of tokens_daily that are not what the calls of these days say.
const reportedDifferencesQuery = `
SELECT count() FROM (
    SELECT application_id, toDate(start_time) AS of_day, toString(model) AS of_model, toString(upstream_model) AS answered,
        [countIf(usage_state = 'reported'), countIf(usage_state = 'absent'), countIf(streamed AND usage_state = 'absent'), sum(ifNull(input_tokens, 0)),
            sum(ifNull(output_tokens, 0)), sum(ifNull(cached_tokens, 0)), count(cached_tokens), sum(ifNull(reasoning_tokens, 0)), count(reasoning_tokens)] AS figures
    FROM calls WHERE start_time >= toDateTime64({from:String}, 3, 'Asia/Shanghai') AND start_time < toDateTime64({until:String}, 3, 'Asia/Shanghai')
        AND usage_state != 'none'
    GROUP BY application_id, of_day, of_model, answered
) AS counted FULL JOIN (
    SELECT application_id, day AS of_day, toString(model) AS of_model, toString(upstream_model) AS answered,
        arrayMap(f -> toUInt64(f), [sum(t.reported), sum(t.absent), sum(t.streamed_absent), sum(t.input), sum(t.output), sum(t.cached), sum(t.cached_calls),
            sum(t.reasoning), sum(t.reasoning_calls)]) AS figures
    FROM tokens_daily AS t WHERE of_day >= {from:Date} AND of_day < {until:Date} GROUP BY application_id, of_day, of_model, answered
) AS kept USING (application_id, of_day, of_model, answered)
WHERE counted.figures != kept.figures`

// rollups are the queries that compare each rollup with the calls.
var rollups = map[string]string{
	"usage_daily":  fmt.Sprintf(differencesQuery, "day", "usage_daily"),
	"usage_hourly": fmt.Sprintf(differencesQuery, "hour", "usage_hourly"),
	"tokens_daily": reportedDifferencesQuery,
}

// differences compares a rollup with the calls, some days at a time because histograms are large.
func (b *bench) differences(ctx context.Context, query string) (int, error) {
	const step = 10
	different := 0
	for from := b.Today - beijing.Day(b.days) + 1; from <= b.Today; from += step {
		found, err := b.ledgers[whole].ask(ctx, query, "from", from, "until", from+step)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(found)
		if err != nil {
			return 0, fmt.Errorf("count of differences: %w", err)
		}
		different += n
	}
	return different, nil
}

// prove compares every rollup with the rows in ClickHouse itself, and the API's answers with a
// recount by `callgate verify` of the first accounts, which own the largest applications.
func (b *bench) prove(ctx context.Context) error {
	for table, query := range rollups {
		began := time.Now()
		different, err := b.differences(ctx, query)
		if err != nil {
			return err
		}
		b.say("%s: %d differ from the rows, compared in %s", table, different, time.Since(began).Round(time.Second))
		if different > 0 {
			return fmt.Errorf("%s differs from the rows", table)
		}
	}
	from := b.Today - beijing.Day(b.days) + 1
	for number := range min(b.verified, len(b.Accounts)) {
		began := time.Now()
		if err := b.callgate(ctx, b.ledgers[whole], "verify", "--from", from.String(), "--to", b.Today.String(), "--account", emailOf(number)); err != nil {
			return err
		}
		b.say("verified in %s", time.Since(began).Round(time.Second))
	}
	return nil
}
