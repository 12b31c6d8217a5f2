package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// caller is one kept connection to a subject and the request it sends again and again.
type caller struct {
	conn    net.Conn
	br      *bufio.Reader
	request []byte
	length  int // of the answer's body
}

func newCaller(s *subject, path string) (*caller, error) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil, err
	}
	return &caller{conn, bufio.NewReaderSize(conn, 4<<10), s.request(path), lengths[path]}, nil
}

// request is what callers of s send.
func (s *subject) request(path string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s%s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json\r\nUser-Agent: bench/1.0\r\nContent-Length: %d\r\n\r\n%s",
		cmp.Or(s.method, "POST"), s.prefix, path, s.query, s.address, s.key, len(payload), payload)
	return b.Bytes()
}

// call sends the request and reads the whole answer.
func (c *caller) call() error {
	chunked, length, err := c.begin()
	if err != nil {
		return err
	}
	for chunked {
		line, err := c.br.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 32)
		if err != nil {
			return err
		}
		length += int(size)
		if _, err := c.br.Discard(int(size) + 2); err != nil {
			return err
		}
		if chunked = size > 0; !chunked && length != c.length {
			return fmt.Errorf("a body of %d bytes instead of %d", length, c.length)
		}
		if !chunked {
			return nil
		}
	}
	_, err = c.br.Discard(length)
	return err
}

// begin sends the request and reads the answer's head.
func (c *caller) begin() (chunked bool, length int, err error) {
	if _, err := c.conn.Write(c.request); err != nil {
		return false, 0, err
	}
	for first := true; ; first = false {
		line, err := c.br.ReadSlice('\n')
		switch {
		case err != nil:
			return false, 0, err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")):
			return false, 0, fmt.Errorf("answered %q", line)
		case len(line) <= 2:
			return chunked, length, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return false, 0, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
}

// crowd is callers that work side by side.
type crowd []*caller

func newCrowd(s *subject, path string, n int) (c crowd, err error) {
	for range n {
		one, err := newCaller(s, path)
		if err != nil {
			c.close()
			return nil, err
		}
		c = append(c, one)
	}
	return c, nil
}

func (c crowd) close() {
	for _, one := range c {
		_ = one.conn.Close()
	}
}

// each lets every caller work at once and joins what went wrong.
func (c crowd) each(work func(i int, one *caller) error) error {
	faults := make([]error, len(c))
	var all sync.WaitGroup
	for i, one := range c {
		all.Go(func() { faults[i] = work(i, one) })
	}
	all.Wait()
	return errors.Join(faults...)
}

// saturate calls without pause for as long as window and returns how many calls were made.
func (c crowd) saturate(window time.Duration) (calls int64, err error) {
	var made atomic.Int64
	end := time.Now().Add(window)
	err = c.each(func(_ int, one *caller) error {
		for time.Now().Before(end) {
			if err := one.call(); err != nil {
				return err
			}
			made.Add(1)
		}
		return nil
	})
	return made.Load(), err
}

// pace makes rate calls per second, each at its time and not before the caller's last is answered,
// and returns the median latency and how many were made.
func (c crowd) pace(rate int, window time.Duration) (middle time.Duration, made int, err error) {
	step := time.Duration(len(c)) * time.Second / time.Duration(rate)
	took := make([][]time.Duration, len(c))
	began := time.Now()
	err = c.each(func(i int, one *caller) error {
		for at := time.Duration(i) * step / time.Duration(len(c)); at < window; at += step {
			time.Sleep(time.Until(began.Add(at)))
			sent := time.Now()
			if err := one.call(); err != nil {
				return err
			}
			took[i] = append(took[i], time.Since(sent))
		}
		return nil
	})
	all := slices.Concat(took...)
	if err != nil || len(all) == 0 {
		return 0, 0, errors.Join(err, errors.New("no call was made"))
	}
	return median(all), len(all), nil
}

// hold opens streams and returns when the first event of each has arrived.
func hold(ctx context.Context, s *subject, n int) (c crowd, err error) {
	if c, err = newCrowd(s, holdPath, n); err != nil {
		return nil, err
	}
	first := make([]byte, len(event))
	for _, one := range c {
		_ = one.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, _, err = one.begin(); err == nil {
			if _, err = one.br.ReadSlice('\n'); err == nil {
				_, err = io.ReadFull(one.br, first)
			}
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

func median[T time.Duration | float64](values []T) T {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}
