package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callgate/internal/secret"
)

// TestFloodOfUnknownKeysIsBoundedAndCostsGoodCallersNothing sends keys that nobody was given, as fast
// as it can: made up ones, and ones with a genuine checksum, which only a holder of the pepper can
// make. FLOOD_SECONDS sets how long each (make chaos: 30).
func TestFloodOfUnknownKeysIsBoundedAndCostsGoodCallersNothing(t *testing.T) {
	e := newTwoGateways(t)
	seconds := time.Duration(fromEnvironment("FLOOD_SECONDS", 2)) * time.Second
	pepper := secret.Pepper(e.environment["ACCESS_KEY_PEPPER"])
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	size := len(pepper.Mint())
	madeUp := func() string {
		key := []byte("cg-" + strings.Repeat("0", size-3))
		for i := 3; i < len(key); i++ {
			key[i] = letters[rand.IntN(len(letters))]
		}
		return string(key)
	}
	warm := &journey{process: e.gates[0], key: e.good.key}
	if status, _, body := warm.send("POST", "/v1/json?model=spare", "application/json", []byte(`{}`)); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	for _, flood := range []struct {
		name    string
		mint    func() string
		queries float64 // of PostgreSQL by a refused key, at most
	}{{"made up", madeUp, 0.005}, {"genuine checksum", pepper.Mint, 1.1}} {
		before, memory := e.transactions(), residentBytes(t, e.gates[0])
		stop := e.load(100, []target{e.good})
		refused, other, peak := e.flood(seconds, flood.mint)
		stop()
		asked := float64(e.transactions() - before)
		t.Logf("%s: %.0f keys/s refused, %.0f PostgreSQL transactions/s, resident memory %d -> %d MiB; of the good key's calls %d were not answered with 200",
			flood.name, float64(refused)/seconds.Seconds(), asked/seconds.Seconds(), memory>>20, peak>>20, e.lost.Load())
		if other != 0 {
			t.Errorf("%s: %d answers other than 401 and 503", flood.name, other)
		}
		if most := 400 + flood.queries*float64(refused); asked > most {
			t.Errorf("%s: %.0f transactions for %d keys", flood.name, asked, refused)
		}
		if peak > memory+128<<20 {
			t.Errorf("%s: resident memory grew from %d to %d bytes", flood.name, memory, peak)
		}
		if e.lost.Load() != 0 {
			t.Errorf("%s: %d of the good key's calls failed", flood.name, e.lost.Load())
		}
	}
}

// flood sends keys to the first gateway and counts the answers.
func (e *twoGateways) flood(lasts time.Duration, mint func() string) (refused, other, peak int64) {
	ctx, cancel := context.WithTimeout(e.t.Context(), lasts)
	defer cancel()
	var no, odd atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(e.gates[0].base, "http://"))
			if err != nil {
				e.t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			br := bufio.NewReader(conn)
			for ctx.Err() == nil {
				_, _ = fmt.Fprintf(conn, "POST /gateway/v1/json?model=spare HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}", mint())
				resp, err := http.ReadResponse(br, nil)
				if err != nil {
					odd.Add(1)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				switch resp.StatusCode {
				case 401, 503:
					no.Add(1)
				default:
					odd.Add(1)
				}
			}
		})
	}
	for ctx.Err() == nil {
		peak = max(peak, residentBytes(e.t, e.gates[0]))
		time.Sleep(50 * time.Millisecond)
	}
	all.Wait()
	return no.Load(), odd.Load(), peak
}

// transactions is how many PostgreSQL has counted in all.
func (e *twoGateways) transactions() (n int64) {
	e.t.Helper()
	time.Sleep(1100 * time.Millisecond) // it counts a second late
	if err := e.sql.QueryRow(e.t.Context(), `SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database`).Scan(&n); err != nil {
		e.t.Fatal(err)
	}
	return n
}

func residentBytes(t *testing.T, p *process) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(rest[:strings.Index(rest, "kB")]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
