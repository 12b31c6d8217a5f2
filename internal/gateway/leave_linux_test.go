package gateway

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/access"
	"callgate/internal/calls"
)

// callsToMake is how many calls a test here makes; make chaos sets more.
func callsToMake(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("GATEWAY_CALLS")); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// numbered makes each call's key, and with it its application, a number.
func numbered(n int) (key string) {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[8:], uint64(n)) //nolint:gosec // small and positive
	return id.String()
}

func grantOfNumber(_ context.Context, _ *access.Recent, key []byte) (*access.Grant, error) {
	id, err := uuid.ParseBytes(key)
	if err != nil {
		return nil, access.ErrUnknownKey
	}
	return access.NewGrant(id, owner, true, 1, "m"), nil
}

// TestCallersThatLeaveAreNoticedWithinAHundredMilliseconds lets callers leave at random moments of an
// upstream's silence: before their sockets are watched, and after. What a busy machine is late by with
// a plain timer is allowed on top, and it gets more rounds.
func TestCallersThatLeaveAreNoticedWithinAHundredMilliseconds(t *testing.T) {
	const limit, rounds = 100 * time.Millisecond, 3
	total := min(callsToMake(200), 5_000)
	for round := 1; ; round++ {
		late := lateness()
		cancelled, recorded := callersLeave(t, total)
		allowed := limit + late()
		for what, took := range map[string][]time.Duration{"upstream cancelled": cancelled, "recorded": recorded} {
			t.Logf("%d callers left: %s after %v (median), %v (p99), %v (worst); timers were late by up to %v",
				total, what, took[total/2], took[total*99/100], took[total-1], allowed-limit)
		}
		if cancelled[total*99/100] <= allowed && recorded[total*99/100] <= allowed {
			return
		}
		if round == rounds {
			t.Fatalf("more than %v in %d rounds", limit, rounds)
		}
	}
}

// lateness watches a timer; the function it returns tells by how much it was late at most.
func lateness() (most func() time.Duration) {
	stop, worst := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				worst <- late
				return
			case <-time.After(lookEvery):
				late = max(late, time.Since(began)-lookEvery)
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-worst
	}
}

// callersLeave returns how long after a caller left its upstream call was cancelled and its record
// made, sorted.
func callersLeave(t *testing.T, total int) (cancelled, recorded []time.Duration) {
	const together = 20
	left, ended, made := make([]time.Time, total), make([]time.Time, total), make([]time.Time, total)
	var begun, over sync.WaitGroup
	r := newRig(t, func(conn net.Conn, a asked) bool {
		n, err := strconv.Atoi(string(a.body))
		begun.Done()
		_, _ = io.Copy(io.Discard, conn)
		if ended[n] = time.Now(); err != nil {
			t.Error(err)
		}
		over.Done()
		return false
	}, func(c *Config) {
		c.Grant = grantOfNumber
		c.Record = func(record *calls.Record) {
			made[binary.BigEndian.Uint64(record.ApplicationID[8:])] = time.Now()
			if record.StatusCode != 499 || record.EndedBy != calls.ClientAbort || record.UpstreamCode != 0 {
				t.Errorf("record %+v", record)
			}
			over.Done()
		}
	})
	for first := 0; first < total; first += together {
		begun.Add(together)
		over.Add(3 * together)
		for n := first; n < first+together; n++ {
			conn := r.dial()
			_, _ = io.WriteString(conn, post("/gateway/v1?model=m", numbered(n), strconv.Itoa(n)))
			time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, func() {
				begun.Wait()
				left[n] = time.Now()
				_ = conn.Close()
				over.Done()
			})
		}
		over.Wait()
		r.forgetAsked()
	}
	for n := range total {
		cancelled, recorded = append(cancelled, ended[n].Sub(left[n])), append(recorded, made[n].Sub(left[n]))
	}
	slices.Sort(cancelled)
	slices.Sort(recorded)
	return cancelled, recorded
}

// resources are what calls could leave behind in the process.
type resources struct{ goroutines, files, watched, inFlight, open int }

func (r *rig) resources() (n resources) {
	r.gateway.upstreams.each(func(p *connPool) { p.evict(time.Now().Add(time.Hour)) })
	r.gateway.upstreams.each(func(p *connPool) { n.open, _ = p.count() })
	n.watched, n.inFlight = r.gateway.supervisor.watcher.count(), r.gateway.supervisor.len()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		r.t.Fatal(err)
	}
	n.files, n.goroutines = len(entries), goroutines()
	return n
}

// goroutines counts all but the server's idle workers, which it keeps for ten seconds.
func goroutines() (n int) {
	stacks := make([]byte, 4<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if !strings.Contains(stack, "(*workerPool).workerFunc") || strings.Contains(stack, ".serveConn") {
			n++
		}
	}
	return n
}

// TestCallsLeaveNothingBehind makes calls of every kind, callers that leave among them, and compares
// goroutines, files, watched sockets and connections with those before.
func TestCallsLeaveNothingBehind(t *testing.T) {
	const callers = 48
	total := callsToMake(3_000)
	var made, records atomic.Int64
	r := newRig(t, func(conn net.Conn, a asked) bool {
		if string(a.body) == "silent" {
			_, _ = io.Copy(io.Discard, conn)
			return false
		}
		return tellTale(conn, a.body)
	}, func(c *Config) { c.Record = func(*calls.Record) { records.Add(1) } })
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-r.asked:
			case <-r.hungUp:
			case <-stop:
				return
			}
		}
	}()
	before := r.resources()
	kinds := []string{"plain", "chunks", "extra", "close", "cut", "plain", "chunks", "events", "plain", "chunks"}
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for n := made.Add(1); n <= int64(total); n = made.Add(1) {
				kind := kinds[n%int64(len(kinds))]
				if n%37 == 0 {
					kind = "silent"
				}
				r.callOnce(fmt.Sprintf("%s-%d", kind, n))
			}
		})
	}
	all.Wait()
	var after resources
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		after = r.resources()
		after.goroutines = max(after.goroutines, before.goroutines) // other tests' may have ended
		if after == before || time.Since(began) > 10*time.Second {
			break
		}
	}
	t.Logf("%d calls: before %+v, after %+v", total, before, after)
	if after != before || records.Load() != int64(total) {
		t.Errorf("%d calls, %d records: before %+v, after %+v", total, records.Load(), before, after)
	}
}

// callOnce makes one call on a connection of its own; a silent upstream is left.
func (r *rig) callOnce(token string) {
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if len(token) > 6 && token[:6] == "silent" {
		_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "silent"))
		_ = conn.SetReadDeadline(time.Now().Add(time.Duration(rand.IntN(80)) * time.Millisecond))
	} else {
		_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, token, "Connection: close"))
	}
	_, _ = io.Copy(io.Discard, conn)
}
