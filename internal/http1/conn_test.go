package http1

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// socketPair returns two ends of a connection.
func socketPair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if far, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}

func TestConnHoldsABufferOnlyWhileSomethingIsInIt(t *testing.T) {
	near, far := socketPair(t)
	c := NewConn(near)
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := c.Fill(false); !errors.Is(err, os.ErrDeadlineExceeded) || c.Buffer() != nil {
		t.Errorf("after silence: %v, buffer %v", err, c.Buffer())
	}
	_ = c.SetReadDeadline(time.Time{})
	_, _ = io.WriteString(far, "hello")
	if n, err := c.Fill(false); n != 5 || err != nil || string(c.Unread()) != "hello" {
		t.Errorf("%d, %v, %q", n, err, c.Unread())
	}
	c.Discard(5)
	_ = far.Close()
	if _, err := c.Fill(false); !errors.Is(err, io.EOF) || c.Buffer() != nil {
		t.Errorf("at the end: %v, buffer %v", err, c.Buffer())
	}
}

// TestUnreadBytesStayWhateverIsReadBehindThem fills from sockets and from what is none (TLS, pipes).
func TestUnreadBytesStayWhateverIsReadBehindThem(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	near, far := socketPair(t)
	pipeNear, pipeFar := net.Pipe()
	defer func() { _ = pipeNear.Close() }()
	for name, ends := range map[string][2]net.Conn{"socket": {near, far}, "pipe": {pipeNear, pipeFar}} {
		c := NewConn(ends[0])
		go func() {
			_, _ = io.WriteString(ends[1], text)
			_ = ends[1].Close()
		}()
		var err error
		for err == nil {
			_, err = c.Fill(false)
		}
		if !errors.Is(err, io.EOF) || !bytes.Equal(c.Unread(), []byte(text)) {
			t.Errorf("%s: %d bytes, %v", name, len(c.Unread()), err)
		}
	}
}

func TestWriteAndFillWritesAllHoweverLittleTheSocketTakes(t *testing.T) {
	for _, size := range []int{1, 100, 8 << 20} {
		near, far := socketPair(t)
		_ = near.(*net.TCPConn).SetWriteBuffer(4 << 10)
		c := NewConn(near)
		go func() {
			got, _ := io.ReadAll(io.LimitReader(far, int64(size)))
			_, _ = io.WriteString(far, strings.Repeat("y", len(got)/size))
		}()
		direct, writeErr, err := c.WriteAndFill(bytes.Repeat([]byte("x"), size))
		if writeErr != nil || err != nil || string(c.Unread()) != "y" || direct < 1 || direct > size {
			t.Errorf("%d bytes: %d direct, %v, %v, read %q", size, direct, writeErr, err, c.Unread())
		}
		_ = c.Close()
	}
}

func TestWriteAndFillReadsWhatAPeerSaidBeforeItClosed(t *testing.T) {
	near, far := socketPair(t)
	c := NewConn(near)
	_, _ = io.WriteString(far, "no")
	_ = far.(*net.TCPConn).CloseRead()
	_ = far.Close()
	time.Sleep(10 * time.Millisecond)
	_, _, err := c.WriteAndFill([]byte("x"))
	if err != nil || string(c.Unread()) != "no" {
		t.Errorf("%v, read %q", err, c.Unread())
	}
	_ = c.SetReadDeadline(past)
	if direct, _, err := c.WriteAndFill([]byte("x")); direct != 0 || !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, io.EOF) {
		t.Errorf("after its deadline: wrote %d, %v", direct, err)
	}
}
