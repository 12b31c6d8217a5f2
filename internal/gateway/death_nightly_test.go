//go:build nightly

package gateway

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"callgate/internal/access"
	"callgate/internal/calls"
)

// The load under which an upstream dies: DEATH_RATE calls a second, of which the first quarter finds it well. The
// environment may say otherwise (make deaths).
const (
	deathRate    = 300
	deathSeconds = 6
)

// mortal is an upstream that can die in several ways. It notes every request whose head it read.
type mortal struct {
	t        *testing.T
	address  string
	listener net.Listener
	server   *http.Server
	served   chan error
	dying    atomic.Pointer[string] // how; nil: it is well
	released chan struct{}          // ends what hangs
	seen     sync.Map               // number of the call -> status answered, 0: none
}

func newMortal(t *testing.T) *mortal {
	m := &mortal{t: t, released: make(chan struct{})}
	m.listen("127.0.0.1:0")
	t.Cleanup(func() {
		close(m.released)
		_ = m.server.Close()
		<-m.served
	})
	return m
}

func (m *mortal) listen(address string) {
	m.t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		m.t.Fatal(err)
	}
	m.listener, m.address, m.served = listener, listener.Addr().String(), make(chan error, 1)
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server, served chan error) { served <- s.Serve(listener) }(m.server, m.served)
}

func (m *mortal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, status := r.Header.Get("X-Number"), 200
	how := ""
	if dying := m.dying.Load(); dying != nil {
		how = *dying
	}
	switch how {
	case "503 storm":
		status = 503
	case "reset", "black hole":
		status = 0
	}
	if _, twice := m.seen.LoadOrStore(number, status); twice {
		m.t.Errorf("call %s was sent twice to one upstream", number)
	}
	switch how {
	case "reset":
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
		return
	case "black hole":
		select {
		case <-m.released:
		case <-r.Context().Done():
		}
		return
	case "slow":
		select {
		case <-m.released:
		case <-time.After(300 * time.Millisecond):
		}
	case "refused":
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Content-Length", "2")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "{}")
}

func (m *mortal) die(how string) {
	m.dying.Store(&how)
	if how != "refused" {
		return
	}
	// It finishes what it was sent, and takes no connection any more. Shutdown would close connections that look idle, though
	// a request may be on its way in one.
	if err := m.listener.Close(); err != nil {
		m.t.Error(err)
	}
	if err := <-m.served; !errors.Is(err, net.ErrClosed) {
		m.t.Error(err)
	}
	m.served <- net.ErrClosed // for the end of the test
}

// toll is what callers saw in one second.
type toll struct{ calls, failures atomic.Int64 }

func TestOneOfTwoUpstreamsDies(t *testing.T) {
	rate, seconds := setting(t, "DEATH_RATE", deathRate), setting(t, "DEATH_SECONDS", deathSeconds)
	for _, how := range []string{"refused", "reset", "503 storm", "black hole", "slow"} {
		t.Run(how, func(t *testing.T) {
			if rate == deathRate {
				t.Parallel() // the long form is to have the machine for itself
			}
			dies(t, how, rate, seconds)
		})
	}
}

func setting(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func dies(t *testing.T, how string, rate, seconds int) {
	first, second := newMortal(t), newMortal(t)
	var records, attempts atomic.Int64
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.Capability = func(id string) *access.Capability {
			return &access.Capability{ID: id, Enabled: true, UpstreamAuth: "bearer", Upstreams: []access.Member{member("first", first.address, 0, 1), member("second", second.address, 0, 1)}}
		}
		c.OpenUpstreamKey = func(*access.Upstream) ([]byte, error) { return []byte(upstreamKey), nil }
		c.ConnectTimeout, c.HeaderTimeout = time.Second, time.Second
		c.OwnerShare = 1
		c.Record = func(record *calls.Record) {
			records.Add(1)
			attempts.Add(int64(record.Attempts))
			record.Release()
		}
	})
	tolls := make([]toll, seconds+5)
	transport := &http.Transport{MaxIdleConnsPerHost: 4 * rate, MaxConnsPerHost: 4 * rate}
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	t.Cleanup(transport.CloseIdleConnections)
	began := time.Now()
	death := began.Add(time.Duration(seconds) * time.Second / 4)
	var dead sync.Once
	var calling sync.WaitGroup
	for i := range rate * seconds {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due)) // the pace of the load
		if due.After(death) {
			dead.Do(func() { calling.Go(func() { first.die(how) }) })
		}
		calling.Go(func() {
			now := &tolls[int(due.Sub(began)/time.Second)]
			now.calls.Add(1)
			if err := r.callNumber(client, i); err != nil {
				now.failures.Add(1)
			}
		})
	}
	calling.Wait()
	waitFor(t, func() bool { return records.Load() == int64(rate*seconds) })

	failed := int64(0)
	var told strings.Builder
	for i := range seconds {
		calls, failures := tolls[i].calls.Load(), tolls[i].failures.Load()
		failed += failures
		fmt.Fprintf(&told, " %.3f", 1-float64(failures)/float64(max(calls, 1)))
	}
	retries := testutil.ToFloat64(r.gateway.metrics.failovers)
	t.Logf("%s at %d calls/s: %d of %d calls failed; %v retried (%.2f %%), %v retries refused; share that succeeded, by second:%s; first: %+v",
		how, rate, failed, rate*seconds, retries, 100*retries/float64(rate*seconds), testutil.ToFloat64(r.gateway.metrics.failoversRefused), told.String(), r.gateway.Upstreams()["first"])
	if int64(retries) != attempts.Load()-records.Load() {
		t.Errorf("%v retries, and %d attempts at %d calls", retries, attempts.Load(), records.Load())
	}
	if most := float64(rate*seconds)/10 + retryStart/retryCost; retries > most {
		t.Errorf("%v retries are more than %v", retries, most)
	}
	if (how == "refused" || how == "503 storm" || how == "slow") && failed > 0 {
		t.Errorf("callers saw %d failures", failed)
	}
	if calls, failures := tolls[seconds-1].calls.Load(), tolls[seconds-1].failures.Load(); failures*100 > calls {
		t.Errorf("in the last second %d of %d calls failed", failures, calls)
	}
	if state := r.gateway.Upstreams()["first"].State; (state == "closed") != (how == "slow") && seconds < 16 {
		t.Errorf("its breaker is %s", state)
	}
	first.seen.Range(func(number, status any) bool { // only what was refused may go to the second as well
		if _, both := second.seen.Load(number); both && status != 503 {
			t.Errorf("call %v was sent to both, after the first answered %v", number, status)
		}
		return true
	})
}

// callNumber makes one call; an error is what its caller would see.
func (r *rig) callNumber(client *http.Client, number int) error {
	request, err := http.NewRequest(http.MethodPost, "http://"+r.address+"/gateway/v1/chat?model=m", strings.NewReader(`{"a":1}`))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+goodKey)
	request.Header.Set("X-Number", strconv.Itoa(number))
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != 200 {
		return errors.New(response.Status)
	}
	return nil
}
