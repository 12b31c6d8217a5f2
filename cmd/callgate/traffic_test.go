package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
)

// sighting is an X-Call-Id as a caller saw it.
type sighting struct {
	id      uuid.UUID
	gateway int           // which answered
	at      time.Time     // when the answer had been read
	took    time.Duration // what the caller waited for it
}

// traffic is a stream of calls over one or several gateways. A caller whose gateway does not answer
// turns to the next one.
type traffic struct {
	gateways []string // base URLs
	key      string
	callers  int
	rate     int // calls per second of all callers together; 0: as fast as they can

	mu     sync.Mutex
	seen   []sighting
	failed []string // answers that were not 200 and whole
	broken int      // attempts without an answer
	breaks []string // why, of some
}

// run calls until ctx is done or, when most is not 0, that many calls were answered.
func (f *traffic) run(ctx context.Context, most int) {
	transport := &http.Transport{MaxIdleConnsPerHost: f.callers}
	defer transport.CloseIdleConnections()
	var running sync.WaitGroup
	for caller := range f.callers {
		share := 0
		if most > 0 {
			share = (most + caller) / f.callers
		}
		running.Go(func() { f.caller(ctx, &http.Client{Transport: transport, Timeout: 30 * time.Second}, caller, share) })
	}
	running.Wait()
}

func (f *traffic) caller(ctx context.Context, c *http.Client, gateway, most int) {
	var own []sighting
	defer func() { f.mu.Lock(); f.seen = append(f.seen, own...); f.mu.Unlock() }()
	next := time.Now()
	for (most == 0 || len(own) < most) && ctx.Err() == nil {
		if f.rate > 0 {
			next = next.Add(time.Second * time.Duration(f.callers) / time.Duration(f.rate))
			if !sleepUntil(ctx, next) {
				return
			}
		}
		s, err := f.call(c, gateway%len(f.gateways))
		if s.id != uuid.Nil {
			own = append(own, s)
		}
		if err != nil {
			gateway++
			if s.id == uuid.Nil {
				time.Sleep(time.Millisecond) // a refused connection costs the caller nothing
			}
		}
	}
}

func sleepUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// call makes one call; its sighting has an id as soon as a header arrived.
func (f *traffic) call(c *http.Client, gateway int) (s sighting, err error) {
	req, err := http.NewRequest("POST", f.gateways[gateway]+"/gateway/v1/json?model=chat", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.key)
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	resp, err := c.Do(req)
	if err != nil {
		f.mu.Lock()
		f.broken++
		f.breaks = append(f.breaks, fmt.Sprintf("%v after %v", err, time.Since(began)))
		f.mu.Unlock()
		return s, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	s = sighting{gateway: gateway, at: time.Now(), took: time.Since(began)}
	s.id, _ = uuid.Parse(resp.Header.Get("X-Call-Id"))
	if resp.StatusCode != 200 || err == nil && string(body) != jsonAnswer {
		f.mu.Lock()
		f.failed = append(f.failed, fmt.Sprintf("%d %s", resp.StatusCode, body))
		f.mu.Unlock()
	}
	return s, err
}

// paced makes calls at a steady rate for a while and returns the median and the 99th percentile of
// what callers waited.
func (f *traffic) paced(ctx context.Context, rate int, during time.Duration) (median, p99 time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	part := &traffic{gateways: f.gateways, key: f.key, callers: f.callers, rate: rate}
	part.run(ctx, 0)
	f.join(part)
	took := make([]time.Duration, len(part.seen))
	for i, s := range part.seen {
		took[i] = s.took
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

// join takes over what another stream saw.
func (f *traffic) join(part *traffic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, part.seen...)
	f.failed = append(f.failed, part.failed...)
	f.broken += part.broken
	f.breaks = append(f.breaks, part.breaks...)
}

// pace is the mean number of answers a second, the least in any, and how many seconds had fewer
// than a number.
func (f *traffic) pace(than int) (mean float64, least, slow int) {
	if len(f.seen) == 0 {
		return 0, 0, 0
	}
	byTime := func(a, b sighting) int { return a.at.Compare(b.at) }
	first, last := slices.MinFunc(f.seen, byTime).at, slices.MaxFunc(f.seen, byTime).at
	seconds := make([]int, max(1, int(last.Sub(first)/time.Second)))
	for _, s := range f.seen {
		if at := int(s.at.Sub(first) / time.Second); at < len(seconds) {
			seconds[at]++
		}
	}
	for _, n := range seconds {
		if n < than {
			slow++
		}
	}
	return float64(len(f.seen)) / last.Sub(first).Seconds(), slices.Min(seconds), slow
}

// account is what ClickHouse says about the calls that were seen.
type account struct {
	rows    int
	lost    []sighting // seen, but not in calls
	doubled int        // rows beyond the first of a call
}

// count compares sightings with the rows of calls, and the rows with the rollups.
func (f *traffic) count(t *testing.T, clickhouseURL string) account {
	t.Helper()
	options, err := clickhouse.ParseDSN(clickhouseURL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	rows, err := conn.Query(t.Context(), `SELECT call_id FROM calls`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var found account
	there := map[uuid.UUID]bool{}
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		if found.rows++; there[id] {
			found.doubled++
		}
		there[id] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.seen {
		if !there[s.id] {
			found.lost = append(found.lost, s)
		}
	}
	for _, rollup := range []string{"usage_daily", "usage_hourly"} {
		var n int64
		if err := conn.QueryRow(t.Context(), `SELECT sum(calls) FROM `+rollup).Scan(&n); err != nil || int(n) != found.rows {
			t.Errorf("%s counts %d calls of %d rows, %v", rollup, n, found.rows, err)
		}
	}
	return found
}

// awaitThrough waits until the ledger says that every call which ended before at is accounted for.
func (c client) awaitThrough(app string, at time.Time, within time.Duration) {
	c.t.Helper()
	eventually(c.t, within, "the ledger is past the load", func() error {
		through, _, err := c.completeness(app)
		if err == nil && !through.After(at) {
			err = fmt.Errorf("data through %v, the load ended at %v", through, at)
		}
		return err
	})
}
