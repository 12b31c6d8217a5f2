package ship

import (
	"math"
	"slices"

	"github.com/google/uuid"

	"callgate/internal/calls"
	"callgate/internal/calls/spool"
)

const insertCalls = `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success, streamed,
	first_byte_ms, ended_by, reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id, stamped, trace_id,
	usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, key_id, upstream_id, attempts, estimated_tokens,
	failed_upstream_id, failed_status, failed_ms, failed_reason`

// insertLines are what insertCalls has beside, where a row has any of it.
const insertLines = ", `used.model`, `used.tier`, `used.band`, `used.meter`, `used.amount`, answer_id, reported_cost, reported_currency"

// insertDimensions are what it has beside where a row has a tag or an end user.
const insertDimensions = ", `tags.name`, `tags.value`, end_user"

// callColumns are the columns of insertCalls, reused from batch to batch.
type callColumns struct {
	application, call, user, key           []uuid.UUID
	start                                  []int64 // Unix milliseconds
	model, endedBy, reasonType, reasonCode []any   // strings, see repeat
	batch                                  []any
	trace                                  []string // hexadecimal, empty: none
	duration                               []uint32
	firstByte                              []*uint32
	firstByteOf                            []uint32
	status, upstream                       []uint16
	success, streamed, stamped             []bool // stamped: the server notes when it got the row
	requestBytes, responseBytes            []uint64
	usageState, upstreamModel, upstreamID  []any
	attempts                               []uint8
	estimated, failedDuration              []uint32
	failedUpstreamID, failedReason         []any
	failedStatus                           []uint16
	tokens                                 [len(calls.AllUsageFields)]tokenColumn
	lines                                  lineColumns
}

// tokenColumn is a column of numbers that may be unknown.
type tokenColumn struct {
	known  []*uint32
	number []uint32
}

func (c *tokenColumn) set(i int, n uint32, known bool) {
	if c.number[i], c.known[i] = n, nil; known {
		c.known[i] = &c.number[i]
	}
}

// fill gives the statement that inserts rows, and its columns.
func (c *callColumns) fill(rows []spool.Row, token string) (statement string, columns []any) {
	c.firstByteOf = resize(c.firstByteOf, len(rows))
	for _, column := range []*[]uuid.UUID{&c.application, &c.call, &c.user, &c.key} {
		*column = resize(*column, len(rows))
	}
	for _, column := range []*[]any{&c.model, &c.endedBy, &c.reasonType, &c.reasonCode, &c.batch, &c.usageState, &c.upstreamModel, &c.upstreamID,
		&c.failedUpstreamID, &c.failedReason} {
		*column = resize(*column, len(rows))
	}
	c.start, c.duration, c.firstByte = resize(c.start, len(rows)), resize(c.duration, len(rows)), resize(c.firstByte, len(rows))
	c.status, c.upstream, c.attempts = resize(c.status, len(rows)), resize(c.upstream, len(rows)), resize(c.attempts, len(rows))
	c.estimated, c.failedDuration, c.failedStatus = resize(c.estimated, len(rows)), resize(c.failedDuration, len(rows)), resize(c.failedStatus, len(rows))
	c.success, c.streamed, c.stamped = resize(c.success, len(rows)), resize(c.streamed, len(rows)), resize(c.stamped, len(rows))
	c.requestBytes, c.responseBytes, c.trace = resize(c.requestBytes, len(rows)), resize(c.responseBytes, len(rows)), resize(c.trace, len(rows))
	for f := range c.tokens {
		c.tokens[f] = tokenColumn{resize(c.tokens[f].known, len(rows)), resize(c.tokens[f].number, len(rows))}
	}
	for i := range rows {
		r := &rows[i]
		c.application[i], c.call[i], c.user[i], c.key[i] = r.Application, r.Call, r.User, r.Key
		c.start[i], c.duration[i] = r.Start, milliseconds(r.DurationUS)
		repeat(c.model, i, r.Model)
		repeat(c.endedBy, i, r.EndedBy)
		repeat(c.reasonType, i, r.ReasonType)
		repeat(c.reasonCode, i, r.ReasonCode)
		repeat(c.batch, i, token)
		c.status[i], c.upstream[i], c.success[i], c.streamed[i], c.stamped[i] = r.Status, r.Upstream, r.Success, r.Streamed, true
		c.requestBytes[i], c.responseBytes[i] = r.RequestBytes, r.ResponseBytes
		c.trace[i], c.firstByte[i] = r.Trace.String(), nil
		if r.HasFirstByte {
			c.firstByteOf[i] = milliseconds(r.FirstByteUS)
			c.firstByte[i] = &c.firstByteOf[i]
		}
		repeat(c.usageState, i, string(r.Usage.State))
		repeat(c.upstreamModel, i, r.Usage.Model)
		repeat(c.upstreamID, i, r.UpstreamID)
		c.attempts[i], c.estimated[i] = r.Attempts, r.Estimated
		repeat(c.failedUpstreamID, i, r.FailedAttempt.UpstreamID)
		repeat(c.failedReason, i, r.FailedAttempt.Reason)
		c.failedStatus[i], c.failedDuration[i] = r.FailedAttempt.Status, milliseconds(r.FailedAttempt.DurationUS)
		for f, field := range calls.AllUsageFields {
			n, known := r.Usage.Number(field)
			c.tokens[f].set(i, n, known)
		}
	}
	columns = []any{c.application, c.start, c.call, c.user, c.model, c.duration, c.status, c.success, c.streamed,
		c.firstByte, c.endedBy, c.reasonType, c.reasonCode, c.upstream, c.requestBytes, c.responseBytes, c.batch, c.stamped, c.trace,
		c.usageState, c.upstreamModel, c.tokens[0].known, c.tokens[1].known, c.tokens[2].known, c.tokens[3].known, c.tokens[4].known,
		c.key, c.upstreamID, c.attempts, c.estimated,
		c.failedUpstreamID, c.failedStatus, c.failedDuration, c.failedReason}
	statement = insertCalls
	if slices.ContainsFunc(rows, hasLines) {
		statement, columns = statement+insertLines, append(columns, c.lines.fill(rows)...)
	}
	if slices.ContainsFunc(rows, hasDimensions) {
		statement, columns = statement+insertDimensions, append(columns, dimensionColumns(rows)...)
	}
	return statement + ")", columns
}

// repeat sets column[i] to text, as the value of the row before when it is the same: the driver
// would allocate one for every row of a low-cardinality column given as strings.
func repeat(column []any, i int, text string) {
	if i > 0 && column[i-1] == text {
		column[i] = column[i-1]
		return
	}
	column[i] = text
}

// hasDimensions tells whether a row has any of insertDimensions.
func hasDimensions(r spool.Row) bool { return r.EndUser != "" || len(r.Tags) > 0 }

func dimensionColumns(rows []spool.Row) []any {
	names, values, users := make([][]string, len(rows)), make([][]string, len(rows)), make([]string, len(rows))
	for i := range rows {
		users[i] = rows[i].EndUser
		for _, tag := range rows[i].Tags {
			names[i], values[i] = append(names[i], tag.Name), append(values[i], tag.Value)
		}
	}
	return []any{names, values, users}
}

const insertFailures = `INSERT INTO call_failures (application_id, start_time, call_id, message, method, path, request_body, query, body_note, batch_id)`

// failureColumns returns the columns of insertFailures for the rows that carry a detail.
func failureColumns(rows []spool.Row, token string) (columns []any, count int) {
	var application, call []uuid.UUID
	var start []int64
	var message, method, path, body, query, note, batch []string
	for i := range rows {
		r := &rows[i]
		if !r.HasFailure {
			continue
		}
		f := &r.Failure
		application, call, start = append(application, r.Application), append(call, r.Call), append(start, r.Start)
		message, method, path = append(message, f.Message), append(method, f.Method), append(path, f.Path)
		body, query, note, batch = append(body, f.Body), append(query, f.Query), append(note, f.Note), append(batch, token)
	}
	return []any{application, start, call, message, method, path, body, query, note, batch}, len(call)
}

func resize[T any](column []T, n int) []T {
	if cap(column) < n {
		return make([]T, n)
	}
	return column[:n]
}

// milliseconds cuts finer digits off, and what no UInt32 holds (49 days).
func milliseconds(us uint64) uint32 { return uint32(min(us/1000, math.MaxUint32)) }
