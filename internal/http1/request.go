package http1

import "bytes"

// Request is the head of a request.
type Request struct {
	Head

	// Continue tells that the caller waits for "100 Continue" before it sends the body.
	Continue bool

	methodEnd, targetEnd uint16
}

// Method is the request's method.
func (r *Request) Method() []byte { return r.raw[:r.methodEnd] }

// Target is the request target as it was sent: no byte of it is decoded.
func (r *Request) Target() []byte { return r.raw[r.methodEnd+1 : r.targetEnd] }

// Reset makes the head ready for the next request. Parse is then called with what has arrived of it.
func (r *Request) Reset() {
	r.reset()
	r.Continue, r.methodEnd, r.targetEnd = false, 0, 0
}

// Parse parses the unread bytes of a connection, which begin with the request. It returns how many bytes
// the head takes, or 0 when bytes are missing: then it is called again with the same bytes and more. A head
// of more than limit bytes (at most MaxHead) is ErrHeadTooLong. What methods and slices of the head tell
// points into unread.
func (r *Request) Parse(unread []byte, limit int) (int, error) {
	n, err := r.lines(unread, limit, r.startLine)
	if err != nil || n == 0 {
		return 0, err
	}
	switch {
	case r.hosts > 1, r.hosts == 0 && !r.Old: // RFC 9112, section 3.2
		return 0, ErrMalformed
	case r.lengths > 1, r.codings > 0 && r.lengths > 0: // section 6.3: two framings, two readings
		return 0, ErrMalformed
	}
	if err := r.finish(); err != nil {
		return 0, err
	}
	r.expects()
	return n, nil
}

// Body is how the request's body is framed.
func (r *Request) Body() Framing {
	switch {
	case r.chunked:
		return Framing{Kind: Chunked}
	case r.length > 0:
		return Framing{Kind: Sized, Length: r.length}
	}
	return Framing{}
}

// Measured tells that the request says how long its body is, if only that it has none.
func (r *Request) Measured() bool { return r.lengths > 0 }

// preface begins a connection of HTTP/2 (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0"

// startLine parses "METHOD target HTTP/1.1": three parts, each apart by one space.
func (r *Request) startLine(line []byte) error {
	method := bytes.IndexByte(line, ' ')
	target := bytes.LastIndexByte(line, ' ')
	if method < 1 || target-method < 2 {
		return ErrMalformed
	}
	for _, c := range line[:method] {
		if !tokenBytes[c] {
			return ErrMalformed
		}
	}
	for _, c := range line[method+1 : target] {
		if c <= ' ' || c == 0x7f {
			return ErrMalformed
		}
	}
	switch string(line[target+1:]) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		r.Old = true
	default:
		if string(line) == preface {
			return ErrHTTP2
		}
		return ErrMalformed
	}
	r.methodEnd, r.targetEnd = uint16(method), uint16(target)
	return nil
}

// expects looks for "Expect: 100-continue", which means nothing in HTTP/1.0 and without a body.
func (r *Request) expects() {
	if r.Old || r.Body().Kind == Empty {
		return
	}
	for _, f := range r.fields {
		if f.nameEnd-f.start == 6 && EqualFold(r.Name(f), "expect") && EqualFold(r.Value(f), "100-continue") {
			r.Continue = true
		}
	}
}
