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
	"callgate/internal/openapi"
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
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func TestStalledDownloadsTakeNobodysStatisticsAwayAndEnd(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.console.exports.stall = time.Hour // until the end of the test says otherwise
	ada, eve := w.developer("ada"), w.developer("eve")
	app := w.application(ada, "large")
	theirs := w.application(eve, "theirs")
	w.called(theirs, "gpt", time.Minute, 10, 200)
	w.manyCalls(app)
	path := "/api/statistics/applications/" + app + "/calls.csv"

	var opened []net.Conn
	for range exportsPerUser {
		opened = append(opened, ada.stalled(path))
	}
	eventually(t, "the downloads run", func() bool { return w.console.downloads() == exportsPerUser })
	for range 30 {
		if r := ada.must(429, "GET", path, ""); r.body.Code != 42901 || r.header.Get("Retry-After") == "" {
			t.Errorf("a download too many: %s", r.raw)
		}
	}
	slowest := time.Duration(0)
	for range 20 {
		began := time.Now()
		overview := dataOf[openapi.Overview](t, eve.must(200, "GET", "/api/statistics/applications/overview", ""))
		if overview.Calls != 1 {
			t.Errorf("overview %+v", overview.MetricsFields)
		}
		slowest = max(slowest, time.Since(began))
	}
	t.Logf("overview of another account beside stalled downloads: at most %s", slowest)
	if file, _ := eve.send("GET", "/api/statistics/applications/"+theirs+"/calls.csv", ""); file.status != 200 || strings.Count(file.raw, "\n") != 2 {
		t.Errorf("another account's download: %d %s", file.status, file.raw)
	}

	for _, conn := range opened { // who goes away frees the place
		_ = conn.Close()
	}
	eventually(t, "abandoned downloads end", func() bool { return w.console.downloads() == 0 })
	w.console.exports.stall = 50 * time.Millisecond
	stuck := ada.stalled(path)
	eventually(t, "a download runs", func() bool { return w.console.downloads() == 1 })
	eventually(t, "a download that is not read ends", func() bool { return w.console.downloads() == 0 })
	_ = stuck.SetReadDeadline(time.Now().Add(30 * time.Second))
	text, _ := io.ReadAll(stuck)
	if !strings.HasPrefix(string(text), "HTTP/1.1 200") || strings.HasSuffix(string(text), "0\r\n\r\n") {
		t.Errorf("the broken file looks whole: %.40q … %.20q", text, text[max(0, len(text)-20):])
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
	q := stats.CallsQuery{Application: app, Range: beijing.LastDays(2, beijing.Today(w.now))}
	ended := errors.New("ended")
	began, let := make(chan struct{}), make(chan struct{})
	walks, failed := errgroup.WithContext(t.Context())
	for range 8 {
		walks.Go(func() error {
			return w.console.Stats.Walk(t.Context(), q, func(stats.Call) error {
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
	request, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	released := make(chan struct{})
	before := time.Now()
	write := func(ctx context.Context, to io.Writer) error { return w.console.Report.WriteCalls(ctx, to, q) }
	_, err := startExport(request, write, func() { close(released) })
	if took := time.Since(before); fault.KindOf(err) != fault.Unavailable || took > 2*time.Second {
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
