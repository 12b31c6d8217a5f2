package calls

import "encoding/hex"

// TraceID names the trace a call belongs to (W3C Trace Context); zero: none.
type TraceID [16]byte

// String is the id in 32 lower-case hexadecimal digits, empty without a trace.
func (id TraceID) String() string {
	if id == (TraceID{}) {
		return ""
	}
	return hex.EncodeToString(id[:])
}
