package http1

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// ambiguous are request heads that two servers could read in two ways, or that no server should read.
var ambiguous = map[string]string{
	"length and chunks":          "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
	"chunks and length 0":        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
	"two codings":                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
	"a coding hidden by case":    "Transfer-Encoding: chunked\r\ntransfer-ENCODING: identity\r\n",
	"folded coding":              "Transfer-Encoding:\r\n chunked\r\n",
	"folded field":               "X: a\r\n\tb\r\n",
	"identity coding":            "Transfer-Encoding: identity\r\n",
	"chunked twice in a list":    "Transfer-Encoding: chunked, chunked\r\n",
	"compressed coding":          "Transfer-Encoding: gzip, chunked\r\n",
	"coding with a parameter":    "Transfer-Encoding: chunked;q=1\r\n",
	"coding after a form feed":   "Transfer-Encoding: \x0cchunked\r\n",
	"quoted coding":              "Transfer-Encoding: \"chunked\"\r\n",
	"empty coding":               "Transfer-Encoding:\r\n",
	"underscored coding":         "Transfer_Encoding: chunked\r\n",
	"underscored length":         "Content_Length: 5\r\n",
	"two lengths":                "Content-Length: 5\r\nContent-Length: 6\r\n",
	"same length twice":          "Content-Length: 5\r\nContent-Length: 5\r\n",
	"lengths in a list":          "Content-Length: 5, 5\r\n",
	"signed length":              "Content-Length: +5\r\n",
	"negative length":            "Content-Length: -1\r\n",
	"hexadecimal length":         "Content-Length: 0x5\r\n",
	"length with a tail":         "Content-Length: 5a\r\n",
	"empty length":               "Content-Length:\r\n",
	"length beyond 64 bits":      "Content-Length: 18446744073709551621\r\n",
	"space before the colon":     "Transfer-Encoding : chunked\r\n",
	"tab before the colon":       "Content-Length\t: 5\r\n",
	"NUL in a name":              "Transfer-Encoding\x00: chunked\r\n",
	"high byte in a name":        "Transfer-Encoding\xa0: chunked\r\n",
	"bare line feed":             "X: a\nTransfer-Encoding: chunked\r\n",
	"carriage return in a value": "X: a\rTransfer-Encoding: chunked\r\n",
	"two carriage returns":       "X: a\r\r\n",
	"NUL in a value":             "X: a\x00b\r\n",
	"delete in a long value":     "X: abcdefghijkl\x7fmnop\r\n",
	"no name":                    ": x\r\n",
	"no colon":                   "GET / HTTP/1.1\r\n",
	"name with a space":          "X Y: x\r\n",
	"second host":                "Host: other\r\n",
	"five Connection lines":      strings.Repeat("Connection: a\r\n", 5),
	"many options":               "Connection: " + strings.Repeat("a,", 17) + "\r\n",
}

var badStarts = map[string]string{
	"space in the target":       "POST /v1 x HTTP/1.1\r\n",
	"NUL in the target":         "POST /v1\x00 HTTP/1.1\r\n",
	"return in the target":      "POST /v1\r HTTP/1.1\r\n",
	"no target":                 "POST HTTP/1.1\r\n",
	"empty target":              "POST  HTTP/1.1\r\n",
	"no version":                "POST /v1\r\n",
	"another version":           "POST /v1 HTTP/1.2\r\n",
	"lower-case version":        "POST /v1 http/1.1\r\n",
	"space behind the version":  "POST /v1 HTTP/1.1 \r\n",
	"space before the method":   " POST /v1 HTTP/1.1\r\n",
	"a method that is no token": "PO(ST /v1 HTTP/1.1\r\n",
	"line feed only":            "POST /v1 HTTP/1.1\n",
	"empty line first":          "\r\nPOST /v1 HTTP/1.1\r\n",
	"TLS":                       "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}

func parseRequest(text string) (*Request, int, error) {
	r := &Request{}
	r.Reset()
	n, err := r.Parse([]byte(text), 16<<10)
	return r, n, err
}

func TestRequestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	for name, line := range ambiguous {
		if _, n, err := parseRequest("POST /v1 HTTP/1.1\r\nHost: a\r\n" + line + "\r\n"); err == nil {
			t.Errorf("%s: accepted, %d bytes", name, n)
		}
	}
	for name, start := range badStarts {
		if _, n, err := parseRequest(start + "Host: a\r\n\r\n"); err == nil {
			t.Errorf("%s: accepted, %d bytes", name, n)
		}
	}
	for name, text := range map[string]string{
		"chunks in HTTP/1.0": "POST /v1 HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
		"no host":            "GET / HTTP/1.1\r\nX: a\r\n\r\n",
	} {
		if _, _, err := parseRequest(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, _, err := parseRequest("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); !errors.Is(err, ErrHTTP2) {
		t.Errorf("the preface of HTTP/2: %v", err)
	}
}

// describe tells everything a head says.
func describe(r *Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s old=%v keep=%v upgrade=%v continue=%v %+v\n", r.Method(), r.Target(), r.Old, r.KeepAlive, r.Upgrade, r.Continue, r.Body())
	for _, f := range r.Fields() {
		fmt.Fprintf(&b, "%q=%q hop=%v %q\n", r.Name(f), r.Value(f), f.Hop, r.Line(f))
	}
	return b.String()
}

func TestHeadSaysTheSameHoweverItArrives(t *testing.T) {
	const head = "POST /v1/chat?model=m&x=%20 HTTP/1.1\r\nHost: a\r\nAccept:\t*/* \r\nConnection: X-Private , close\r\nx-private: 1\r\n" +
		"Keep-Alive: timeout=5\r\nTE: trailers\r\nExpect: 100-Continue\r\nContent-Length: 5\r\nX-Empty:\r\n\r\n"
	whole, n, err := parseRequest(head + "hello")
	if err != nil || n != len(head) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	want := "POST /v1/chat?model=m&x=%20 old=false keep=false upgrade=false continue=true {Kind:1 Length:5}\n" +
		"\"Host\"=\"a\" hop=false \"Host: a\\r\\n\"\n" +
		"\"Accept\"=\"*/*\" hop=false \"Accept:\\t*/* \\r\\n\"\n" +
		"\"Connection\"=\"X-Private , close\" hop=true \"Connection: X-Private , close\\r\\n\"\n" +
		"\"x-private\"=\"1\" hop=true \"x-private: 1\\r\\n\"\n" +
		"\"Keep-Alive\"=\"timeout=5\" hop=true \"Keep-Alive: timeout=5\\r\\n\"\n" +
		"\"TE\"=\"trailers\" hop=true \"TE: trailers\\r\\n\"\n" +
		"\"Expect\"=\"100-Continue\" hop=false \"Expect: 100-Continue\\r\\n\"\n" +
		"\"Content-Length\"=\"5\" hop=true \"Content-Length: 5\\r\\n\"\n" +
		"\"X-Empty\"=\"\" hop=false \"X-Empty:\\r\\n\"\n"
	if got := describe(whole); got != want {
		t.Fatalf("the head says\n%s", got)
	}
	for first := range len(head) {
		for _, second := range []int{first, min(first+1, len(head)-1), len(head) - 1} {
			r := &Request{}
			r.Reset()
			for _, arrived := range []int{first, second, len(head)} {
				moved := []byte(head[:arrived]) // elsewhere each time, as buffers move
				n, err := r.Parse(moved, 16<<10)
				if err != nil || (n != 0) != (arrived == len(head)) {
					t.Fatalf("at %d bytes: %d, %v", arrived, n, err)
				}
			}
			if got := describe(r); got != want {
				t.Fatalf("cut at %d and %d the head says\n%s", first, second, got)
			}
		}
	}
}

func TestHeadLongerThanAllowedIsNotReadToItsEnd(t *testing.T) {
	r := &Request{}
	for name, text := range map[string]string{
		"whole":       "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 300) + "\r\n\r\n",
		"without end": "GET /" + strings.Repeat("a", 300),
	} {
		r.Reset()
		if _, err := r.Parse([]byte(text), 256); !errors.Is(err, ErrHeadTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRequestKeepsTheConnectionAsItSays(t *testing.T) {
	for text, want := range map[string]bool{
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n":                                     true,
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n":                false,
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, CLOSE\r\n\r\n":    false,
		"GET / HTTP/1.0\r\n\r\n":                                                false,
		"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n":                      true,
		"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nConnection: close\r\n\r\n": false,
	} {
		if r, _, err := parseRequest(text); err != nil || r.KeepAlive != want {
			t.Errorf("%q: %v, %v", text, r.KeepAlive, err)
		}
	}
}

func TestResponseBodyIsFramedByStatusMethodAndHead(t *testing.T) {
	const get, head = "GET", "HEAD"
	for _, test := range []struct {
		text, method string
		want         Framing
		keep         bool
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", get, Framing{Sized, 5}, true},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", get, Framing{Sized, 5}, true},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", head, Framing{}, true},
		{"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", get, Framing{}, true},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", get, Framing{Kind: Chunked}, true},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", get, Framing{Kind: Chunked}, false},
		{"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", get, Framing{}, true},
		{"HTTP/1.1 304 No\r\nTransfer-Encoding: chunked\r\n\r\n", get, Framing{}, true},
		{"HTTP/1.1 103 Early Hints\r\n\r\n", get, Framing{}, true},
		{"HTTP/1.1 200 OK\r\n\r\n", get, Framing{Kind: UntilClose}, true},
		{"HTTP/1.0 200 OK\r\n\r\n", get, Framing{Kind: UntilClose}, false},
	} {
		var r Response
		r.Reset()
		n, err := r.Parse([]byte(test.text), MaxHead)
		if got := r.Body([]byte(test.method)); err != nil || n != len(test.text) || got != test.want || r.KeepAlive != test.keep {
			t.Errorf("%s %q: %+v, keep %v, %d bytes, %v", test.method, test.text, got, r.KeepAlive, n, err)
		}
	}
}

func TestMalformedResponsesAreRefusedAtOnce(t *testing.T) {
	for name, text := range map[string]string{
		"bare line feed":        "HTTP/1.1 200 OK\n",
		"bare line feed, later": "HTTP/1.1 200 OK\r\nX: a\n",
		"another protocol":      "ICY 200 OK\r\n",
		"another version":       "HTTP/2.0 200 OK\r\n",
		"status of letters":     "HTTP/1.1 2xx OK\r\n",
		"status below 100":      "HTTP/1.1 099 OK\r\n",
		"status of four digits": "HTTP/1.1 2000 OK\r\n",
		"control in the reason": "HTTP/1.1 200 O\x01K\r\n",
		"two lengths":           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
		"compressed coding":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"chunks in HTTP/1.0":    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"no HTTP":               "\x15\x03\x01\x00",
	} {
		var r Response
		r.Reset()
		if _, err := r.Parse([]byte(text), MaxHead); err == nil {
			t.Errorf("%s: accepted, or more was waited for", name)
		}
	}
	var r Response
	r.Reset()
	if _, err := r.Parse([]byte("\x00\x00\x12\x04\x00\x00\x00\x00\x00"), MaxHead); !errors.Is(err, ErrHTTP2) {
		t.Errorf("settings of HTTP/2: %v", err)
	}
}

func BenchmarkParseRequest(b *testing.B) {
	head := []byte("POST /gateway/v1/chat/completions?model=demo HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer cg-0123456789012345678901234567890123456789012345678\r\n" +
		"Content-Type: application/json\r\nAccept: application/json\r\nUser-Agent: bench/1.0\r\nContent-Length: 1024\r\n\r\n")
	var r Request
	b.ReportAllocs()
	for b.Loop() {
		r.Reset()
		if n, err := r.Parse(head, 16<<10); n == 0 || err != nil {
			b.Fatal(err)
		}
	}
}
