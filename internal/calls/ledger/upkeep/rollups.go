package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/shards"
)

// rollup is a table the views fill from calls, how it tells time, and what it adds up.
type rollup struct {
	table  string
	column string // its day or hour
	slots  string // Unix seconds in which that of a row of calls begins
	own    string // the same, of a row of the rollup
	within string // condition that a row of the rollup is of the day

	counted   string      // condition of the calls that it holds
	lines     string      // array of tuples, in each of which a call counts by itself, as line; empty: it counts as one
	labels    []label     // what it tells apart besides the model
	seen      bool        // it has the start of the first and of the last call
	sums      []rollupSum // all but the histogram
	histogram bool        // of durations
}

// label is a column that a rollup has of calls.
type label struct {
	column string
	bits   int    // of a number; 0: text
	of     string // of calls, where it is not of the same name
}

// rollupSum is a column that adds up, and what it adds up of calls, as Int64.
type rollupSum struct{ column, of string }

var usageSums = []rollupSum{{"calls", "count()"}, {"successes", "countIf(success)"}, {"duration_ms", "sum(duration_ms)"}}

// Beijing days and hours by arithmetic, not by the functions the views use.
const (
	slotOfDay   = "intDiv(toUnixTimestamp64Milli(start_time) + 28800000, 86400000) * 86400 - 28800"
	slotOfHour  = "intDiv(toUnixTimestamp64Milli(start_time), 3600000) * 3600"
	ownHour     = "toInt64(toUnixTimestamp(u.hour))"
	hoursWithin = "u.hour >= toDateTime(intDiv({from:Int64}, 1000), 'Asia/Shanghai') AND u.hour < toDateTime(intDiv({to:Int64}, 1000), 'Asia/Shanghai')"
)

var rollups = [ledger.Rollups]rollup{
	{
		table: "usage_daily", column: "day", slots: slotOfDay,
		own:     "toInt64(u.day) * 86400 - 28800",
		within:  "u.day = toDate(toInt32(intDiv({from:Int64} + 28800000, 86400000)))",
		counted: "1", sums: usageSums, histogram: true,
	},
	{
		table: "usage_hourly", column: "hour", slots: slotOfHour, own: ownHour, within: hoursWithin,
		counted: "1", sums: usageSums, histogram: true,
	},
	{
		table: "tokens_daily", column: "day", slots: slotOfDay,
		own:     "toInt64(u.day) * 86400 - 28800",
		within:  "u.day = toDate(toInt32(intDiv({from:Int64} + 28800000, 86400000)))",
		counted: "usage_state != '' AND usage_state != 'none'", sums: tokenSums, labels: []label{{column: "upstream_model"}},
	},
	{
		table: "tokens_hourly", column: "hour", slots: slotOfHour, own: ownHour, within: hoursWithin,
		counted: "usage_state != '' AND usage_state != 'none'", sums: slices.Concat(tokenSums[:4], tokenSums[6:12]), labels: []label{{column: "upstream_model"}},
	},
	{
		table: "failures_daily", column: "day", slots: slotOfDay,
		own:     "toInt64(u.day) * 86400 - 28800",
		within:  "u.day = toDate(toInt32(intDiv({from:Int64} + 28800000, 86400000)))",
		counted: "success = 0", sums: usageSums[:1], seen: true,
		labels: []label{{column: "status_code", bits: 16}, {column: "reason_type"}, {column: "reason_code"}, {column: "upstream_status", bits: 16}},
	},
	{
		table: "meters_daily", column: "day", slots: slotOfDay,
		own:     "toInt64(u.day) * 86400 - 28800",
		within:  "u.day = toDate(toInt32(intDiv({from:Int64} + 28800000, 86400000)))",
		counted: lined, lines: linesOfCall, labels: lineLabels, sums: lineSums,
	},
	{
		table: "meters_hourly", column: "hour", slots: slotOfHour, own: ownHour, within: hoursWithin,
		counted: lined, lines: linesOfCall, labels: lineLabels, sums: lineSums,
	},
	{
		table: "keys_daily", column: "day", slots: slotOfDay,
		own:     "toInt64(u.day) * 86400 - 28800",
		within:  "u.day = toDate(toInt32(intDiv({from:Int64} + 28800000, 86400000)))",
		counted: "key_id != toUUID('00000000-0000-0000-0000-000000000000')", lines: usedByKey, sums: lineSums,
		labels: slices.Insert(slices.Clone(lineLabels), 0, label{column: "key_id"}),
	},
}

// A call with lines counts with each number of each of them, as a call of each, and, taken away, with what the rollups of
// tokens have of it. By its key it counts once more, as a failure too, and with its tokens where it has no lines.
const (
	lined       = "length(used.meter) > 0 AND usage_state != '' AND usage_state != 'none'"
	linesOfCall = "arrayConcat(" + linesAsTold + ", arrayMap(of -> (of.1, of.2, of.3, of.4, of.5, -of.6), " + numbersOfCall + "))"
	usedByKey   = `arrayFilter(of -> of.6 != 0, arrayConcat(
            arrayMap((meter, n) -> ('', '', toUInt32(0), '', meter, toInt64(n)), ['total', 'failed'], [1, success = 0]),
            if(usage_state = '' OR usage_state = 'none', [], if(length(used.meter) > 0, ` + linesAsTold + `, ` + numbersOfCall + `))))`
	linesAsTold = `arrayConcat(
            arrayMap(i -> (toString(used.model[i]), toString(used.tier[i]), used.band[i], ` + extrasOfLine + `, toString(used.meter[i]), toInt64(used.amount[i])), range(1, length(used.meter) + 1)),
            arrayMap(i -> (toString(used.model[i]), toString(used.tier[i]), used.band[i], ` + extrasOfLine + `, if(i = 1, 'calls', 'calls_beside'), toInt64(1)), arrayFilter(
                i -> i = 1 OR (used.model[i], used.tier[i], used.band[i]) != (used.model[i - 1], used.tier[i - 1], used.band[i - 1]), range(1, length(used.meter) + 1))))`
	numbersOfCall = `arrayMap((meter, n) -> (toString(upstream_model), '', toUInt32(0), '', meter, toInt64(n)), ['calls', 'input', 'output', 'cached_input', 'cache_write', 'reasoning'],
                arrayMap(n -> coalesce(n, 0), [toUInt32(coalesce(input_tokens, output_tokens) IS NOT NULL), input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens]))`
	extrasOfLine = `arrayStringConcat(arraySort(arrayDistinct(arrayMap(j -> toString(used.meter[j]), arrayFilter(
                j -> (used.model[j], used.tier[j], used.band[j]) = (used.model[i], used.tier[i], used.band[i])
                    AND used.meter[j] NOT LIKE 'input%' AND used.meter[j] NOT LIKE 'output%' AND used.meter[j] NOT LIKE 'cache%' AND used.meter[j] != 'reasoning', range(1, length(used.meter) + 1))))), ',')`
)

var (
	lineLabels = []label{{column: "upstream_model", of: "line.1"}, {column: "tier", of: "line.2"}, {column: "band", bits: 32, of: "line.3"}, {column: "extras", of: "line.4"}, {column: "meter", of: "line.5"}}
	lineSums   = []rollupSum{{"amount", "sum(line.6)"}}
)

var tokenSums = []rollupSum{
	{"reported", "sum(usage_state = 'reported')"}, {"partial", "sum(usage_state = 'partial')"},
	{"absent", "sum(usage_state = 'absent')"}, {"unreadable", "sum(usage_state = 'unreadable')"},
	{"streamed", "sum(streamed)"}, {"streamed_absent", "sum(streamed AND usage_state = 'absent')"},
	{"counted", "sum(input_tokens IS NOT NULL OR output_tokens IS NOT NULL)"},
	{"input", "sum(coalesce(input_tokens, 0))"}, {"output", "sum(coalesce(output_tokens, 0))"}, {"cached", "sum(coalesce(cached_tokens, 0))"},
	{"cache_write", "sum(coalesce(cache_write_tokens, 0))"}, {"reasoning", "sum(coalesce(reasoning_tokens, 0))"},
	{"input_calls", "sum(input_tokens IS NOT NULL)"}, {"output_calls", "sum(output_tokens IS NOT NULL)"}, {"cached_calls", "sum(cached_tokens IS NOT NULL)"},
	{"cache_write_calls", "sum(cache_write_tokens IS NOT NULL)"}, {"reasoning_calls", "sum(reasoning_tokens IS NOT NULL)"},
}

// difference is what must be added to a rollup so that it agrees with the calls.
type difference struct {
	application uuid.UUID
	model       string
	labels      []string // values of the rollup's
	first, last int64    // Unix milliseconds in which the first and the last call of it started
	slot        int64    // Unix seconds of the day's or hour's start
	rows        int64    // calls of it there are
	sums        []int64  // as the rollup's
	buckets     []uint16
	counts      []int64
}

type differenceKey struct {
	table         string
	application   uuid.UUID
	model, labels string
	slot          int64
}

func (d *difference) key(r rollup) differenceKey {
	return differenceKey{r.table, d.application, d.model, strings.Join(d.labels, "\x00"), d.slot}
}

var seed = maphash.MakeSeed()

// fingerprint stands for the whole difference and the number of rows it was found in.
func (d *difference) fingerprint() uint64 {
	return maphash.String(seed, fmt.Sprint(d.rows, d.sums, d.buckets, d.counts))
}

const between = `start_time >= fromUnixTimestamp64Milli({from:Int64}, 'Asia/Shanghai') AND start_time < fromUnixTimestamp64Milli({to:Int64}, 'Asia/Shanghai')`

func span(from, to time.Time) []any {
	return []any{clickhouse.Named("from", strconv.FormatInt(from.UnixMilli(), 10)), clickhouse.Named("to", strconv.FormatInt(to.UnixMilli(), 10))}
}

// query gives a difference for every application, model and slot in which a rollup and the calls
// do not agree. Swept applications are left out: their tables are emptied one after the other.
func (r rollup) query() string {
	ofCalls, ofRollup := make([]string, len(r.sums)), make([]string, len(r.sums))
	for i, sum := range r.sums {
		ofCalls[i], ofRollup[i] = "toInt64("+sum.of+")", "-sum(u."+sum.column+")"
	}
	labels, callLabels := make([]string, len(r.labels)), make([]string, len(r.labels))
	for i, l := range r.labels {
		labels[i], callLabels[i] = "toString("+l.column+")", "toString("+cmp.Or(l.of, l.column)+")"
	}
	ofLabels, ofCallLabels := "CAST(["+strings.Join(labels, ", ")+"], 'Array(String)')", "CAST(["+strings.Join(callLabels, ", ")+"], 'Array(String)')"
	from := "calls WHERE " + between + " AND (" + r.counted + ")"
	if r.lines != "" {
		from = "(SELECT *, arrayJoin(" + r.lines + ") AS line FROM " + from + ")"
	}
	histogram, taken := "CAST(([], []), 'Tuple(Array(UInt16), Array(Int64))')", "CAST(([], []), 'Tuple(Array(UInt16), Array(Int64))')"
	if r.histogram {
		histogram = "sumMap([toUInt16(32 * shift + bitShiftRight(duration_ms, shift))], [toInt64(1)])"
		taken = "sumMap(u.durations.1, arrayMap(n -> -n, u.durations.2))"
	}
	return `
WITH toUInt8(greatest(ceil(log2(toUInt64(duration_ms) + 1)) - 6, 0)) AS shift
SELECT application_id, of_model, labels, slot, sum(is_row), min(first) AS first_start, max(last) AS last_start, sumForEach(numbers) AS sums,
    tupleElement(sumMap(histogram.1, histogram.2) AS durations, 1), tupleElement(durations, 2) AS counts
FROM (
    SELECT application_id, toString(model) AS of_model, ` + ofCallLabels + ` AS labels, toInt64(` + r.slots + `) AS slot, toInt64(count()) AS is_row,
        min(toUnixTimestamp64Milli(start_time)) AS first, max(toUnixTimestamp64Milli(start_time)) AS last,
        [` + strings.Join(ofCalls, ", ") + `] AS numbers, ` + histogram + ` AS histogram
    FROM ` + from + `
    GROUP BY application_id, of_model, labels, slot
    UNION ALL
    SELECT application_id, toString(model) AS of_model, ` + ofLabels + ` AS labels, ` + r.own + ` AS slot, toInt64(0),
        slot * 1000 + 86399999, slot * 1000,
        [` + strings.Join(ofRollup, ", ") + `], ` + taken + `
    FROM ` + r.table + ` AS u WHERE ` + r.within + `
    GROUP BY application_id, of_model, labels, slot
)
WHERE application_id NOT IN (SELECT application_id FROM deleted_applications)
GROUP BY application_id, of_model, labels, slot
HAVING arrayExists(n -> n != 0, sums) OR arrayExists(n -> n != 0, counts)`
}

// differences hands each difference of a day to yield.
func differences(ctx context.Context, conn driver.Conn, r rollup, day beijing.Day, yield func(*difference) error) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	rows, err := conn.Query(ctx, r.query(), span(day.Start(), day.End())...)
	if err != nil {
		return fmt.Errorf("compare %s: %w", r.table, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var d difference
		if err := rows.Scan(&d.application, &d.model, &d.labels, &d.slot, &d.rows, &d.first, &d.last, &d.sums, &d.buckets, &d.counts); err != nil {
			return fmt.Errorf("compare %s: %w", r.table, err)
		}
		if err := yield(&d); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("compare %s: %w", r.table, err)
	}
	return nil
}

// repairs adds differences to a rollup, some thousand rows at a time. Each block has a token of its
// own, under which it is repeated when its fate is uncertain: it counts once. A block given up
// shows, or does not, when the day is compared again.
type repairs struct {
	on     *shards.Shard
	rollup rollup
	block  []difference
	added  int
}

const (
	repairBlock = 5000
	repairTries = 3
)

func (w *repairs) add(ctx context.Context, d *difference) error {
	w.block = append(w.block, *d)
	if len(w.block) < repairBlock {
		return nil
	}
	return w.flush(ctx)
}

func (w *repairs) flush(ctx context.Context) (err error) {
	if len(w.block) == 0 {
		return nil
	}
	token := "repair/" + uuid.NewString()
	for range repairTries {
		if err = w.insert(ctx, token); err == nil {
			w.added += len(w.block)
			w.block = w.block[:0]
			return nil
		}
	}
	return fmt.Errorf("repair %s: %w", w.rollup.table, err)
}

func (w *repairs) insert(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(ctx, shards.InsertTimeout)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
	batch, err := w.on.Conn().PrepareBatch(ctx, `INSERT INTO `+w.rollup.table+` (`+strings.Join(w.rollup.columns(), ", ")+`)`)
	if err != nil {
		return fmt.Errorf("begin insert: %w", err)
	}
	for i := range w.block {
		if err := batch.Append(w.rollup.row(&w.block[i])...); err != nil {
			return errors.Join(fmt.Errorf("fill insert: %w", err), batch.Abort())
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

// columns are those of a row that repairs.
func (r rollup) columns() []string {
	columns := []string{"application_id", r.column, "model"}
	for _, l := range r.labels {
		columns = append(columns, l.column)
	}
	if r.seen {
		columns = append(columns, "first_seen", "last_seen")
	}
	for _, sum := range r.sums {
		columns = append(columns, sum.column)
	}
	if r.histogram {
		columns = append(columns, "durations")
	}
	return columns
}

// row is a difference as a row of columns.
func (r rollup) row(d *difference) []any {
	start := time.Unix(d.slot, 0)
	if r.column == "day" {
		start = beijing.DayOf(start).UTC()
	}
	values := []any{d.application, start, d.model}
	for i, l := range r.labels {
		values = append(values, l.value(d.labels[i]))
	}
	if r.seen {
		values = append(values, time.UnixMilli(d.first), time.UnixMilli(d.last))
	}
	for _, sum := range d.sums {
		values = append(values, sum)
	}
	if r.histogram {
		values = append(values, []any{d.buckets, d.counts})
	}
	return values
}

// value is a label as its column takes it.
func (l label) value(text string) any {
	number, _ := strconv.ParseUint(text, 10, 32) // ClickHouse made it of a number
	switch l.bits {
	case 16:
		return uint16(number)
	case 32:
		return uint32(number)
	}
	return text
}
