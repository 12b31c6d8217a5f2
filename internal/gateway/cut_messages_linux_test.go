package gateway

import (
	"cmp"
	"fmt"
	"math/rand/v2"
)

// message is a request or a response as it stands on the wire of the side that sends it.
type message struct {
	bytes   []byte
	head    int    // bytes of the head
	body    []byte // without framing
	carried []int  // body bytes in the first n bytes
	ends    int    // from this many bytes on the receiver knows that it is whole; -1: it never does
	chunked bool
	method  string
	arrives int // of a request: bytes of it at the upstream, about as many if it is in chunks
}

// The framings beside chunks of so many bytes.
const (
	sized    = 0
	untilEnd = -1 // of the connection
	bodiless = -2
)

// compose frames body in chunks of at most chunk bytes, with trailers behind the last, or in another way.
func compose(head, body string, chunk int, trailers string) *message {
	m := &message{body: []byte(body), chunked: chunk > 0}
	add := func(text string, isBody bool) {
		m.bytes = append(m.bytes, text...)
		for range len(text) {
			n := m.carried[len(m.carried)-1]
			if isBody {
				n++
			}
			m.carried = append(m.carried, n)
		}
	}
	m.carried = []int{0}
	switch chunk {
	case sized:
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	case untilEnd, bodiless:
	default:
		head += "Transfer-Encoding: chunked\r\n"
	}
	add(head+"\r\n", false)
	m.head = len(m.bytes)
	for rest := body; chunk > 0 && len(rest) > 0; {
		n := min(chunk, len(rest))
		add(fmt.Sprintf("%x;a=b\r\n", n), false)
		add(rest[:n], true)
		add("\r\n", false)
		rest = rest[n:]
	}
	if chunk > 0 {
		add("0\r\n"+trailers+"\r\n", false)
	} else {
		add(body, true)
	}
	m.ends = len(m.bytes)
	if chunk == untilEnd {
		m.ends = -1
	}
	return m
}

// framing is a shape of an exchange: how the bodies are framed, as in compose.
type framing struct {
	name              string
	request, response int
	contentType       string
	again             bool // the request's framing is that of a framing before

	method   string // POST
	version  string // of the caller's HTTP: HTTP/1.1
	interim  string // answers before the final one
	more     string // lines of the answer's head
	trailers string // of both
	sizes    []int  // of the bodies; nil: all
}

var framings = []framing{
	{name: "JSON", contentType: "application/json"},
	{name: "chunks", request: 4_000, response: 3_000, contentType: "application/json"},
	{name: "events", response: 100_000, contentType: "text/event-stream", again: true},
	{name: "until the end", request: 100_000, response: untilEnd, contentType: "application/json", again: true},
	{name: "old caller, length", version: "HTTP/1.0", contentType: "application/json", sizes: few, again: true},
	{name: "old caller, chunks", version: "HTTP/1.0", response: 3_000, contentType: "application/json", sizes: few, again: true},
	{name: "old caller, until the end", version: "HTTP/1.0", response: untilEnd, contentType: "application/json", sizes: few, again: true},
	{name: "head only", method: "HEAD", response: bodiless, more: "Content-Length: 5000\r\n", contentType: "application/json", sizes: []int{0}, again: true},
	{name: "interim answers", interim: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", contentType: "application/json", sizes: few, again: true},
	{name: "trailers", request: 3_000, response: 4_000, trailers: "X-Sum: 1\r\nX-Other: 2\r\n", contentType: "application/json", sizes: few},
}

// few are the sizes for shapes whose bodies pass as those of others do.
var few = []int{0, 1, 4_097}

const placeholder = "00000000-0000-4000-8000-000000000000" // for the key, which is the application's id

func (f framing) asks(size int) *message {
	m := compose(cmp.Or(f.method, "POST")+" /gateway/v1/x?model=m&a=b "+cmp.Or(f.version, "HTTP/1.1")+"\r\nHost: gate\r\nAuthorization: Bearer "+
		placeholder+"\r\nContent-Type: application/json\r\n", noise(size), f.request, f.trailers)
	m.method = f.method
	return m
}

func (f framing) answers(size int) *message {
	return compose(f.interim+"HTTP/1.1 200 OK\r\nContent-Type: "+f.contentType+"\r\n"+f.more, noise(size), f.response, f.trailers)
}

// large is the size of a body that is cut at every byte once for each framing and side, not in every
// way at each: that alone is most of the table.
const large = 200_000

// offsets are the bytes of a message at which it is cut: every one, or some.
func offsets(m *message, every bool) (all []int) {
	total := len(m.bytes)
	marks := []int{m.head + 1, m.head + 4_096, m.head + 8_192, m.head + keptBody, m.head + 32_768, m.head + 65_536, total - 8}
	near := func(n int) bool {
		if n <= 2 || n >= total-1 || n >= m.head-5 && n <= m.head+1 {
			return true
		}
		for _, mark := range marks {
			if n >= mark-2 && n <= mark+2 {
				return true
			}
		}
		return n > 0 && (m.carried[n] == m.carried[n-1]) != (n < total && m.carried[n+1] == m.carried[n]) // where framing and body meet
	}
	source := rand.New(rand.NewPCG(7, uint64(total)))
	for n := 0; n <= total; n++ {
		if every || near(n) || n < m.head && source.IntN(6) == 0 || source.IntN(1+total/12) == 0 {
			all = append(all, n)
		}
	}
	return all
}
