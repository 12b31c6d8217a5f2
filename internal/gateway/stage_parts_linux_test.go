package gateway

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// caller does the caller's part.
func (s *stage) caller(what trial, application uuid.UUID, log *socketLog, left chan struct{}) error {
	conn, err := net.DialTCP("tcp", nil, s.gate)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	head := bytes.Replace(what.asks.bytes[:what.asks.head], []byte(placeholder), []byte(application.String()), 1)
	request := net.Buffers{head, what.asks.bytes[what.asks.head:]}
	if what.unasked() {
		request = net.Buffers{head[:min(what.request, len(head))], what.asks.bytes[len(head):max(what.request, len(head))]}
		n, err := request.WriteTo(conn)
		log.requestSent = int(n)
		leave(conn, what.reset)
		return err
	}
	log.requestSent = len(what.asks.bytes)
	if what.unheard {
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = request.WriteTo(conn) // fails when the upstream closes in the middle
		}()
		defer func() { _ = conn.Close(); <-sent }()
	} else if _, err := request.WriteTo(conn); err != nil {
		return err
	}
	if what.side == caller {
		if what.response >= s.response.head && !what.unread {
			s.read(log, conn, s.response.carried[what.response], what.response == s.response.ends)
		} else {
			<-left // the upstream has sent its part
		}
		log.leftAt = time.Now()
		leave(conn, what.reset)
		log.callerLeft = true
		left <- struct{}{}
		return nil
	}
	s.read(log, conn, len(s.body), true)
	return nil
}

func leave(conn *net.TCPConn, reset bool) {
	if reset {
		_ = conn.SetLinger(0)
	}
	_ = conn.Close()
}

// read reads the head and n bytes of the body, or all of it and its end.
func (s *stage) read(l *socketLog, conn net.Conn, n int, end bool) {
	s.reader.Reset(conn)
	response, err := http.ReadResponse(s.reader, &http.Request{Method: cmp.Or(l.request.method, "POST")})
	if err != nil {
		return
	}
	l.status = response.StatusCode
	read := 0
	for err == nil && (end || read < n) && read < len(s.body) {
		var more int
		more, err = response.Body.Read(s.body[read:min(max(n, read+1), len(s.body))])
		read += more
	}
	l.ended = errors.Is(err, io.EOF)
	l.received = s.body[:read]
}

// buffers are for what an upstream reads and throws away.
var buffers = sync.Pool{New: func() any {
	buffer := make([]byte, 64<<10)
	return &buffer
}}

var lastChunk = []byte("\r\n0\r\n\r\n")

// readUpTo reads n bytes of a request, or all there are. It returns how many, and the last of them.
func readUpTo(conn net.Conn, n int, whole func(read int, tail []byte) bool) (read int, tail []byte) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	for read < n && !whole(read, tail) {
		more, err := conn.Read((*buffer)[:min(n-read, len(*buffer))])
		read += more
		tail = append(tail, (*buffer)[max(0, more-len(lastChunk)):more]...)
		tail = tail[max(0, len(tail)-len(lastChunk)):]
		if err != nil {
			break
		}
	}
	return read, tail
}

// whole tells whether what was read of a forwarded request is all of it.
func (m *message) whole(read int, tail []byte) bool {
	if m.chunked {
		return bytes.Equal(tail, lastChunk)
	}
	return read == m.arrives
}

// unended is the upstream's part when the caller cuts its request: it must not get an end of it.
func (s *stage) unended(conn net.Conn, what trial) {
	if n, tail := readUpTo(conn, math.MaxInt, what.asks.whole); what.asks.whole(n, tail) {
		s.t.Errorf("%v: the upstream was given a whole request", what)
	}
}

// upstream does the upstream's part.
func (s *stage) upstream(conn net.Conn, what trial, log *socketLog, left chan struct{}) {
	if what.unheard {
		log.upstreamClosed = true
		readUpTo(conn, what.request, what.asks.whole) // how it is cut into chunks differs from time to time, and with it the length
		if what.reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		return
	}
	if a, err := readAsked(bufio.NewReader(conn)); err != nil || !bytes.Equal(a.body, what.asks.body) {
		s.t.Errorf("the upstream did not get the request: %v", err)
		return
	}
	n, _ := conn.Write(s.response.bytes[:what.response])
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
	n, _ = conn.Write(s.response.bytes[what.response:])
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
