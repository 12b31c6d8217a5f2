package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

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
	side     side // that closes
	request  int  // bytes of the request sent, or read by the upstream
	response int  // bytes of the response sent before the cut
	reset    bool // a reset instead of an end
	unread   bool // the caller leaves without having read what it was sent
	silent   bool // after the cut the upstream waits until it is hung up on
}

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
	received          string // body bytes that the caller read
	ended             bool   // the caller saw a proper end of the body
}

func (l *socketLog) String() string {
	return fmt.Sprintf("request sent %d/%d, answered %d/%d (%d before the cut), left %v, died %v (reset %v), caller got %d, %d bytes, ended %v",
		l.requestSent, len(l.request.bytes), l.answered, len(l.response.bytes), l.answeredBefore, l.callerLeft, l.upstreamClosed, l.upstreamReset,
		l.status, len(l.received), l.ended)
}

// stage plays trials one after the other on one gateway.
type stage struct {
	t                 *testing.T
	rig               *rig
	request, response *message
	address           string // of the upstream
	records           chan *calls.Record

	mu      sync.Mutex
	act     func(net.Conn)           // what the upstream does with a new connection
	passed  map[string]chan struct{} // closed when the connection from an address was accepted
	running sync.WaitGroup
}

func newStage(t *testing.T, request, response *message) *stage {
	s := &stage{t: t, request: request, response: response, records: make(chan *calls.Record, 100), passed: map[string]chan struct{}{}}
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
		c.Grant = func(_ context.Context, key string) (*access.Grant, error) {
			application, err := uuid.Parse(key) // each trial has its own
			if err != nil {
				return nil, access.ErrUnknownKey
			}
			return access.NewGrant(application, owner, true, 1, "m"), nil
		}
		c.Record = func(record *calls.Record) { s.records <- record }
		c.MaxUpstreamConns = 4 // a connection that is not given back is noticed
		c.Logger = slog.New(slog.DiscardHandler)
	})
	t.Cleanup(func() {
		_ = listener.Close()
		s.running.Wait()
		s.rig.gateway.upstreams.each(func(p *connPool) {
			if open, idle := p.count(); open != idle {
				t.Errorf("%d connections to the upstream are open, %d idle", open, idle)
			}
		})
		if n := s.rig.gateway.reserved.Load(); n != 0 {
			t.Errorf("%d bytes of the budget are still taken", n)
		}
		if n := len(s.rig.gateway.awaited.heads); n != 0 {
			t.Errorf("%d heads are still awaited", n)
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
func (s *stage) forwarded() string {
	got := make(chan string, 1)
	s.perform(func(conn net.Conn) {
		var seen strings.Builder
		if _, err := readAsked(bufio.NewReader(io.TeeReader(conn, &seen))); err != nil {
			s.t.Error(err)
		}
		got <- seen.String()
	})
	conn := s.rig.dial()
	_, _ = io.WriteString(conn, s.request.bytes)
	<-s.records
	return <-got
}

// play makes one exchange and compares its record with what the sockets say.
func (s *stage) play(what trial) (*socketLog, error) {
	application := uuid.New()
	request := *s.request
	request.bytes = strings.Replace(request.bytes, placeholder, application.String(), 1)
	log := &socketLog{request: &request, response: s.response}
	left, over := make(chan struct{}), make(chan struct{})
	whole := what.side == upstreamSide || what.request == len(request.bytes)
	if whole {
		s.perform(func(conn net.Conn) { defer close(over); s.upstream(conn, what, log, left) })
	} else {
		s.perform(func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	}
	err := s.caller(what, log, left)
	if whole {
		select {
		case <-over:
		case <-time.After(10 * time.Second):
			return log, errors.New("the upstream's part did not end")
		}
	}
	err = errors.Join(err, s.check(log, what, application))
	if !whole && what.request > request.head { // the gateway may have gone as far as the upstream
		err = errors.Join(err, s.barrier())
	}
	return log, err
}

// caller does the caller's part.
func (s *stage) caller(what trial, log *socketLog, left chan struct{}) error {
	conn := s.rig.dial().(*net.TCPConn)
	defer func() { _ = conn.Close() }()
	if what.side == caller && what.request < len(log.request.bytes) {
		n, err := io.WriteString(conn, log.request.bytes[:what.request])
		log.requestSent = n
		leave(conn, what.reset)
		return err
	}
	log.requestSent = len(log.request.bytes)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, log.request.bytes) // fails when the upstream closes in the middle
	}()
	defer func() { _ = conn.Close(); <-sent }()
	if what.side == caller {
		<-sent
		if what.response >= s.response.head && !what.unread {
			log.read(conn, s.response.carried[what.response], what.response == s.response.ends)
		} else {
			<-left // the upstream has sent its part
		}
		log.leftAt = time.Now()
		leave(conn, what.reset)
		log.callerLeft = true
		left <- struct{}{}
		return nil
	}
	log.read(conn, len(s.response.body), true)
	return nil
}

func leave(conn *net.TCPConn, reset bool) {
	if reset {
		_ = conn.SetLinger(0)
	}
	_ = conn.Close()
}

// read reads the head and n bytes of the body, or all of it and its end.
func (l *socketLog) read(conn net.Conn, n int, end bool) {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return
	}
	l.status = response.StatusCode
	var body []byte
	if end {
		body, err = io.ReadAll(response.Body)
		l.ended = err == nil
	} else {
		body = make([]byte, n)
		n, _ = io.ReadFull(response.Body, body)
		body = body[:n]
	}
	l.received = string(body)
}

// upstream does the upstream's part.
func (s *stage) upstream(conn net.Conn, what trial, log *socketLog, left chan struct{}) {
	if what.side == upstreamSide && what.request < len(s.request.bytes) && what.response == 0 {
		log.upstreamClosed = true
		_, _ = io.ReadFull(conn, make([]byte, what.request))
		if what.reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		return
	}
	if a, err := readAsked(bufio.NewReader(conn)); err != nil || string(a.body) != s.request.body {
		s.t.Errorf("the upstream did not get the request: %v", err)
		return
	}
	n, _ := io.WriteString(conn, s.response.bytes[:what.response])
	log.answered, log.answeredBefore = n, n
	if what.side == upstreamSide {
		log.upstreamClosed, log.upstreamReset = n < len(s.response.bytes) || s.response.ends < 0, what.reset
		if what.reset {
			drained(conn) // a reset discards what was not sent yet
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		return
	}
	if what.response < s.response.head || what.unread {
		left <- struct{}{}
	}
	<-left
	if what.silent {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	n, _ = io.WriteString(conn, s.response.bytes[what.response:])
	log.answered += n
	log.endedAt = time.Now()
	log.upstreamClosed = s.response.ends < 0
}

// drained waits until the peer has acknowledged everything.
func drained(conn net.Conn) {
	for waiting := 1; waiting > 0; time.Sleep(100 * time.Microsecond) {
		onSocket(conn, func(fd int) { waiting, _ = unix.IoctlGetInt(fd, unix.SIOCOUTQ) })
	}
}

// check compares the records with what the logs say.
func (s *stage) check(log *socketLog, what trial, application uuid.UUID) error {
	want := log.judge()
	var got []*calls.Record
	for len(got) < want.records {
		select {
		case record := <-s.records:
			got = append(got, record)
		case <-time.After(5 * time.Second):
			return fmt.Errorf("missing: no record, want %+v", want)
		}
	}
	for len(s.records) > 0 {
		got = append(got, <-s.records)
	}
	if want == success && log.endedAt.Sub(log.leftAt) > lastWords/2 && len(got) == 1 && !got[0].Success {
		want = clientLeft // on a machine this busy the upstream ended too late, or nearly so
	}
	var faults []error
	if len(got) != want.records {
		faults = append(faults, fmt.Errorf("%d records, want %d: %+v", len(got), want.records, got[0]))
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
	case !strings.HasPrefix(l.response.body, l.received) || !l.upstreamReset && len(l.received) != l.response.carried[l.answered]:
		return errors.New("the bytes are not the upstream's")
	}
	return nil
}
