package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// seeds are heads that the fuzzers begin with.
var seeds = []string{
	"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
	"POST /v1?model=m HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Type: application/json\r\nAccept:  x \r\n\r\nhello",
	"POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive, x-a\r\nX-A: b\r\n\r\n0\r\n\r\n",
	"GET http://a/b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTe: trailers\r\nUpgrade: h2c\r\n\r\n",
	"PUT /x HTTP/1.1\r\nhost:a\r\nexpect: 100-continue\r\ncontent-length: 000\r\nX-Empty:\r\nX-Tab: a\tb\r\nX-High: \xe4\xbd\xa0\r\n\r\n",
}

// FuzzRequestsAreReadAsOthersReadThem: what this package accepts, net/http and fasthttp read in the same
// way, or refuse. Every kind of refusal of theirs must be known.
func FuzzRequestsAreReadAsOthersReadThem(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ours Request
		ours.Reset()
		n, err := ours.Parse(data, 16<<10)
		if err != nil || n == 0 {
			return
		}
		if err := sameAsNetHTTP(&ours, data[:n]); err != nil {
			t.Errorf("net/http reads %q otherwise: %v", data[:n], err)
		}
		if err := sameAsFasthttp(&ours, data[:n]); err != nil {
			t.Errorf("fasthttp reads %q otherwise: %v", data[:n], err)
		}
	})
}

func sameAsNetHTTP(ours *Request, head []byte) error {
	theirs, err := http.ReadRequest(bufio.NewReaderSize(bytes.NewReader(head), 64<<10))
	if err != nil {
		return knownRefusal(ours, err)
	}
	if theirs.Method != string(ours.Method()) || theirs.RequestURI != string(ours.Target()) {
		return fmt.Errorf("%s %s instead of %s %s", theirs.Method, theirs.RequestURI, ours.Method(), ours.Target())
	}
	framing := ours.Body()
	switch {
	case slices.Equal(theirs.TransferEncoding, []string{"chunked"}) != (framing.Kind == Chunked):
		return fmt.Errorf("codings %q", theirs.TransferEncoding)
	case framing.Kind != Chunked && theirs.ContentLength != framing.Length:
		return fmt.Errorf("length %d instead of %d", theirs.ContentLength, framing.Length)
	case theirs.Close == ours.KeepAlive:
		return fmt.Errorf("close %v", theirs.Close)
	}
	fields := map[string][]string{}
	for _, field := range ours.Fields() {
		switch name := textproto.CanonicalMIMEHeaderKey(string(ours.Name(field))); name {
		case "Host", "Transfer-Encoding", "Content-Length", "Connection", "Trailer", "Pragma", "Cache-Control": // taken out, or added to
		default:
			fields[name] = append(fields[name], string(ours.Value(field)))
		}
	}
	for name, values := range fields {
		if got := theirs.Header.Values(name); !slices.Equal(got, values) {
			return fmt.Errorf("%s is %q instead of %q", name, got, values)
		}
		theirs.Header.Del(name)
	}
	for name := range theirs.Header {
		if name != "Connection" && name != "Content-Length" && name != "Pragma" && name != "Cache-Control" {
			return fmt.Errorf("%s is there too", name)
		}
	}
	return nil
}

// knownRefusal forgives net/http what it refuses and we do not: such a request is read in one way only.
func knownRefusal(ours *Request, err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "parse \""), strings.Contains(text, "invalid URI"): // the target is the upstream's to judge
	case strings.Contains(text, "invalid method"):
	case strings.Contains(text, "too many") || strings.Contains(text, "bad trailer key"), strings.Contains(text, "malformed Host header"):
	case ours.Old && strings.Contains(text, "Host"):
	default:
		return err
	}
	return nil
}

func sameAsFasthttp(ours *Request, head []byte) error {
	var theirs fasthttp.RequestHeader
	if err := theirs.Read(bufio.NewReaderSize(bytes.NewReader(head), 64<<10)); err != nil {
		if errors.Is(err, io.EOF) {
			return err
		}
		return nil // it is stricter with trailers, methods and targets; a refusal is no other reading
	}
	if string(theirs.Method()) != string(ours.Method()) || string(theirs.RequestURI()) != string(ours.Target()) {
		return fmt.Errorf("%s %s instead of %s %s", theirs.Method(), theirs.RequestURI(), ours.Method(), ours.Target())
	}
	switch framing, length := ours.Body(), theirs.ContentLength(); {
	case framing.Kind == Chunked && length != -1,
		framing.Kind == Sized && length != int(framing.Length),
		framing.Kind == Empty && length > 0:
		return fmt.Errorf("length %d instead of %+v", length, framing)
	}
	return nil
}

// FuzzResponsesAreReadAsOthersReadThem is the same for the heads of responses.
func FuzzResponsesAreReadAsOthersReadThem(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 204\r\n\r\n", "HTTP/1.0 500 x\r\nConnection: keep-alive\r\n\r\n",
		"HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var ours Response
		ours.Reset()
		n, err := ours.Parse(data, 16<<10)
		if err != nil || n == 0 {
			return
		}
		theirs, err := http.ReadResponse(bufio.NewReaderSize(bytes.NewReader(data[:n]), 64<<10), &http.Request{Method: "GET"})
		if err != nil {
			return
		}
		framing := ours.Body([]byte("GET"))
		length := map[Kind]int64{Empty: 0, Sized: framing.Length, Chunked: -1, UntilClose: -1}[framing.Kind]
		if theirs.StatusCode != ours.Status || theirs.ContentLength != length && ours.Status >= 200 {
			t.Errorf("net/http reads %q as %d with %d bytes, not %d with %+v", data[:n], theirs.StatusCode, theirs.ContentLength, ours.Status, framing)
		}
	})
}

// FuzzChunksAreReadAsOthersReadThem: a chunked body that is accepted is the same to net/http, and is the
// same however it arrives.
func FuzzChunksAreReadAsOthersReadThem(f *testing.F) {
	f.Add([]byte("5\r\nhello\r\n0\r\n\r\nrest"), uint16(3))
	f.Add([]byte("00a;x=\"y\"\r\n0123456789\r\n1 \r\nx\r\n0\r\nX-T: a\r\n\r\n"), uint16(17))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		body, rest, err := dechunk(data)
		split := int(at) % (len(data) + 1)
		again, restAgain, errAgain := dechunk(data[:split], data[split:])
		if !bytes.Equal(body, again) || !bytes.Equal(rest, restAgain) || (err == nil) != (errAgain == nil) {
			t.Fatalf("whole: %q, rest %q, %v; cut at %d: %q, rest %q, %v", body, rest, err, split, again, restAgain, errAgain)
		}
		if err != nil {
			return
		}
		request := "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + string(data[:len(data)-len(rest)])
		theirs, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
		if err != nil {
			t.Fatal(err)
		}
		read, err := io.ReadAll(theirs.Body)
		if err == nil && !bytes.Equal(read, body) {
			t.Errorf("net/http reads %q as %q, we as %q", data, read, body)
		}
	})
}

// dechunk decodes a chunked body that arrives in parts; it is an error when the end is not found.
func dechunk(parts ...[]byte) (body, rest []byte, err error) {
	var b Body
	b.Begin(Framing{Kind: Chunked})
	buf := take(large)
	defer buf.give()
	for _, part := range parts {
		for len(part) > 0 {
			if b.Ended() {
				return body, append(append(rest, buf.Unread()...), part...), nil
			}
			buf = buf.roomier()
			n := copy(buf.free(), part)
			buf.w += n
			part = part[n:]
			piece, err := b.Next(buf)
			if err != nil {
				return nil, nil, err
			}
			body = append(body, piece.Bytes()...)
		}
	}
	if !b.Ended() {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return body, append(rest, buf.Unread()...), nil
}
