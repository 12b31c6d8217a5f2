package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"callgate/internal/embedded"
	"callgate/internal/openapi"
)

// backends are the processes of PostgreSQL that serve somebody, the postmaster not among them.
func backends(t *testing.T, postmaster int) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // has just ended
		}
		_, after, _ := strings.Cut(string(raw), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(postmaster) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// console is a console on engines of its own, with a developer and an application.
func console(t *testing.T) (p *process, engines *embedded.Engines, dev client, app string) {
	t.Helper()
	engines = embedded.Own(t)
	environment := production(t, engines)
	migrate(t, environment)
	p = start(t, environment, "serve", "--role", "console")
	p.mails = func(email string) (string, error) {
		if caught := engines.Mailbox().Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	dev = p.developer("dev@example.com")
	app, _ = dev.application("before", []string{}...)
	return p, engines, dev, app
}

// TestAFrozenPostgreSQLMakesNobodyWait stops every process of PostgreSQL, as a hanging disk or a
// network that drops everything does: connections stay open and nothing answers.
func TestAFrozenPostgreSQLMakesNobodyWait(t *testing.T) {
	p, engines, dev, app := console(t)
	postmaster := engines.PIDs()["postgres"]
	signal := func(s syscall.Signal) {
		for _, pid := range append(backends(t, postmaster), postmaster) {
			_ = syscall.Kill(pid, s)
		}
	}
	thaw := sync.OnceFunc(func() { signal(syscall.SIGCONT) })
	t.Cleanup(thaw)
	signal(syscall.SIGSTOP)

	ask := func(what string, within time.Duration) {
		var asking sync.WaitGroup
		for i := range 24 {
			asking.Go(func() {
				method, path, body := "GET", "/api/applications", any(nil)
				switch i % 3 {
				case 1:
					method, path, body = "PATCH", "/api/applications/"+app, object{"name": "after", "description": "after"}
				case 2:
					path = "/api/statistics/applications/overview"
				}
				began := time.Now()
				status, e := dev.try(method, path, body)
				if took := time.Since(began); status != 503 || e.Code != 50301 || took > within {
					t.Errorf("%s: %s %s was answered %d %d after %v, want 503 within %v", what, method, path, status, e.Code, took.Round(time.Millisecond), within)
				}
			})
		}
		asking.Wait()
	}
	began := time.Now()
	ask("at the moment it freezes", 6*time.Second)
	t.Logf("the first 24 requests were answered within %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	ask("once that is known", time.Second)
	t.Logf("the next 24 within %v", time.Since(began).Round(time.Millisecond))
	if resp, err := http.Get(p.base + "/health/ready"); err != nil || resp.StatusCode != 200 { // it tells callers itself
		t.Errorf("readiness: %v, %v", resp, err)
	}
	thaw()
	eventually(t, time.Minute, "the console answers again", func() error {
		if status, e := dev.try("GET", "/api/applications", nil); status != 200 {
			return fmt.Errorf("%d %s", status, e.Msg)
		}
		return nil
	})
	now := do[openapi.Application](dev, "GET", "/api/applications/"+app, nil)
	if after := now.Name == "after"; after != (now.Description == "after") {
		t.Errorf("an edit was applied by half: %+v", now)
	}
}

// TestAKilledBackendIsAStoreThatIsAway kills backends under load: PostgreSQL ends all sessions then and
// recovers, and nobody is told that we failed.
func TestAKilledBackendIsAStoreThatIsAway(t *testing.T) {
	_, engines, dev, app := console(t)
	var answered [600]atomic.Int64
	stop := make(chan struct{})
	var asking sync.WaitGroup
	for worker := range 6 {
		asking.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				method, path, body := "GET", "/api/applications", any(nil)
				if (i+worker)%2 == 0 {
					method, path, body = "PATCH", "/api/applications/"+app, object{"name": fmt.Sprint("edit ", i)}
				}
				status, e := dev.try(method, path, body)
				if status != 200 && e.Code != 50301 {
					t.Errorf("%s %s: %d %d %s", method, path, status, e.Code, e.Msg)
				}
				answered[status].Add(1)
			}
		})
	}
	for range 4 {
		healthy := answered[200].Load()
		eventually(t, time.Minute, "requests are answered", func() error {
			if answered[200].Load() < healthy+50 {
				return fmt.Errorf("%d", answered[200].Load())
			}
			return nil
		})
		if pids := backends(t, engines.PIDs()["postgres"]); len(pids) > 0 {
			_ = syscall.Kill(pids[rand.IntN(len(pids))], syscall.SIGKILL)
		}
	}
	eventually(t, time.Minute, "somebody noticed", func() error {
		if answered[503].Load() == 0 {
			return fmt.Errorf("%d answers of 200", answered[200].Load())
		}
		return nil
	})
	close(stop)
	asking.Wait()
	t.Logf("%d answers of 200, %d of 503, %d of 500", answered[200].Load(), answered[503].Load(), answered[500].Load())
}
