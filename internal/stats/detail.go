package stats

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// FailedCall is a failed call and why it failed.
type FailedCall struct {
	Call
	Failure FailureDetail
}

// FailureDetail is what is kept of a failed call.
type FailureDetail struct {
	Collected   bool            // false: no detail was ever kept of this call
	Reason      *FailureReason  // nil when the call is older than the recording of reasons
	Request     *FailureRequest // nil when not collected or expired
	RequestBody json.RawMessage // redacted; null when BodyNote says why, or nothing was kept
	Query       json.RawMessage // object of redacted strings; null when nothing was kept
	BodyNote    *string         // why the body is not there; nil when it is
}

// FailureReason says why. It lives as long as the call, except for Message.
type FailureReason struct {
	Type           string
	Code           string
	Message        *string // nil when the upstream gave none, or it expired
	UpstreamStatus *uint16 // nil when the upstream did not answer
}

// FailureRequest is what the caller asked for.
type FailureRequest struct {
	Method string
	Path   string // what stood after /gateway
}

// expired is the note for a detail past its time to live.
const expired = "expired"

const oneCallQuery = `
SELECT` + callColumns + `
FROM calls
WHERE application_id = {application:UUID} AND start_time = fromUnixTimestamp64Milli({start:Int64}, 'Asia/Shanghai') AND call_id = {call:UUID}
LIMIT 1`

// Own gives a call of an application, whatever became of it, without details. Faults: NotFound, Unavailable.
func (r *Reader) Own(ctx context.Context, application, callID uuid.UUID) (Call, error) {
	start, ok := startOf(callID)
	if !ok || beijing.DayOf(start) < r.days.CallsFrom(beijing.Today(r.now())) {
		return Call{}, fault.Absent()
	}
	var found *Call
	parameters := args("application", application, "start", start.UnixMilli(), "call", callID)
	err := r.each(inOneThread(ctx), "own call", oneCallQuery, parameters, func(rows driver.Rows) error {
		c, err := scanCall(rows)
		found = &c
		return err
	})
	if err != nil {
		return Call{}, err
	}
	if found == nil {
		return Call{}, fault.Absent()
	}
	return *found, nil
}

// Call gives one failed call of an application. Faults: NotFound for a call that is not there,
// NoFailureDetail for a successful one, Unavailable.
func (r *Reader) Call(ctx context.Context, application, callID uuid.UUID) (FailedCall, error) {
	start, ok := startOf(callID)
	today := beijing.Today(r.now())
	if !ok || beijing.DayOf(start) < r.days.CallsFrom(today) {
		return FailedCall{}, fault.Absent()
	}
	parameters := args("application", application, "start", start.UnixMilli(), "call", callID)
	var found *FailedCall
	err := r.each(ctx, "call", oneCallQuery, parameters, func(rows driver.Rows) (err error) {
		found, err = scanFailedCall(rows)
		return err
	})
	switch {
	case err != nil:
		return FailedCall{}, err
	case found == nil:
		return FailedCall{}, fault.Absent()
	case found.Success:
		return FailedCall{}, fault.New(fault.NoFailureDetail, "this call succeeded, so there is no failure detail")
	}
	return *found, r.addFailure(ctx, start, parameters, &found.Failure)
}

// addFailure fills in what is kept of the failure of a call that started then. The day decides whether it is, not whether
// a merge has dropped the rows yet.
func (r *Reader) addFailure(ctx context.Context, start time.Time, parameters []any, f *FailureDetail) error {
	if beijing.DayOf(start) < r.days.FailuresFrom(beijing.Today(r.now())) {
		note := expired
		f.Collected, f.BodyNote = f.Reason != nil, &note
		return nil
	}
	return r.addDetail(ctx, parameters, f)
}

// startOf reads the start millisecond out of a call id; ok is false for what is no UUIDv7.
func startOf(id uuid.UUID) (start time.Time, ok bool) {
	var ms int64
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms), id.Version() == 7
}

func scanFailedCall(rows driver.Rows, more ...any) (*FailedCall, error) {
	call, err := scanCall(rows, more...)
	if err != nil {
		return nil, err
	}
	return &FailedCall{Call: call, Failure: FailureDetail{Reason: call.Reason}}, nil
}

const failureQuery = `
SELECT message, toString(method), path, request_body, query, toString(body_note)
FROM call_failures
WHERE application_id = {application:UUID} AND start_time = fromUnixTimestamp64Milli({start:Int64}, 'Asia/Shanghai') AND call_id = {call:UUID}
LIMIT 1`

// addDetail fills in the row of call_failures. The shipper writes it before the call's own row, so
// a call that can be seen has it, unless none was kept.
func (r *Reader) addDetail(ctx context.Context, parameters []any, f *FailureDetail) error {
	return r.each(ctx, "failure detail", failureQuery, parameters, func(rows driver.Rows) error {
		var message, body, query, note string
		var request FailureRequest
		if err := rows.Scan(&message, &request.Method, &request.Path, &body, &query, &note); err != nil {
			return unavailable(err, "read failure detail")
		}
		f.Collected, f.Request = true, &request
		f.RequestBody, f.Query = jsonOrNull(body), jsonOrNull(query)
		if note != "" {
			f.BodyNote = &note
		}
		if message != "" && f.Reason != nil {
			f.Reason.Message = &message
		}
		return nil
	})
}

// jsonOrNull keeps a damaged document from breaking the answer around it.
func jsonOrNull(document string) json.RawMessage {
	if document == "" || !json.Valid([]byte(document)) {
		return nil
	}
	return json.RawMessage(document)
}
