//go:build nightly

package console

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"callgate/internal/openapi"
)

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
