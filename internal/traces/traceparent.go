package traces

import (
	"encoding/hex"
	"math"
	"math/rand/v2"

	"callgate/internal/calls"
)

// Context is a call's place in a trace (W3C Trace Context, level 1). The zero value belongs to none.
type Context struct {
	Trace  calls.TraceID
	Parent [8]byte // span of the caller; zero: the call begins the trace
	Span   [8]byte // span of the call; zero: it is not sampled
}

// Sampled tells whether the call has a span of its own, which its upstream is told.
func (c *Context) Sampled() bool { return c.Span != [8]byte{} }

// AppendTraceparent adds the value of the header that makes the call's span the parent of what its
// upstream does.
func (c *Context) AppendTraceparent(b []byte) []byte {
	b = hex.AppendEncode(append(b, "00-"...), c.Trace[:])
	b = hex.AppendEncode(append(b, '-'), c.Span[:])
	return append(b, "-01"...)
}

// Positions in version-traceid-parentid-flags.
const (
	traceAt   = 3
	parentAt  = traceAt + 32 + 1
	flagsAt   = parentAt + 16 + 1
	headerEnd = flagsAt + 2
)

// parse reads a traceparent. Versions to come may have more behind the flags; 00 has not.
func parse(header []byte) (c Context, sampled, ok bool) {
	if len(header) < headerEnd || len(header) > headerEnd && (string(header[:2]) == "00" || header[headerEnd] != '-') {
		return Context{}, false, false
	}
	if header[traceAt-1] != '-' || header[parentAt-1] != '-' || header[flagsAt-1] != '-' {
		return Context{}, false, false
	}
	var version, flags [1]byte
	ok = unhex(version[:], header[:2]) && unhex(c.Trace[:], header[traceAt:parentAt-1]) &&
		unhex(c.Parent[:], header[parentAt:flagsAt-1]) && unhex(flags[:], header[flagsAt:headerEnd])
	if !ok || version[0] == 0xff || c.Trace == (calls.TraceID{}) || c.Parent == [8]byte{} {
		return Context{}, false, false
	}
	return c, flags[0]&1 == 1, true
}

// unhex decodes lower-case digits only, as the header has them.
func unhex(to, digits []byte) bool {
	for _, d := range digits {
		if (d < '0' || d > '9') && (d < 'a' || d > 'f') {
			return false
		}
	}
	_, err := hex.Decode(to, digits)
	return err == nil
}

// ValidTraceID tells whether text is a trace id: 32 lower-case hexadecimal digits, not all zero.
func ValidTraceID(text string) bool {
	var id calls.TraceID
	return len(text) == 2*len(id) && unhex(id[:], []byte(text)) && id != (calls.TraceID{})
}

// begun is the first span of a new trace, or none: of ratio of the calls.
func begun(ratio float64) (c Context) {
	if ratio < 1 && rand.Float64() >= ratio { //nolint:gosec // chance, not secrecy
		return Context{}
	}
	for c.Trace == (calls.TraceID{}) {
		put(c.Trace[:8], rand.Uint64()) //nolint:gosec // ids are told to everybody
		put(c.Trace[8:], rand.Uint64()) //nolint:gosec // ids are told to everybody
	}
	c.Span = newSpan()
	return c
}

func newSpan() (id [8]byte) {
	put(id[:], rand.Uint64N(math.MaxUint64)+1) //nolint:gosec // ids are told to everybody
	return id
}
