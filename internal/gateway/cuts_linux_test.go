package gateway

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"callgate/internal/calls"
)

// everyOffset makes the truth table cut at every byte (make chaos); otherwise at every byte of the
// heads and of the framing, around what buffers hold, and at some others.
var everyOffset = os.Getenv("CUT_OFFSETS") == "all"

// message is a request or a response as it stands on the wire of the side that sends it.
type message struct {
	bytes   string
	head    int    // bytes of the head
	body    string // without framing
	carried []int  // body bytes in the first n bytes
	ends    int    // from this many bytes on the receiver knows that it is whole; -1: it never does
}

// compose frames body in chunks of at most chunk bytes, or by its length (0), or by the end of the
// connection (-1).
func compose(head, body string, chunk int) *message {
	m := &message{body: body}
	add := func(text string, isBody bool) {
		m.bytes += text
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
	case 0:
		head += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	case -1:
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
		add("0\r\n\r\n", false)
	} else {
		add(body, true)
	}
	m.ends = len(m.bytes)
	if chunk < 0 {
		m.ends = -1
	}
	return m
}

// framings are the shapes of an exchange.
var framings = map[string]func(body string) (request, response *message){
	"JSON": func(body string) (*message, *message) {
		return compose(requestHead1, body, 0), compose("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", body, 0)
	},
	"chunks": func(body string) (*message, *message) {
		return compose(requestHead1, body, 4_000), compose("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", body, 3_000)
	},
	"events": func(body string) (*message, *message) {
		return compose(requestHead1, body, 0), compose("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", body, 100_000)
	},
	"until the end": func(body string) (*message, *message) {
		return compose(requestHead1, body, 100_000), compose("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n", body, -1)
	},
}

const placeholder = "00000000-0000-4000-8000-000000000000" // for the key, which is the application's id

const requestHead1 = "POST /gateway/v1/x?model=m&a=b HTTP/1.1\r\nHost: gate\r\nAuthorization: Bearer " + placeholder + "\r\nContent-Type: application/json\r\n"

// offsets are the bytes of a message at which it is cut.
func offsets(m *message) (all []int) {
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
	some := 1 + total/12
	if everyOffset {
		some = 1 + total/8_000
	}
	for n := 0; n <= total; n++ {
		if near(n) || n < m.head && (everyOffset || source.IntN(6) == 0) || source.IntN(some) == 0 {
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

func TestEveryCutIsRecordedAsWhatItWas(t *testing.T) {
	for name, frame := range framings {
		for _, size := range []int{0, 1, 4_095, 4_096, 4_097, 200_000} {
			t.Run(fmt.Sprintf("%s, %d bytes", name, size), func(t *testing.T) {
				t.Parallel()
				request, response := frame(noise(size))
				s := newStage(t, request, response)
				for place, trials := range map[string][]trial{
					"request": s.requestTrials(), "response": s.responseTrials(), "silent": s.silentTrials(),
				} {
					wrong := 0
					for _, what := range trials {
						if log, err := s.play(what); err != nil {
							wrong++
							if wrong <= 5 {
								t.Errorf("%s: %+v: %v\nlog %+v", place, what, err, log.String())
							}
						}
					}
					t.Logf("%s: %d trials, %d wrong", place, len(trials), wrong)
				}
			})
		}
	}
}

// requestTrials cut the request: the caller stops sending, or the upstream reading.
func (s *stage) requestTrials() (all []trial) {
	for i, n := range offsets(s.request) {
		if n < len(s.request.bytes) {
			all = append(all, trial{side: caller, request: n, reset: i%2 == 1})
		}
		if everyOffset && n < len(s.request.bytes) {
			all = append(all, trial{side: caller, request: n, reset: i%2 == 0})
		}
	}
	forwarded := s.forwarded()
	shorter := *s.request // the upstream's head is not the caller's; bodies and their framing are alike
	shorter.bytes = forwarded
	shorter.head = strings.Index(forwarded, "\r\n\r\n") + 4
	shorter.carried = make([]int, len(forwarded)+2)
	for i, n := range offsets(&shorter) {
		if n < len(forwarded) {
			all = append(all, trial{side: upstreamSide, request: n, reset: i%2 == 1})
		}
	}
	return all
}

// responseTrials cut the response: the upstream stops sending, or the caller leaves and the upstream
// sends the remainder.
func (s *stage) responseTrials() (all []trial) {
	whole := len(s.request.bytes)
	for i, n := range offsets(s.response) {
		for _, side := range []side{caller, upstreamSide} {
			reset := i%2 == 1
			all = append(all, trial{side: side, request: whole, response: n, reset: reset})
			if everyOffset {
				all = append(all, trial{side: side, request: whole, response: n, reset: !reset})
			}
		}
		if s.response.carried[n] < len(s.response.body) { // else it could leave before or after the last byte reached it
			all = append(all, trial{side: caller, request: whole, response: n, unread: true})
		}
	}
	return all
}

// silentTrials let the caller leave while the upstream says nothing more.
func (s *stage) silentTrials() (all []trial) {
	some := len(s.response.bytes)/2 + 1
	if everyOffset {
		some = len(s.response.bytes)/20 + 1
	}
	for n := 0; n < len(s.response.bytes); n += some {
		all = append(all, trial{side: caller, request: len(s.request.bytes), response: n, silent: true, reset: n%2 == 1})
	}
	return all
}
