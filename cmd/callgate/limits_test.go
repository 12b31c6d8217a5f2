package main

import (
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestThreeGatewaysHoldOneLimitAndTheirRefusalsAreRecorded: ten times what is allowed, through all of them at once, while
// one is killed and takes its leases with it. Every refusal is a call.
func TestThreeGatewaysHoldOneLimitAndTheirRefusalsAreRecorded(t *testing.T) {
	const limit = 600
	h := newInstallation(t)
	gateways := []*node{h.node(t), h.node(t), h.node(t)}
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	before := (&traffic{}).count(t, h.environment["CLICKHOUSE_URL"]).rows
	do[any](h.dev, "PATCH", "/api/applications/"+h.app+"/limits", map[string]any{"requestsPerMinute": limit})
	time.Sleep(1500 * time.Millisecond) // every gateway reads the limits each second
	var admitted, refused, other, lost atomic.Int64
	var running sync.WaitGroup
	end := time.Now().Add(8 * time.Second)
	for _, n := range gateways {
		for range 4 {
			running.Go(func() {
				client := &http.Client{Timeout: 5 * time.Second}
				for time.Now().Before(end) {
					request, _ := http.NewRequestWithContext(t.Context(), "POST", n.base+"/gateway/v1/json?model=chat", strings.NewReader(`{}`))
					request.Header.Set("Authorization", "Bearer "+h.key)
					answer, err := client.Do(request)
					switch {
					case err != nil:
						lost.Add(1) // the one that is killed
						time.Sleep(100 * time.Millisecond)
						continue
					case answer.StatusCode == 200:
						admitted.Add(1)
					case answer.StatusCode == 429 && answer.Header.Get("X-Callgate-Error") == "rate_limited":
						refused.Add(1)
					default:
						other.Add(1)
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
	}
	time.Sleep(2 * time.Second)
	gateways[0].kill()
	running.Wait()
	gateways[0].start(t) // its spool has what it knew
	gateways[0].awaitReady(t)
	t.Logf("%d admitted of %d, %d refused, %d without an answer", admitted.Load(), limit, refused.Load(), lost.Load())
	if n := admitted.Load(); n > limit*102/100 || n < limit*95/100 || other.Load() > 0 {
		t.Errorf("%d admitted of %d, %d answers of another kind", n, limit, other.Load())
	}
	usage := do[struct {
		Items []struct {
			Name string
			Used *int64
		}
	}](h.dev, "GET", "/api/applications/"+h.app+"/limits/usage", nil)
	if used := usage.Items[0].Used; used == nil || *used < limit*90/100 || *used > limit*102/100 {
		t.Errorf("the console says %+v", usage)
	}
	h.dev.awaitThrough(h.app, time.Now(), 30*time.Second)
	rows := (&traffic{}).count(t, h.environment["CLICKHOUSE_URL"]).rows - before
	if known := int(admitted.Load() + refused.Load()); rows < known-20 || rows > known+int(lost.Load()) {
		t.Errorf("%d calls are recorded, %d were answered", rows, known)
	}
}

// startRedis starts a redis-server that keeps nothing.
func startRedis(t *testing.T, port string) *exec.Cmd {
	t.Helper()
	child := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	return child
}

// limitedLoad is an application's callers.
type limitedLoad struct {
	key        string
	began, end time.Time
	running    sync.WaitGroup

	mu             sync.Mutex
	admitted       []time.Duration
	answers, other int
	slowest        time.Duration
}

// call calls a gateway again and again.
func (l *limitedLoad) call(t *testing.T, base string) {
	client := &http.Client{Timeout: 10 * time.Second}
	for time.Now().Before(l.end) {
		request, _ := http.NewRequestWithContext(t.Context(), "POST", base+"/gateway/v1/json?model=chat", strings.NewReader(`{}`))
		request.Header.Set("Authorization", "Bearer "+l.key)
		start, status := time.Now(), 0
		if answer, err := client.Do(request); err == nil {
			status = answer.StatusCode
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		l.mu.Lock()
		l.answers++
		l.slowest = max(l.slowest, time.Since(start))
		switch status {
		case 200:
			l.admitted = append(l.admitted, start.Sub(l.began))
		case 429:
		default:
			l.other++
		}
		l.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *limitedLoad) times() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := slices.Clone(l.admitted)
	slices.Sort(times)
	return times
}

// most is how many were admitted within a minute at most.
func (l *limitedLoad) most() (most int) {
	times, from := l.times(), 0
	for to := range times {
		for times[to]-times[from] >= time.Minute {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}
