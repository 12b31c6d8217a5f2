package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/stats"
)

// stalled asks for a path and does not read the answer.
func (c *client) stalled(path string) net.Conn {
	c.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, c.token); err != nil {
		c.t.Fatal(err)
	}
	return conn
}

func (c *Console) downloads() (n int) {
	c.exports.mu.Lock()
	defer c.exports.mu.Unlock()
	for _, of := range c.exports.running {
		n += of
	}
	return n
}

// eventually polls until what it asks holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// manyCalls gives an application more calls than fit the buffers on their way to a client.
func (w *watcher) manyCalls(app string) {
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by)
		SELECT $1, fromUnixTimestamp64Milli($2 - number), generateUUIDv4(), 'gpt', 5, 200, true, 'complete' FROM numbers(300000)`, app, w.now.UnixMilli())
}

// TestADownloadWhoseFirstRowDoesNotComeEndsWithItsRequest holds every connection that exports have.
func TestADownloadWhoseFirstRowDoesNotComeEndsWithItsRequest(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	app := uuid.MustParse(w.application(w.developer("ada"), "app"))
	w.manyCalls(app.String()) // the driver lets go of a connection as soon as it has read a small result
	q := stats.CallsQuery{Applications: []uuid.UUID{app}, Range: beijing.LastDays(2, beijing.Today(w.now))}
	ended := errors.New("ended")
	began, let := make(chan struct{}), make(chan struct{})
	walks, failed := errgroup.WithContext(t.Context())
	for range 8 {
		walks.Go(func() error {
			return w.console.Stats.Walk(t.Context(), q, func(stats.OwnedCall) error {
				select {
				case began <- struct{}{}:
					<-let
				case <-failed.Done():
				}
				return ended
			})
		})
	}
	for i := range 8 {
		select {
		case <-began:
		case <-failed.Done():
			close(let)
			t.Fatalf("%d of 8 connections were taken: %v", i, walks.Wait())
		}
	}
	if _, err := w.console.Pricing.Book(t.Context()); err != nil { // else the time may be over before it is there
		t.Fatal(err)
	}
	request, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	released := make(chan struct{})
	before := time.Now()
	write := func(ctx context.Context, to io.Writer) error { return w.console.Report.WriteCalls(ctx, to, q) }
	_, err := startExport(request, write, func() { close(released) })
	if took := time.Since(before); fault.KindOf(err) != fault.Unavailable || took > 5*time.Second {
		close(let)
		t.Fatalf("after %s: %v", took, err)
	}
	<-released
	close(let)
	if err := walks.Wait(); !errors.Is(err, ended) {
		t.Error(err)
	}
	file, err := startExport(t.Context(), write, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Peek(100); err != nil {
		t.Error(err)
	}
	file.cancel()
}
