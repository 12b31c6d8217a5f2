package main

import (
	"errors"
	"io"
	"net"
	"strconv"
	"sync"

	"callgate/internal/http1"
)

// serveLoop is the floor that a gateway of Go is held against: a goroutine for each caller's connection, one
// pass over each head, one read and one write a side, kept upstream connections, and nothing else.
func serveLoop(listener net.Listener, upstream string) error {
	p := &loopPool{address: upstream}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			l := loop{pool: p, caller: http1.NewConn(http1.NewSocket(conn))}
			for l.forward() == nil {
			}
			_ = l.caller.Close()
		}()
	}
}

// loop is a caller's connection with what its calls use again and again.
type loop struct {
	pool     *loopPool
	caller   *http1.Conn
	request  http1.Request
	response http1.Response
	body     http1.Body
	out      []byte
}

// forward takes one request to the upstream and its answer back.
func (l *loop) forward() error {
	l.request.Reset()
	if err := readHead(l.caller, &l.request); err != nil {
		return err
	}
	upstream, err := l.pool.get()
	if err != nil {
		return err
	}
	again, err := l.exchange(upstream)
	if err != nil || !again {
		return errors.Join(io.EOF, err, upstream.Close())
	}
	l.pool.put(upstream)
	if !l.request.KeepAlive {
		return io.EOF
	}
	return nil
}

// exchange sends the request and relays the answer; again tells that the upstream's connection can be kept.
func (l *loop) exchange(upstream *http1.Conn) (again bool, err error) {
	out := append(append(append(l.out[:0], l.request.Method()...), ' '), l.request.Target()...)
	out = append(out, " HTTP/1.1\r\n"...)
	out = appendFields(out, &l.request.Head)
	framing := l.request.Body()
	method := string(l.request.Method())
	out = appendFraming(out, framing)
	l.body.Begin(framing)
	if out, err = l.relay(out, l.caller, upstream); err != nil {
		return false, err
	}
	l.response.Reset()
	if err := readHead(upstream, &l.response); err != nil {
		return false, err
	}
	out = append(strconv.AppendInt(append(out[:0], "HTTP/1.1 "...), int64(l.response.Status), 10), ' ')
	out = append(append(out, l.response.Reason()...), "\r\n"...)
	out = appendFields(out, &l.response.Head)
	framing = l.response.Body([]byte(method))
	out = appendFraming(out, framing)
	l.body.Begin(framing)
	if out, err = l.relay(out, upstream, l.caller); err != nil {
		return false, err
	}
	l.out = out
	return l.response.KeepAlive && framing.Kind != http1.UntilClose && len(upstream.Unread()) == 0, nil
}

// relay sends what stands in out and the body behind it: what one read brought with one write.
func (l *loop) relay(out []byte, from, to *http1.Conn) ([]byte, error) {
	chunked := l.body.Framing().Kind > http1.Sized
	for first := true; ; first = false {
		if len(from.Unread()) > 0 {
			piece, err := l.body.Next(from.Buffer())
			if err != nil {
				return out, err
			}
			bytes := piece.Bytes()
			if chunked {
				bytes = piece.Chunk(l.body.Ended())
			}
			if first {
				out = append(out, bytes...)
				bytes = out
			}
			if _, err := to.Write(bytes); err != nil {
				return out, err
			}
		} else if first {
			if _, err := to.Write(out); err != nil {
				return out, err
			}
		}
		if l.body.Ended() {
			from.Settle()
			return out, nil
		}
		if _, err := from.Fill(false); errors.Is(err, io.EOF) && l.body.Closed() == nil {
			_, err = to.Write(http1.Piece{}.Chunk(true))
			return out, err
		} else if err != nil {
			return out, err
		}
	}
}

type head interface {
	Parse(unread []byte, limit int) (int, error)
}

func readHead(c *http1.Conn, h head) error {
	for {
		if unread := c.Unread(); len(unread) > 0 {
			n, err := h.Parse(unread, headBuffer)
			if err != nil {
				return err
			}
			if n > 0 {
				c.Discard(n)
				return nil
			}
		}
		if _, err := c.Fill(false); err != nil {
			return err
		}
	}
}

func appendFields(out []byte, h *http1.Head) []byte {
	for _, f := range h.Fields() {
		if !f.Hop {
			out = append(out, h.Line(f)...)
		}
	}
	return out
}

func appendFraming(out []byte, f http1.Framing) []byte {
	if f.Kind > http1.Sized {
		return append(out, "Transfer-Encoding: chunked\r\n\r\n"...)
	}
	return append(strconv.AppendInt(append(out, "Content-Length: "...), f.Length, 10), "\r\n\r\n"...)
}

// loopPool keeps the idle connections to the upstream.
type loopPool struct {
	address string
	mu      sync.Mutex
	idle    []*http1.Conn
}

func (p *loopPool) get() (*http1.Conn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		conn := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return conn, nil
	}
	p.mu.Unlock()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		return nil, err
	}
	return http1.NewConn(http1.NewSocket(conn)), nil
}

func (p *loopPool) put(c *http1.Conn) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}
