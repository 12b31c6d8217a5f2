package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// soak makes ordinary calls until ctx is done, and beside them requests of all other kinds, whose number it returns.
func soak(ctx context.Context, load *traffic, n *node) (others int) {
	var running sync.WaitGroup
	running.Go(func() { load.run(ctx, 0) })
	var mu sync.Mutex
	for range 4 {
		running.Go(func() {
			for made := 0; ; made++ {
				if !sleepUntil(ctx, time.Now().Add(time.Duration(rand.IntN(20))*time.Millisecond)) {
					mu.Lock()
					others += made
					mu.Unlock()
					return
				}
				odd(strings.TrimPrefix(n.base, "http://"), load.key, made)
			}
		})
	}
	running.Wait()
	return others
}

// odd makes one request of a kind that number chooses; whether it is answered is not looked at.
func odd(address, key string, number int) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	head := func(method, path, key string, more ...string) string {
		return method + " /gateway/v1" + path + "?model=chat HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + key + "\r\nConnection: close\r\n" + strings.Join(more, "")
	}
	large := strings.Repeat("x", 200<<10)
	kinds := []string{
		head("POST", "/sse", key, "Content-Length: 2\r\n\r\n{}"),
		head("POST", "/429", key, "Content-Length: 2\r\n\r\n{}"),
		head("POST", "/json", "cg-unknown", "Content-Length: 2\r\n\r\n{}"),
		head("POST", "/binary", key, fmt.Sprintf("Content-Length: %d\r\n\r\n", len(large)), large),
		head("POST", "/binary", key, "Transfer-Encoding: chunked\r\n\r\n", strconv.FormatInt(int64(len(large)), 16), "\r\n", large, "\r\n0\r\n\r\n"),
		head("POST", "/json", key, "Transfer-Encoding: chunked\r\n\r\nno chunk"),
		head("POST", "/json", key, "Content-Length: 100\r\n\r\nhalf"),
		"GET /gateway/v1/json?model=none HTTP/1.0\r\nAuthorization: Bearer " + key + "\r\n\r\n",
		"GET /health/live HTTP/1.1\r\nHost: a\r\n\r\nGET /gateway/v1/json?model=chat HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer " + key + "\r\n\r\n",
		"POST /gateway/v1 HT",
	}
	kind := kinds[number%len(kinds)]
	go func() { _, _ = io.WriteString(conn, kind) }()
	switch number % 3 {
	case 0: // leaves in the middle
		_, _ = io.CopyN(io.Discard, conn, int64(rand.IntN(300)))
	default:
		if strings.HasSuffix(kind, "half") || strings.HasSuffix(kind, " HT") {
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// holdings are what a gateway holds.
type holdings struct{ goroutines, files int }

func (n *node) held(t *testing.T) (h holdings) {
	t.Helper()
	address := ""
	for _, variable := range n.environment {
		if value, ok := strings.CutPrefix(variable, "METRICS_LISTEN="); ok {
			address = value
		}
	}
	resp, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, " ")
		number, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "go_goroutines":
			h.goroutines = int(number)
		case "process_open_fds":
			h.files = int(number)
		}
	}
	return h
}

func (m *memory) samples() []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.all)
}

func medianOf(all []int64) int64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
