package gateway

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/calls"
)

// everyOffset makes the truth table cut at every byte (make chaos); otherwise at every byte of the
// heads and of the framing, around what buffers hold, and at some others.
var everyOffset = os.Getenv("CUT_OFFSETS") == "all"

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

// verdict is what the sockets' logs say of a trial.
type verdict struct {
	records int
	status  int
	endedBy calls.EndedBy
	reason  calls.ReasonType
}

var (
	success      = verdict{1, 200, calls.Complete, ""}
	clientLeft   = verdict{1, 499, calls.ClientAbort, calls.Interrupted}
	upstreamDied = verdict{1, 499, calls.UpstreamAbort, calls.Interrupted}
	unreachable  = verdict{1, 502, calls.UpstreamAbort, calls.ConnectionFailed}
)

// judge derives the verdict from what caller and upstream did (design section 4, "complete").
func (l *socketLog) judge() verdict {
	switch {
	case l.requestSent < l.request.head:
		return verdict{} // nobody's: the key was not sent whole
	case l.requestSent < len(l.request.bytes):
		return clientLeft
	case l.upstreamClosed && !l.callerLeft && l.answered < l.response.head:
		return unreachable
	case l.callerLeft && l.answeredBefore < l.response.head:
		return clientLeft
	case l.callerLeft && l.response.carried[l.answeredBefore] < len(l.response.body):
		return clientLeft
	case l.answered == l.response.ends:
		return success
	case l.upstreamClosed && l.response.ends < 0 && !l.upstreamReset:
		return success // the end of the connection is the end of the body
	case l.callerLeft:
		return clientLeft // the upstream did not end in time
	}
	return upstreamDied
}

// TestEveryCutIsRecordedAsWhatItWas plays the truth table: each framing and size is a family, whose
// trials are shared out among several stages, because most of a trial is waiting for sockets.
func TestEveryCutIsRecordedAsWhatItWas(t *testing.T) {
	for _, shape := range framings {
		sizes := shape.sizes
		if sizes == nil {
			sizes = []int{0, 1, 4_095, 4_096, 4_097, large}
		}
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s, %d bytes", shape.name, size), func(t *testing.T) {
				t.Parallel()
				request, response := shape.asks(size), shape.answers(size)
				stages := make([]*stage, 8)
				for i := range stages {
					stages[i] = newStage(t, response)
				}
				whole := everyOffset && size == large
				forwarded := stages[0].forwarded(request)
				request.arrives = len(forwarded)
				playAll(t, stages, "request", requestTrials(request, forwarded, whole && !shape.again))
				playAll(t, stages, "response", responseTrials(request, response))
				playAll(t, stages, "silent upstream", silentTrials(request, response))
				if whole {
					playAll(t, stages, "response to a small request", onceEach(shape.asks(1), response))
				}
			})
		}
	}
}

// tally counts the trials of a family by how they went.
type tally struct{ done, missing, doubled, wrong, late atomic.Int64 }

func (n *tally) String() string {
	return fmt.Sprintf("%d done: %d missing, %d doubled, %d otherwise wrong; %d judged as too late", n.done.Load(), n.missing.Load(), n.doubled.Load(), n.wrong.Load(), n.late.Load())
}

var errMissing, errDoubled = errors.New("missing"), errors.New("doubled")

// playAll plays trials on several stages at once and counts them.
func playAll(t *testing.T, stages []*stage, what string, trials []trial) {
	t.Helper()
	var count tally
	var all sync.WaitGroup
	next := make(chan trial)
	began := time.Now()
	for _, s := range stages {
		all.Go(func() {
			for one := range next {
				log, err := s.play(one)
				count.done.Add(1)
				if log.late {
					count.late.Add(1)
				}
				if err == nil {
					continue
				}
				if t.Fail(); count.missing.Load()+count.doubled.Load()+count.wrong.Load() < 10 {
					t.Logf("%s: %v: %v\nlog %v", what, one, err, log)
				}
				switch {
				case errors.Is(err, errMissing):
					count.missing.Add(1)
				case errors.Is(err, errDoubled):
					count.doubled.Add(1)
				default:
					count.wrong.Add(1)
				}
			}
		})
	}
	progress := time.NewTicker(15 * time.Second)
	defer progress.Stop()
	for _, one := range trials {
		select {
		case next <- one:
			continue
		case <-progress.C:
			t.Logf("%s: %d trials of %d after %v; %v", what, count.done.Load(), len(trials), time.Since(began).Round(time.Second), &count)
		}
		next <- one
	}
	close(next)
	all.Wait()
	t.Logf("%s: %d trials in %v; %v", what, len(trials), time.Since(began).Round(time.Millisecond), &count)
}

// requestTrials cut the request: the caller stops sending, or the upstream reading. In every way they
// do so at each byte, or in one.
func requestTrials(request *message, forwarded []byte, once bool) (all []trial) {
	every := once || everyOffset && len(request.body) < large
	for i, n := range offsets(request, every) {
		if n == len(request.bytes) {
			continue
		}
		all = append(all, trial{asks: request, side: caller, request: n, reset: i%2 == 1})
		if every && !once {
			all = append(all, trial{asks: request, side: caller, request: n, reset: i%2 == 0})
		}
	}
	seen := *request // the upstream's head is not the caller's; bodies and their framing are alike
	seen.bytes = forwarded
	seen.head = bytes.Index(forwarded, []byte("\r\n\r\n")) + 4
	seen.carried = make([]int, len(forwarded)+2)
	for i, n := range offsets(&seen, every) {
		if n < len(forwarded) {
			all = append(all, trial{asks: request, side: upstreamSide, request: n, unheard: true, reset: i%2 == 1})
		}
	}
	return all
}

// responseTrials cut the response: the upstream stops sending, or the caller leaves and the upstream
// sends the remainder.
func responseTrials(request, response *message) (all []trial) {
	every := everyOffset && len(response.body) < large
	for i, n := range offsets(response, every) {
		for _, side := range []side{caller, upstreamSide} {
			reset := i%2 == 1
			all = append(all, trial{asks: request, side: side, request: len(request.bytes), response: n, reset: reset})
			if every {
				all = append(all, trial{asks: request, side: side, request: len(request.bytes), response: n, reset: !reset})
			}
		}
		if response.carried[n] < len(response.body) { // else it could leave before or after the last byte reached it
			all = append(all, trial{asks: request, side: caller, request: len(request.bytes), response: n, unread: true})
		}
	}
	return all
}

// onceEach cuts the response at every byte, once from each side.
func onceEach(request, response *message) (all []trial) {
	for _, n := range offsets(response, true) {
		for _, side := range []side{caller, upstreamSide} {
			all = append(all, trial{asks: request, side: side, request: len(request.bytes), response: n, reset: n%2 == 1})
		}
	}
	return all
}

// silentTrials let the caller leave while the upstream says nothing more.
func silentTrials(request, response *message) (all []trial) {
	some := len(response.bytes)/2 + 1
	if everyOffset {
		some = len(response.bytes)/20 + 1
	}
	for n := 0; n < len(response.bytes); n += some {
		all = append(all, trial{asks: request, side: caller, request: len(request.bytes), response: n, silent: true, reset: n%2 == 1})
	}
	return all
}
