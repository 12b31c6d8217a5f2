//go:build replicas

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// witness asks for the statistics of each application several times a second and keeps what was answered.
type witness struct {
	console client
	apps    []string // by shard

	mu      sync.Mutex
	heard   []testimony
	refused []testimony // 503
}

// testimony is one answer: so many calls, and the time before which it says that all are counted.
type testimony struct {
	app     int
	status  int
	at      time.Time // when it was asked for
	through time.Time
	calls   int64
}

func (w *witness) run(ctx context.Context) {
	for ctx.Err() == nil {
		for app := range w.apps {
			w.ask(app)
		}
		sleepUntil(ctx, time.Now().Add(150*time.Millisecond))
	}
}

func (w *witness) ask(app int) {
	said := testimony{app: app, at: time.Now()}
	var e envelope
	said.status, e = w.console.try("GET", "/api/statistics/applications/"+w.apps[app], nil)
	var data struct {
		DataThrough time.Time
		Summary     struct{ Calls int64 }
	}
	err := json.Unmarshal(e.Data, &data)
	said.through, said.calls = data.DataThrough, data.Summary.Calls
	w.mu.Lock()
	defer w.mu.Unlock()
	if said.status != 200 || err != nil {
		w.refused = append(w.refused, said)
		return
	}
	w.heard = append(w.heard, said)
}

// between are the answers to what was asked in a span of time.
func (w *witness) between(from, to time.Time) (heard []testimony, refused int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := func(s testimony) bool { return !s.at.Before(from) && s.at.Before(to) }
	for _, s := range w.heard {
		if in(s) {
			heard = append(heard, s)
		}
	}
	for _, s := range w.refused {
		if in(s) {
			refused++
		}
	}
	return heard, refused
}

// fresh fails unless the newest answer about each application was of data no older than that.
func (w *witness) fresh(within time.Duration) error {
	heard, _ := w.between(time.Now().Add(-10*time.Second), time.Now())
	if len(heard) < len(w.apps) {
		return fmt.Errorf("nothing is answered")
	}
	for _, s := range heard[max(0, len(heard)-len(w.apps)):] {
		if age := s.at.Sub(s.through); age > within {
			return fmt.Errorf("an answer is %v behind", age.Round(time.Millisecond))
		}
	}
	return nil
}

// tell says how old the data was of what was answered in a span.
func (w *witness) tell(t *testing.T, from, to time.Time) {
	t.Helper()
	heard, refused := w.between(from, to)
	var ages []time.Duration
	for _, s := range heard {
		ages = append(ages, s.at.Sub(s.through).Round(time.Millisecond))
	}
	if slices.Sort(ages); len(ages) == 0 {
		t.Errorf("nothing was answered, %d refused", refused)
		return
	}
	t.Logf("%d answers with data %v old in the median, %v at most; %d refused", len(ages), ages[len(ages)/2], ages[len(ages)-1], refused)
}

// heldBack demands that statistics were answered all the time, and none promised anything of a span but its beginning.
func (w *witness) heldBack(t *testing.T, from, to time.Time) {
	t.Helper()
	heard, refused := w.between(from, to)
	var newest time.Duration
	for _, s := range heard {
		newest = max(newest, s.through.Sub(from))
	}
	t.Logf("%d answers, the newest with data until %v after the freeze, %d refused", len(heard), newest.Round(time.Millisecond), refused)
	if refused > 0 || len(heard) == 0 || newest > 3*time.Second {
		t.Error("statistics are to be answered as of the freeze")
	}
}

// awaitAnswers waits for so many more answers.
func (w *witness) awaitAnswers(t *testing.T, count int) {
	t.Helper()
	from := time.Now()
	eventually(t, time.Minute, "statistics are answered", func() error {
		heard, refused := w.between(from, time.Now())
		if len(heard) < count {
			return fmt.Errorf("%d answers, %d refused", len(heard), refused)
		}
		return nil
	})
}

// judge demands of every answer that it counted each call that had been answered before its dataThrough.
func (w *witness) judge(t *testing.T, load []*traffic) {
	t.Helper()
	ended := make([][]time.Time, len(load))
	for i, f := range load {
		for _, s := range f.seen {
			ended[i] = append(ended[i], s.at)
		}
		slices.SortFunc(ended[i], time.Time.Compare)
	}
	ahead := 0
	var oldest time.Duration
	for _, s := range w.heard {
		promised, _ := slices.BinarySearchFunc(ended[s.app], s.through, time.Time.Compare)
		if oldest = max(oldest, s.at.Sub(s.through)); s.calls < int64(promised) {
			if ahead++; ahead <= 5 {
				t.Errorf("an answer of %v counted %d calls and said that it held all until %v, which are %d", s.at, s.calls, s.through, promised)
			}
		}
	}
	t.Logf("%d answers about %d applications, %d ahead of what they had, at most %v behind; %d refused", len(w.heard), len(load), ahead, oldest.Round(time.Millisecond), len(w.refused))
}

// node connects to the rows of one replica.
func (h *replicatedHouse) node(t *testing.T, name string) clickhouse.Conn {
	t.Helper()
	options, err := clickhouse.ParseDSN(h.engines.ClickHouseDSNOf(name, "callgate_shard"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

var replicatedTables = []string{"calls", "call_failures", "usage_daily", "usage_hourly", "tokens_daily", "tokens_hourly", "meters_daily", "meters_hourly", "keys_daily", "days_closed", "failures_daily", "app_models", "app_keys", "deleted_applications"}

// system runs SYSTEM … for every table of a replica.
func (h *replicatedHouse) system(t *testing.T, name, what string) {
	t.Helper()
	conn := h.node(t, name)
	for _, table := range replicatedTables {
		if err := conn.Exec(t.Context(), "SYSTEM "+what+" "+table); err != nil {
			t.Fatalf("%s of %s on %s: %v", what, table, name, err)
		}
	}
}

// rows is what a replica holds of the application of its shard: calls, how many different ones, and what its rollups count.
func (h *replicatedHouse) rows(t *testing.T, shard int, name string) (held [4]int64) {
	t.Helper()
	err := h.node(t, name).QueryRow(t.Context(), `SELECT toInt64(count()), toInt64(uniqExact(call_id)),
		(SELECT toInt64(sum(calls)) FROM usage_daily WHERE application_id = $1),
		(SELECT toInt64(sum(calls)) FROM usage_hourly WHERE application_id = $1)
		FROM calls WHERE application_id = $1`, h.apps[shard]).Scan(&held[0], &held[1], &held[2], &held[3])
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// lacks tells whether a replica of the first shard does not have what another one has. The one through which records
// are inserted has all of them.
func (h *replicatedHouse) lacks(t *testing.T, stopped, current string) bool {
	t.Helper()
	old, all := h.rows(t, 0, stopped)[0], h.rows(t, 0, current)[0]
	t.Logf("the replica whose fetches are stopped has %d calls, the other one %d", old, all)
	return old < all
}

// alike waits until every replica has fetched everything and demands that those of a shard hold the same, each call once.
func (h *replicatedHouse) alike(t *testing.T) {
	t.Helper()
	for shard := range h.load {
		for replica := range 2 {
			name := h.replica(shard, replica)
			h.system(t, name, "SYNC REPLICA")
			if held, want := h.rows(t, shard, name), int64(len(h.load[shard].seen)); held != [4]int64{want, want, want, want} {
				t.Errorf("%s holds %v of %d calls", name, held, want)
			}
		}
	}
}
