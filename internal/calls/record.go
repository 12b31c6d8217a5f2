package calls

import (
	"crypto/rand"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Record is one attributed call. It never holds an Access Key or
// an upstream key. Whoever hands it over must not touch it afterwards.
type Record struct {
	ApplicationID uuid.UUID
	UserID        uuid.UUID // owner of the application
	KeyID         uuid.UUID // of the application's keys, the one that the call was made with
	CallID        uuid.UUID // UUIDv7 of the start millisecond, see NewCallID
	Model         string    // capability id; empty when the caller named none that exists
	Start         time.Time // when the request arrived; millisecond precision is kept
	Duration      time.Duration
	StatusCode    int // 499: the response did not end completely
	Success       bool
	Streamed      bool          // the response was an event stream
	FirstByte     time.Duration // until the first upstream response byte; negative when none came
	EndedBy       EndedBy
	ReasonType    ReasonType // empty for a success
	ReasonCode    ReasonCode // empty for a success
	UpstreamCode  int        // status the upstream answered, 0 when it did not
	Trace         TraceID
	RequestBytes  int64
	ResponseBytes int64
	Usage         Usage
	Lines         []Line // what it used, where Usage does not say all (SetLines)
	AnswerID      string // the answer's own id; empty: it has none
	Charged       Charge // by the provider's own account
	Tags          []Tag  // that the caller gave it, in the order of their names
	EndUser       string // that the caller named, as it is kept; empty: nobody
	Estimated     uint32 // tokens that limits were charged beyond those of Usage, whose answer did not say all
	UpstreamID    string // named upstream that the call went to last; empty: the capability's own, or none
	Attempts      int    // upstreams it was sent to; 0 when it was refused before
	FailedAttempt FailedAttempt
	Failure       *Failure // nil for a success
	// Unredacted is what the failure's detail is to be made of (redact.Record does it, in spool); nil for a
	// success. It never leaves memory.
	Unredacted *FailureInput
}

// FailedAttempt is the attempt of a call that another upstream was tried after; the zero one: there was none.
type FailedAttempt struct {
	UpstreamID string
	Status     int           // it answered, 0 when it did not
	Duration   time.Duration // from the start of the call until it had failed
	Reason     ReasonCode
}

// idleRecords are records that were written, for reuse.
var idleRecords = sync.Pool{New: func() any { return new(Record) }}

// TakeRecord returns an empty record, to be filled and handed to the spool: once it is written,
// another call may get it.
func TakeRecord() *Record { return idleRecords.Get().(*Record) }

// Release empties a record that is written, and gives it back for another call.
func (r *Record) Release() {
	*r = Record{}
	idleRecords.Put(r)
}

// MinStart and MaxStart are the first and the first impossible start that can be stored, in Unix
// milliseconds: 2000-01-01 and 2101-01-01 in UTC. Outside these years ClickHouse would clamp the time,
// and with it the day.
const (
	MinStart = 946_684_800_000
	MaxStart = 4_133_980_800_000
)

// maxModel bounds the names of a record, in characters.
const maxModel = 256

// MakeStorable makes r one that can always be stored: its start inside the years ClickHouse keeps, its
// texts valid UTF-8 and bounded, and its detail of at most maxDetail bytes, or else dropped.
func (r *Record) MakeStorable(maxDetail int) {
	if ms := r.Start.UnixMilli(); ms < MinStart || ms >= MaxStart {
		r.Start = time.Now()
	}
	r.StatusCode, r.UpstreamCode = min(r.StatusCode, math.MaxUint16), min(r.UpstreamCode, math.MaxUint16)
	r.Model = storable(r.Model)
	r.UpstreamID = storable(r.UpstreamID)
	f := &r.FailedAttempt
	f.UpstreamID, f.Status = storable(f.UpstreamID), min(f.Status, math.MaxUint16)
	r.Attempts = min(max(r.Attempts, 0), math.MaxUint8)
	r.Usage.Model = storable(r.Usage.Model)
	r.makeLinesStorable()
	r.EndUser, r.Tags = storable(r.EndUser), r.Tags[:min(len(r.Tags), MaxTags)]
	for i, tag := range r.Tags {
		r.Tags[i] = Tag{storable(tag.Name), storable(tag.Value)}
	}
	if f := r.Failure; f != nil && f.Size() > maxDetail {
		r.Failure = nil
	}
}

// EndedBy tells who or what ended a call.
type EndedBy string

// The values of EndedBy.
const (
	Complete      EndedBy = "complete"
	ClientAbort   EndedBy = "client_abort"
	UpstreamAbort EndedBy = "upstream_abort"
	TimedOut      EndedBy = "timeout"
	Shutdown      EndedBy = "shutdown"
	Denied        EndedBy = "denied"
	Revoked       EndedBy = "revoked" // by an administrator, while it ran
)

// ReasonType is the kind of a failure.
type ReasonType string

// The values of ReasonType.
const (
	PermissionDenied  ReasonType = "permission_denied"
	UpstreamHTTPError ReasonType = "upstream_http_error"
	ConnectionFailed  ReasonType = "connection_failed"
	Timeout           ReasonType = "timeout"
	Interrupted       ReasonType = "interrupted"
	InvalidRequest    ReasonType = "invalid_request"
	Overloaded        ReasonType = "overloaded"
	Limited           ReasonType = "limited" // a limit or a budget is reached
	InternalFault     ReasonType = "internal"
)

// ReasonCode is the exact cause of a failure.
type ReasonCode string

// The values of ReasonCode.
const (
	ApplicationDisabled ReasonCode = "application_disabled"
	CapabilityNotBound  ReasonCode = "capability_not_bound"
	CapabilityDisabled  ReasonCode = "capability_disabled"
	CapabilityUnknown   ReasonCode = "capability_unknown"
	ModelRequired       ReasonCode = "model_required"
	InvalidPath         ReasonCode = "invalid_path"
	RequestTooLarge     ReasonCode = "request_too_large"
	CodeOverloaded      ReasonCode = "overloaded"
	CodeInternal        ReasonCode = "internal"
	UpstreamStatus      ReasonCode = "upstream_status"
	UpstreamUnreachable ReasonCode = "upstream_unreachable"
	UpstreamTimeout     ReasonCode = "upstream_timeout"
	CallerTimeout       ReasonCode = "caller_timeout"
	ClientClosed        ReasonCode = "client_closed"
	UpstreamClosed      ReasonCode = "upstream_closed"
	CodeShutdown        ReasonCode = "shutdown"
	CodeInvalidRequest  ReasonCode = "invalid_request"
	RateLimited         ReasonCode = "rate_limited"        // of the requests or tokens of a minute
	ConcurrencyLimited  ReasonCode = "concurrency_limited" // of the calls in flight
	QuotaExhausted      ReasonCode = "quota_exhausted"     // of the calls or tokens of a Beijing day
	BudgetExceeded      ReasonCode = "budget_exceeded"     // of a key, an application, an owner or a capability
	CostUnknown         ReasonCode = "cost_unknown"        // and such a budget refuses what has no price
	KeyExpired          ReasonCode = "key_expired"
	AddressNotAllowed   ReasonCode = "address_not_allowed"
)

// ReasonCodes are all of them, as FailureCode of openapi.yaml lists them.
var ReasonCodes = []ReasonCode{
	ApplicationDisabled, KeyExpired, AddressNotAllowed, CapabilityNotBound, CapabilityDisabled, CapabilityUnknown, ModelRequired, InvalidPath,
	RequestTooLarge, CodeOverloaded, CodeInternal, UpstreamStatus, UpstreamUnreachable, UpstreamTimeout, CallerTimeout, ClientClosed,
	UpstreamClosed, CodeShutdown, CodeInvalidRequest, RateLimited, ConcurrencyLimited, QuotaExhausted, BudgetExceeded, CostUnknown,
}

// Failure is the detail kept of a failed call: already redacted and bounded (internal/redact).
type Failure struct {
	Message     string // readable; for upstream errors the extracted message or none, <= 1,024 characters
	Method      string
	Path        string   // what stood after /gateway
	RequestBody []byte   // redacted JSON, <= 16 KB; nil when BodyNote says why
	Query       []byte   // redacted JSON object of strings
	BodyNote    BodyNote // empty when the body is kept
}

// Size is the number of bytes the detail's texts take.
func (f *Failure) Size() int {
	return len(f.Message) + len(f.Method) + len(f.Path) + len(f.RequestBody) + len(f.Query) + len(f.BodyNote)
}

// BodyNote says why a failed call's body is not kept; the first that holds.
type BodyNote string

// The values of BodyNote. "expired" is never stored: stats answers it for details past their time to live.
const (
	NotFullyRead BodyNote = "not_fully_read"
	TooLarge     BodyNote = "too_large" // more than 16,384 raw bytes
	Empty        BodyNote = "empty"
	NotJSON      BodyNote = "not_json" // by Content-Type
	InvalidJSON  BodyNote = "invalid_json"
	Expired      BodyNote = "expired"
)

// NewCallID returns a UUIDv7 whose time is the millisecond of start, so that a detail is found
// by its id alone in one granule.
func NewCallID(start time.Time) uuid.UUID {
	var id uuid.UUID
	_, _ = rand.Read(id[6:]) // never fails (crypto/rand)
	ms := uint64(start.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	return id
}

// storable is a name in valid UTF-8, of at most maxModel characters.
func storable(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if len(name) <= maxModel {
		return name
	}
	n := 0
	for i := range name {
		if n == maxModel {
			return name[:i]
		}
		n++
	}
	return name
}
