package spool

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls"
)

// The payload of a frame is one record: fixed ids, then variable-length integers and strings. It
// is compact because every call pays for it once on disk (a success: about 90 bytes). Decoding
// checks every length; a payload that does not come out exactly is not a record.

// payloadVersion is the first byte of a payload; a changed layout takes the next number.
const payloadVersion = 1

// maxPayload bounds a frame, so that a damaged length is seen as such. redact.Record keeps a failure
// far below it; a record built otherwise loses its detail rather than exceed it.
const maxPayload = 128 << 10

const (
	flagSuccess = 1 << iota
	flagStreamed
	flagFirstByte
	flagFailure
	flagTrace
	flagMore
)

// The values that are stored as one byte, by position plus one; others are written out after a 0, which
// a version that does not know them reads as well. Append only.
var (
	endedByCodes    = []string{"", string(calls.Complete), string(calls.ClientAbort), string(calls.UpstreamAbort), string(calls.TimedOut), string(calls.Shutdown), string(calls.Denied)}
	reasonTypeCodes = []string{"", string(calls.PermissionDenied), string(calls.UpstreamHTTPError), string(calls.ConnectionFailed), string(calls.Timeout),
		string(calls.Interrupted), string(calls.InvalidRequest), string(calls.Overloaded), string(calls.InternalFault), string(calls.Limited)}
	reasonCodeCodes = []string{"", string(calls.ApplicationDisabled), string(calls.CapabilityNotBound), string(calls.CapabilityDisabled), string(calls.CapabilityUnknown),
		string(calls.ModelRequired), string(calls.InvalidPath), string(calls.RequestTooLarge), string(calls.CodeOverloaded), string(calls.CodeInternal), string(calls.UpstreamStatus),
		string(calls.UpstreamUnreachable), string(calls.UpstreamTimeout), string(calls.ClientClosed), string(calls.UpstreamClosed), string(calls.CodeShutdown),
		string(calls.CodeInvalidRequest), string(calls.CallerTimeout), string(calls.RateLimited), string(calls.ConcurrencyLimited), string(calls.QuotaExhausted)}
	usageCodes = []string{"", string(calls.UsageNone), string(calls.UsageReported), string(calls.UsagePartial), string(calls.UsageAbsent), string(calls.UsageUnreadable)}
	noteCodes  = []string{"", string(calls.NotFullyRead), string(calls.TooLarge), string(calls.Empty), string(calls.NotJSON), string(calls.InvalidJSON)}
)

// appendPayload encodes r.
func appendPayload(b []byte, r *calls.Record) []byte {
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
	if r.Trace != (calls.TraceID{}) {
		flags |= flagTrace
	}
	if hasMore(r) {
		flags |= flagMore
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
	if r.Trace != (calls.TraceID{}) {
		b = append(b, r.Trace[:]...)
	}
	if flags&flagMore != 0 {
		b = appendMore(b, r)
	}
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
