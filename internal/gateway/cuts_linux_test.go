package gateway

import (
	"bytes"
	"errors"
	"fmt"
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

// judge derives the verdict from what caller and upstream did.
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
