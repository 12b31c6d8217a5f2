package gateway

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"callgate/internal/access"
)

// asked is a request as the scripted upstream read it from its socket.
type asked struct {
	line    string
	headers []string // as sent, in order
	body    []byte
	serial  int // of the connection, from 1
}

func (a asked) header(name string) (values []string) {
	for _, line := range a.headers {
		if key, value, _ := strings.Cut(line, ":"); strings.EqualFold(key, name) {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return values
}

// script answers one request on its connection and says whether to read another.
type script func(conn net.Conn, a asked) (again bool)

// answers is a script that writes the same bytes each time and keeps the connection.
func answers(text string) script {
	return func(conn net.Conn, _ asked) bool {
		_, _ = io.WriteString(conn, text)
		return true
	}
}

func (r *rig) serveUpstream(answer script) string {
	listener := listen(r.t)
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			all.Go(func() { r.converse(conn, answer) })
		}
	})
	r.t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return listener.Addr().String()
}

func (r *rig) converse(conn net.Conn, answer script) {
	defer func() { _ = conn.Close() }()
	serial := int(r.accepted.Add(1))
	br := bufio.NewReader(conn)
	for {
		a, err := readAsked(br)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.hungUp <- serial
			}
			return
		}
		a.serial = serial
		r.asked <- a
		if !answer(conn, a) {
			return
		}
	}
}

func readAsked(br *bufio.Reader) (a asked, err error) {
	line := func() string {
		text, readErr := br.ReadString('\n')
		if readErr != nil {
			err = readErr
		}
		return strings.TrimSuffix(text, "\r\n")
	}
	a.line = line()
	for err == nil {
		text := line()
		if text == "" {
			break
		}
		a.headers = append(a.headers, text)
	}
	if err != nil {
		return a, err
	}
	if v := a.header("Content-Length"); v != nil {
		n, _ := strconv.Atoi(v[0])
		a.body = make([]byte, n)
		_, err = io.ReadFull(br, a.body)
		return a, err
	}
	for a.header("Transfer-Encoding") != nil {
		size, parseErr := strconv.ParseInt(line(), 16, 32)
		if err = errors.Join(err, parseErr); err != nil {
			return a, err
		}
		piece := make([]byte, size)
		if _, err = io.ReadFull(br, piece); err != nil {
			return a, err
		}
		a.body = append(a.body, piece...)
		if line() != "" {
			return a, errors.New("a chunk has no end")
		}
		if size == 0 {
			break
		}
	}
	return a, err
}

// hangsUp waits until the gateway closes the connection and reports it.
func (r *rig) hangsUp(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn)
	r.hungUp <- 0
}

func (r *rig) next() asked {
	r.t.Helper()
	select {
	case a := <-r.asked:
		return a
	case <-time.After(time.Minute):
		r.t.Fatal("nothing reached the upstream")
		return asked{}
	}
}

// capabilityAt makes every identifier a capability of the upstream at an address.
func capabilityAt(address string) func(string) *access.Capability {
	return func(id string) *access.Capability {
		return &access.Capability{ID: id, Enabled: true, UpstreamBaseURL: "http://" + address, UpstreamAuth: "bearer"}
	}
}
