package stats

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// MessageHead is how many characters of a failure's message the CSV of calls says; more are told by "…".
const MessageHead = 200

const messagesQuery = `
SELECT call_id, substringUTF8(message, 1, {most:UInt32})
FROM call_failures
WHERE application_id IN {applications:Array(UUID)} AND toYYYYMMDD(start_time) IN {days:Array(UInt32)}
  AND start_time >= fromUnixTimestamp64Milli({first:Int64}, 'Asia/Shanghai') AND start_time <= fromUnixTimestamp64Milli({last:Int64}, 'Asia/Shanghai')
  AND call_id IN {calls:Array(UUID)} AND message != ''`

// AddMessages fills in the heads of the messages of failed calls, where they are kept. A thousand calls
// at a time, or fewer. Faults: Unavailable.
func (r *Reader) AddMessages(ctx context.Context, calls []OwnedCall) error {
	reasons := map[uuid.UUID]*FailureReason{}
	var days []uint32
	var ids, applications []uuid.UUID
	first, last := int64(math.MaxInt64), int64(0)
	from := r.days.FailuresFrom(beijing.Today(r.now()))
	for _, c := range calls {
		start, known := startOf(c.CallID)
		if c.Reason == nil || !known || beijing.DayOf(start) < from {
			continue
		}
		reasons[c.CallID] = c.Reason
		ids = append(ids, c.CallID)
		if !slices.Contains(applications, c.Application) {
			applications = append(applications, c.Application)
		}
		first, last = min(first, start.UnixMilli()), max(last, start.UnixMilli())
		if day := beijing.DayOf(start).Number(); !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	parameters := args("applications", applications, "days", days, "first", first, "last", last, "calls", ids, "most", uint32(MessageHead+1))
	return r.each(ctx, "messages of failures", messagesQuery, parameters, func(rows driver.Rows) error {
		var id uuid.UUID
		var message string
		if err := rows.Scan(&id, &message); err != nil {
			return unavailable(err, "read messages")
		}
		if reason := reasons[id]; reason != nil {
			head := headOf(message)
			reason.Message = &head
		}
		return nil
	})
}

func headOf(message string) string {
	n := 0
	for i := range message {
		if n++; n > MessageHead {
			return message[:i] + "…"
		}
	}
	return message
}

const foundQuery = `
SELECT` + callColumns + `, application_id
FROM calls
WHERE application_id IN {applications:Array(UUID)} AND start_time = fromUnixTimestamp64Milli({start:Int64}, 'Asia/Shanghai') AND call_id = {call:UUID}
LIMIT 1`

// Find gives a call of one of some applications by its id, and which of them it is of: with its failure when it failed, the
// zero FailureDetail when it succeeded. Faults: NotFound, Unavailable.
func (r *Reader) Find(ctx context.Context, applications []uuid.UUID, callID uuid.UUID) (found FailedCall, of uuid.UUID, err error) {
	start, ok := startOf(callID)
	if !ok || len(applications) == 0 || beijing.DayOf(start) < r.days.CallsFrom(beijing.Today(r.now())) {
		return found, of, fault.Absent()
	}
	parameters := args("applications", applications, "start", start.UnixMilli(), "call", callID)
	seen := false
	err = r.each(ctx, "call", foundQuery, parameters, func(rows driver.Rows) error {
		one, err := scanFailedCall(rows, &of)
		if err == nil {
			found, seen = *one, true
		}
		return err
	})
	switch {
	case err != nil:
		return FailedCall{}, of, err
	case !seen:
		return FailedCall{}, of, fault.Absent()
	case found.Success:
		return found, of, nil
	}
	parameters = args("application", of, "start", start.UnixMilli(), "call", callID)
	return found, of, r.addFailure(ctx, start, parameters, &found.Failure)
}

// ofOne bounds the applications that one question names: a server takes 128 KiB of a parameter over HTTP.
const ofOne = 2_000

// Facts gives a call of one of some applications by its id, without anything of what was sent or answered, message
// included. Faults: NotFound, Unavailable.
func (r *Reader) Facts(ctx context.Context, applications []uuid.UUID, callID uuid.UUID) (OwnedCall, error) {
	start, ok := startOf(callID)
	if !ok || beijing.DayOf(start) < r.days.CallsFrom(beijing.Today(r.now())) {
		return OwnedCall{}, fault.Absent()
	}
	for some := range slices.Chunk(applications, ofOne) {
		var found *OwnedCall
		parameters := args("applications", some, "start", start.UnixMilli(), "call", callID)
		err := r.each(ctx, "facts of a call", foundQuery, parameters, func(rows driver.Rows) (err error) {
			found = &OwnedCall{}
			found.Call, err = scanCall(rows, &found.Application)
			return err
		})
		if err != nil {
			return OwnedCall{}, err
		}
		if found != nil {
			return *found, nil
		}
	}
	return OwnedCall{}, fault.Absent()
}

const lastCallsQuery = `
SELECT application_id, toUnixTimestamp64Milli(max(m.last_used))
FROM app_models AS m
WHERE application_id IN {applications:Array(UUID)}
GROUP BY application_id`

// LastCalls tells when the newest call of each application started; one that was never called is not in it. Faults:
// Unavailable.
func (r *Reader) LastCalls(ctx context.Context, applications []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	last := make(map[uuid.UUID]time.Time, len(applications))
	if len(applications) == 0 {
		return last, nil
	}
	err := r.each(ctx, "last calls", lastCallsQuery, args("applications", applications), func(rows driver.Rows) error {
		var id uuid.UUID
		var at int64
		if err := rows.Scan(&id, &at); err != nil {
			return unavailable(err, "read last calls")
		}
		last[id] = time.UnixMilli(at)
		return nil
	})
	return last, err
}

// messageGroup is what messages have in common that say the same: their first 200 characters, with # in the place of numbers, with
// their units, and of ids, which are words of a dozen characters and more from a digit on.
const messageGroup = `replaceRegexpAll(replaceRegexpAll(substringUTF8(message, 1, 200), '[A-Za-z_-]*[0-9][A-Za-z0-9_-]{11,}', '#'),
    '(^|[^A-Za-z0-9_-])[0-9]+(?:[.,:][0-9]+)*(?:(?:ms|s|m|h)\\b|%)?', '\\1#')`

// MessageFigures are the failures whose messages say the same.
type MessageFigures struct {
	Message   string // what they have in common
	Newest    string // the first 200 characters of the newest of them
	Failures  int64
	FirstSeen string // Beijing time, RFC 3339 with milliseconds: when the first of these calls started
	LastSeen  string

	Applications int64     // that it hit
	Top          uuid.UUID // the application it hit most; of equals the one with the least id
	TopFailures  int64
}

// MessageGroups are failures by their messages, most failures first, and what all of them sum up to, those that are not among these
// included. Failures without a message, or whose detail is not kept any more, are in none.
type MessageGroups struct {
	Top      []MessageFigures
	Messages int64
	Failures int64
}

// Messages groups the failures that a query would list by what their messages say, at most most of them. Every failure is read.
// Faults: Unavailable.
func (r *Reader) Messages(ctx context.Context, q CallsQuery, most int) (groups MessageGroups, err error) {
	groups.Top = []MessageFigures{}
	if q.Until != nil && !r.inBounds(*q.Until) {
		q.Until = nil
	}
	q = r.within(q)
	days := r.KeptCalls(q.Range)
	days.Start = max(days.Start, r.days.FailuresFrom(beijing.Today(r.now())))
	buckets := dayBuckets(days)
	if len(buckets) == 0 || len(q.Applications) == 0 {
		return groups, nil
	}
	condition, bounds := within(buckets)
	query := `
SELECT said, newest_said, failed, toUnixTimestamp64Milli(first_seen), toUnixTimestamp64Milli(last_seen), hit, top, top_failed,
    toInt64(count() OVER ()), toInt64(sum(failed) OVER ())
FROM (
    SELECT said, argMax(newest, newest_at) AS newest_said, toInt64(sum(failures)) AS failed, min(first_at) AS first_seen, max(newest_at.1) AS last_seen,
        toInt64(count()) AS hit, argMin(application_id, (-toInt64(failures), toString(application_id))) AS top, toInt64(max(failures)) AS top_failed
    FROM (
        SELECT said, application_id, count() AS failures, min(start_time) AS first_at, max((start_time, call_id)) AS newest_at,
            argMax(substringUTF8(message, 1, 200), (start_time, call_id)) AS newest
        FROM (
            SELECT application_id, start_time, call_id, message, ` + messageGroup + ` AS said
            FROM call_failures
            WHERE ` + q.ofApplications() + ` AND ` + since("textFrom") + ` AND ` + before("textTo") + ` AND message != ''
              AND (start_time, call_id) GLOBAL IN (SELECT start_time, call_id FROM calls WHERE ` + q.ofApplications() + ` AND (` + condition + `)` + q.filters() + `
                  AND NOT success)
        )
        GROUP BY said, application_id
    )
    GROUP BY said
)
ORDER BY failed DESC, said
LIMIT {most:UInt32}`
	err = r.each(ctx, "messages", query, q.parameters(append(append(bounds, "most", uint32(most)), textDays(buckets)...)...), func(rows driver.Rows) error {
		var m MessageFigures
		var firstMs, lastMs int64
		if err := rows.Scan(&m.Message, &m.Newest, &m.Failures, &firstMs, &lastMs, &m.Applications, &m.Top, &m.TopFailures, &groups.Messages, &groups.Failures); err != nil {
			return unavailable(err, "read messages")
		}
		m.FirstSeen, m.LastSeen = beijing.Format(time.UnixMilli(firstMs)), beijing.Format(time.UnixMilli(lastMs))
		groups.Top = append(groups.Top, m)
		return nil
	})
	return groups, err
}
