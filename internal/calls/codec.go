package calls

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The payload of a frame is one record: fixed ids, then variable-length integers and strings. It
// is compact because every call pays for it once on disk (a success: about 90 bytes). Decoding
// checks every length; a payload that does not come out exactly is not a record.

// payloadVersion is the first byte of a payload; a changed layout takes the next number.
const payloadVersion = 1

// maxPayload bounds a frame, so that a damaged length is seen as such. NewFailure keeps a failure
// far below it; a record built otherwise loses its detail rather than exceed it.
const maxPayload = 128 << 10

const (
	flagSuccess = 1 << iota
	flagStreamed
	flagFirstByte
	flagFailure
)

// The values that are stored as one byte, by position plus one; others are written out after a 0.
// Append only.
var (
	endedByCodes    = []string{"", string(Complete), string(ClientAbort), string(UpstreamAbort), string(TimedOut), string(Shutdown), string(Denied)}
	reasonTypeCodes = []string{"", string(PermissionDenied), string(UpstreamHTTPError), string(ConnectionFailed), string(Timeout),
		string(Interrupted), string(InvalidRequest), string(Overloaded), string(InternalFault)}
	reasonCodeCodes = []string{"", string(ApplicationDisabled), string(CapabilityNotBound), string(CapabilityDisabled), string(CapabilityUnknown),
		string(ModelRequired), string(InvalidPath), string(RequestTooLarge), string(CodeOverloaded), string(CodeInternal), string(UpstreamStatus),
		string(UpstreamUnreachable), string(UpstreamTimeout), string(ClientClosed), string(UpstreamClosed), string(CodeShutdown),
		string(CodeInvalidRequest), string(CallerTimeout)}
	noteCodes = []string{"", string(NotFullyRead), string(TooLarge), string(Empty), string(NotJSON), string(InvalidJSON)}
)

// appendPayload encodes r.
func appendPayload(b []byte, r *Record) []byte {
	b = append(b, payloadVersion)
	b = append(b, r.ApplicationID[:]...)
	b = append(b, r.UserID[:]...)
	b = append(b, r.CallID[:]...)
	var flags byte
	if r.Success {
		flags |= flagSuccess
	}
	if r.Streamed {
		flags |= flagStreamed
	}
	if r.FirstByte >= 0 {
		flags |= flagFirstByte
	}
	if r.Failure != nil {
		flags |= flagFailure
	}
	b = append(b, flags)
	b = binary.AppendVarint(b, r.Start.UnixMilli()-idMilli(r.CallID))
	b = binary.AppendUvarint(b, uint64(max(r.Duration, 0)/time.Microsecond))
	if r.FirstByte >= 0 {
		b = binary.AppendUvarint(b, uint64(r.FirstByte/time.Microsecond))
	}
	b = binary.AppendUvarint(b, uint64(max(r.StatusCode, 0)))
	b = binary.AppendUvarint(b, uint64(max(r.UpstreamCode, 0)))
	b = binary.AppendUvarint(b, uint64(max(r.RequestBytes, 0)))
	b = binary.AppendUvarint(b, uint64(max(r.ResponseBytes, 0)))
	b = appendCode(b, endedByCodes, string(r.EndedBy))
	b = appendCode(b, reasonTypeCodes, string(r.ReasonType))
	b = appendCode(b, reasonCodeCodes, string(r.ReasonCode))
	b = appendText(b, r.Model)
	if f := r.Failure; f != nil {
		b = appendText(b, f.Message)
		b = appendText(b, f.Method)
		b = appendText(b, f.Path)
		b = appendText(b, string(f.RequestBody))
		b = appendText(b, string(f.Query))
		b = appendCode(b, noteCodes, string(f.BodyNote))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendCode(b []byte, codes []string, s string) []byte {
	for i, code := range codes {
		if code == s {
			return append(b, byte(i+1))
		}
	}
	return appendText(append(b, 0), s)
}

// idMilli is the millisecond a UUIDv7 carries; the start is stored as its distance from it.
func idMilli(id uuid.UUID) int64 {
	return int64(binary.BigEndian.Uint64(id[:8]) >> 16)
}

// row is a decoded record; its strings are parts of the segment's text.
type row struct {
	application, user, call                     uuid.UUID
	start                                       int64 // Unix milliseconds
	durationUS, firstByteUS                     uint64
	status, upstream                            uint16
	requestBytes, responseBytes                 uint64
	success, streamed, hasFirstByte, hasFailure bool
	endedBy, reasonType, reasonCode, model      string
	failure                                     failureRow
}

type failureRow struct {
	message, method, path, body, query, note string
}

// end is when the call ended, in Unix milliseconds.
func (r *row) end() int64 { return r.start + int64(r.durationUS/1000) }

var errPayload = errors.New("payload is not a call record")

// decodePayload reads a payload into r without copying its strings.
func decodePayload(payload string, r *row) error {
	d := decoder{rest: payload}
	if d.octet() != payloadVersion {
		return errPayload
	}
	d.id(&r.application)
	d.id(&r.user)
	d.id(&r.call)
	flags := d.octet()
	r.success, r.streamed = flags&flagSuccess != 0, flags&flagStreamed != 0
	r.hasFirstByte, r.hasFailure = flags&flagFirstByte != 0, flags&flagFailure != 0
	r.start = idMilli(r.call) + d.varint()
	r.durationUS, r.firstByteUS = d.number(math.MaxInt64), 0
	if r.hasFirstByte {
		r.firstByteUS = d.number(math.MaxInt64)
	}
	r.status = uint16(d.number(math.MaxUint16))
	r.upstream = uint16(d.number(math.MaxUint16))
	r.requestBytes, r.responseBytes = d.number(math.MaxUint64), d.number(math.MaxUint64)
	r.endedBy = d.code(endedByCodes)
	r.reasonType = d.code(reasonTypeCodes)
	r.reasonCode = d.code(reasonCodeCodes)
	r.model = d.text()
	r.failure = failureRow{}
	if r.hasFailure {
		f := &r.failure
		f.message, f.method, f.path, f.body, f.query = d.text(), d.text(), d.text(), d.text(), d.text()
		f.note = d.code(noteCodes)
	}
	// Outside these years ClickHouse would clamp the time, and with it the day.
	if d.failed || d.rest != "" || flags >= flagFailure<<1 || r.start < minStart || r.start >= maxStart {
		return errPayload
	}
	return nil
}

// First and first impossible start, Unix milliseconds: 2000-01-01 and 2101-01-01 in UTC.
const (
	minStart = 946_684_800_000
	maxStart = 4_133_980_800_000
)

// decoder takes values off the front of a payload; once one does not fit, failed stays set.
type decoder struct {
	rest   string
	failed bool
}

func (d *decoder) take(n uint64) string {
	if d.failed || n > uint64(len(d.rest)) {
		d.failed = true
		return ""
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) octet() byte {
	if taken := d.take(1); taken != "" {
		return taken[0]
	}
	return 0
}

func (d *decoder) id(id *uuid.UUID) { copy(id[:], d.take(uint64(len(id)))) }

func (d *decoder) number(most uint64) uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := d.octet()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > most || shift == 63 && b > 1 {
				d.failed = true
				return 0
			}
			return n
		}
	}
	d.failed = true
	return 0
}

func (d *decoder) varint() int64 {
	n := d.number(math.MaxUint64)
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) text() string { return d.take(d.number(maxPayload)) }

func (d *decoder) code(codes []string) string {
	switch n := int(d.octet()); {
	case n == 0:
		return d.text()
	case n <= len(codes):
		return codes[n-1]
	}
	d.failed = true
	return ""
}

// sanitise makes a record one that can always be stored: its start inside the years ClickHouse
// keeps, its texts valid UTF-8 and bounded, and its detail small enough for a frame.
func sanitise(r *Record) {
	if ms := r.Start.UnixMilli(); ms < minStart || ms >= maxStart {
		r.Start = time.Now()
	}
	r.StatusCode, r.UpstreamCode = min(r.StatusCode, math.MaxUint16), min(r.UpstreamCode, math.MaxUint16)
	r.Model = cut(strings.ToValidUTF8(r.Model, "\uFFFD"), 256)
	if f := r.Failure; f != nil && f.size() > maxPayload/2 {
		r.Failure = nil
	}
}

// size is the number of bytes a detail's texts take.
func (f *Failure) size() int {
	return len(f.Message) + len(f.Method) + len(f.Path) + len(f.RequestBody) + len(f.Query) + len(f.BodyNote)
}
