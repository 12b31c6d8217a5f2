package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/access"
	"callgate/internal/calls"
)

type side string

const (
	caller       side = "caller"
	upstreamSide side = "upstream"
)

// trial is one exchange with one cut.
type trial struct {
	asks     *message
	side     side // that closes
	request  int  // bytes of the request sent, or read by the upstream
	response int  // bytes of the response sent before the cut
	reset    bool // a reset instead of an end
	unread   bool // the caller leaves without having read what it was sent
	silent   bool // after the cut the upstream waits until it is hung up on
	unheard  bool // the upstream cuts while it reads the request
}

func (w trial) String() string {
	return fmt.Sprintf("%s cuts at %d of the request, %d of the response (reset %v, unread %v, silent %v)",
		w.side, w.request, w.response, w.reset, w.unread, w.silent)
}

// unasked tells whether the caller cuts its request.
func (w trial) unasked() bool { return w.side == caller && w.request < len(w.asks.bytes) }

// socketLog is what caller and upstream did on their sockets.
type socketLog struct {
	request, response *message
	requestSent       int // by the caller
	answered          int // bytes of the response sent by the upstream
	answeredBefore    int // the same, when the caller left
	callerLeft        bool
	leftAt, endedAt   time.Time // of the caller, and of the upstream after it
	upstreamClosed    bool      // without having sent all
	upstreamReset     bool
	status            int    // that the caller read; 0: none
	received          []byte // body bytes that the caller read, until its next trial
	ended             bool   // the caller saw a proper end of the body
	late              bool   // the upstream ended later than it is waited for, or nearly so
}

func (l *socketLog) String() string {
	return fmt.Sprintf("request sent %d/%d, answered %d/%d (%d before the cut), left %v, died %v (reset %v), caller got %d, %d bytes, ended %v",
		l.requestSent, len(l.request.bytes), l.answered, len(l.response.bytes), l.answeredBefore, l.callerLeft, l.upstreamClosed, l.upstreamReset,
		l.status, len(l.received), l.ended)
}

// stage plays trials one after the other on one gateway.
type stage struct {
	t        *testing.T
	rig      *rig
	response *message
	gate     *net.TCPAddr
	address  string // of the upstream
	records  chan *calls.Record
	stray    bool // connections of requests that were cut may wait to be accepted
	reader   *bufio.Reader
	body     []byte // room for the body that the caller reads

	mu      sync.Mutex
	act     func(net.Conn)           // what the upstream does with a new connection
	passed  map[string]chan struct{} // closed when the connection from an address was accepted
	running sync.WaitGroup
}

func newStage(t *testing.T, response *message) *stage {
	s := &stage{t: t, response: response, records: make(chan *calls.Record, 100), passed: map[string]chan struct{}{},
		reader: bufio.NewReader(nil), body: make([]byte, len(response.body)+1)}
	listener := listen(t)
	s.address = listener.Addr().String()
	s.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.meet(conn)
		}
	})
	s.rig = newRig(t, answers(""), func(c *Config) {
		c.Capability = capabilityAt(s.address)
		c.Grant = func(_ context.Context, _ *access.Recent, key []byte) (*access.Grant, error) {
			application, err := uuid.ParseBytes(key) // each trial has its own
			if err != nil {
				return nil, access.ErrUnknownKey
			}
			return access.NewGrant(application, owner, true, 1, "m"), nil
		}
		c.Record = func(record *calls.Record) { s.records <- record }
		c.OwnerShare = 1
		c.MaxUpstreamConns = 4 // a connection that is not given back is noticed
		c.Logger = slog.New(slog.DiscardHandler)
	})
	gate, err := net.ResolveTCPAddr("tcp", s.rig.address)
	if err != nil {
		t.Fatal(err)
	}
	s.gate = gate
	t.Cleanup(func() {
		_ = listener.Close()
		s.running.Wait()
		s.rig.gateway.upstreams.each(func(p *connPool) {
			if open, idle := p.count(); open != idle {
				t.Errorf("%d connections to the upstream are open, %d idle", open, idle)
			}
		})
		if n := s.rig.gateway.shares.bytes.used.Load(); n != 0 {
			t.Errorf("%d bytes of the budget are still taken", n)
		}
		if len(s.records) > 0 {
			t.Errorf("%d records more than expected", len(s.records))
		}
	})
	return s
}

// meet lets the current trial have a connection.
func (s *stage) meet(conn net.Conn) {
	s.mu.Lock()
	act, passed := s.act, s.passed[conn.RemoteAddr().String()]
	s.mu.Unlock()
	if passed != nil {
		close(passed)
		act = func(net.Conn) {}
	}
	s.running.Go(func() {
		act(conn)
		_ = conn.Close()
	})
}

func (s *stage) perform(act func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.act = act
}

// barrier returns when every connection made before was accepted.
func (s *stage) barrier() error {
	port := listen(s.t)
	from := port.Addr().String()
	_ = port.Close()
	passed := make(chan struct{})
	s.mu.Lock()
	s.passed[from] = passed
	s.mu.Unlock()
	local, err := net.ResolveTCPAddr("tcp", from)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{LocalAddr: local}).Dial("tcp", s.address)
	if err != nil {
		return err
	}
	<-passed
	return conn.Close()
}

// forwarded is the request as an upstream gets it.
func (s *stage) forwarded(request *message) []byte {
	got := make(chan []byte, 1)
	s.perform(func(conn net.Conn) {
		var seen bytes.Buffer
		if _, err := readAsked(bufio.NewReader(io.TeeReader(conn, &seen))); err != nil {
			s.t.Error(err)
		}
		got <- seen.Bytes()
	})
	conn := s.rig.dial()
	_, _ = conn.Write(request.bytes)
	<-s.records
	return <-got
}

// play makes one exchange and compares its record with what the sockets say.
func (s *stage) play(what trial) (*socketLog, error) {
	application := uuid.New()
	log := &socketLog{request: what.asks, response: s.response}
	if what.unasked() {
		s.stray = true
		s.perform(func(conn net.Conn) { s.unended(conn, what) })
		return log, errors.Join(s.caller(what, application, log, nil), s.check(log, what, application))
	}
	if s.stray {
		if err := s.barrier(); err != nil {
			return log, err
		}
		s.stray = false
	}
	left, over := make(chan struct{}), make(chan struct{})
	s.perform(func(conn net.Conn) { defer close(over); s.upstream(conn, what, log, left) })
	err := s.caller(what, application, log, left)
	select {
	case <-over:
	case <-time.After(patience):
		return log, errors.New("the upstream's part did not end")
	}
	return log, errors.Join(err, s.check(log, what, application))
}

// patience is how long a part of a trial may take before it counts as hung.
const patience = 20 * time.Second

// check compares the records with what the logs say.
func (s *stage) check(log *socketLog, what trial, application uuid.UUID) error {
	want := log.judge()
	var got []*calls.Record
	for len(got) < want.records {
		select {
		case record := <-s.records:
			got = append(got, record)
		case <-time.After(patience):
			return fmt.Errorf("%w: no record, want %+v", errMissing, want)
		}
	}
	for len(s.records) > 0 {
		got = append(got, <-s.records)
	}
	if want == success && log.endedAt.Sub(log.leftAt) > closingGrace/2 && len(got) == 1 && !got[0].Success {
		want, log.late = clientLeft, true // on a machine this busy the upstream ended too late, or nearly so
	}
	var faults []error
	if len(got) != want.records {
		faults = append(faults, fmt.Errorf("%w: %d records, want %d: %+v", errDoubled, len(got), want.records, got[0]))
	}
	for _, record := range got {
		if (verdict{want.records, record.StatusCode, record.EndedBy, record.ReasonType}) != want || record.Success != (want == success) ||
			record.ApplicationID != application {
			faults = append(faults, fmt.Errorf("recorded %d %s %s, want %+v", record.StatusCode, record.EndedBy, record.ReasonType, want))
		}
		if want == success && record.ResponseBytes != int64(s.response.carried[log.answered]) {
			faults = append(faults, fmt.Errorf("%d response bytes recorded", record.ResponseBytes))
		}
	}
	if what.side == upstreamSide {
		faults = append(faults, log.compare(want))
	} else if !bytes.HasPrefix(log.response.body, log.received) {
		faults = append(faults, errors.New("the bytes are not the upstream's"))
	}
	return errors.Join(faults...)
}

// compare says what is wrong with what a caller that stayed was given.
func (l *socketLog) compare(want verdict) error {
	switch {
	case want == unreachable && l.status != 502:
		return errors.New("the caller got no 502")
	case want == unreachable:
		return nil
	case l.ended != (want == success):
		return errors.New("the end is not the upstream's")
	case !bytes.HasPrefix(l.response.body, l.received) || !l.upstreamReset && len(l.received) != l.response.carried[l.answered]:
		return errors.New("the bytes are not the upstream's")
	}
	return nil
}
