package http1

import "errors"

// Response is the head of a response.
type Response struct {
	Head
	Status int
}

// What a server of HTTP/2 says first, by the fourth byte (RFC 9113, section 6).
const (
	frameSettings = 4
	frameGoAway   = 7
)

// Reset makes the head ready for the next response.
func (r *Response) Reset() {
	r.reset()
	r.Status = 0
}

// Parse parses the unread bytes of a connection, which begin with the response, interim ones (1xx)
// included; see Request.Parse.
func (r *Response) Parse(unread []byte, limit int) (int, error) {
	if len(unread) > 0 && unread[0] == 0 {
		switch {
		case len(unread) < 4:
			return 0, nil
		case unread[3] == frameSettings || unread[3] == frameGoAway:
			return 0, ErrHTTP2
		}
	}
	n, err := r.lines(unread, limit, r.startLine)
	if err != nil || n == 0 {
		return 0, err
	}
	if err := r.finish(); err != nil {
		return 0, errors.Join(ErrMalformed, err)
	}
	if r.chunked && r.lengths > 0 { // the coding counts; what stands behind such an answer is not trusted
		r.KeepAlive = false
	}
	return n, nil
}

// Body is how the body of the response to a request with the given method is framed (RFC 9112, section 6.3).
func (r *Response) Body(method []byte) Framing {
	switch {
	case r.Status < 200, r.Status == 204, r.Status == 304, string(method) == "HEAD":
		return Framing{}
	case r.chunked:
		return Framing{Kind: Chunked}
	case r.length > 0:
		return Framing{Kind: Sized, Length: r.length}
	case r.length == 0:
		return Framing{}
	}
	return Framing{Kind: UntilClose}
}

// Length is the value of Content-Length, which also answers to HEAD have; -1 when there is none.
func (r *Response) Length() int64 {
	if r.chunked {
		return -1
	}
	return r.length
}

// Reason is the text behind the status.
func (r *Response) Reason() []byte {
	const before = len("HTTP/1.1 200 ")
	end := 0
	for r.raw[end] != '\r' {
		end++
	}
	return r.raw[min(before, end):end]
}

// startLine parses "HTTP/1.1 200 Reason"; the reason, and the space before it, may be missing.
func (r *Response) startLine(line []byte) error {
	if len(line) < len("HTTP/1.1 200") || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return ErrMalformed
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return ErrMalformed
		}
		r.Status = r.Status*10 + int(c-'0')
	}
	if r.Status < 100 || line[7] != '0' && line[7] != '1' || hasControl(line[12:]) {
		return ErrMalformed
	}
	r.Old = line[7] == '0'
	return nil
}
