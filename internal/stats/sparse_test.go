package stats

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// together holds the queries that count a day by hour until most of them wait, and counts them.
type together struct {
	asker
	most   int
	mu     sync.Mutex
	asked  int
	enough chan struct{}
}

func (c *together) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	if strings.Contains(query, "usage_hourly") {
		c.mu.Lock()
		if c.asked++; c.asked == c.most {
			close(c.enough)
		}
		c.mu.Unlock()
		select {
		case <-c.enough:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c.asker.Query(ctx, query, args...)
}

// sparse writes twenty days of many calls, among them one of a rare model each.
func (l *callStore) sparse(today beijing.Day, perDay int) (q CallsQuery) {
	l.t.Helper()
	q = CallsQuery{Applications: []uuid.UUID{uuid.New()}, Range: beijing.LastDays(30, today), Page: 1}
	err := l.conn.Exec(l.t.Context(), `INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by)
		SELECT {application:UUID}, fromUnixTimestamp64Milli({start:Int64} - intDiv(number, {calls:Int64}) * 86400000 + number % {calls:Int64} * 1000),
			generateUUIDv4(), if(number % {calls:Int64} = 77, 'rare', 'gpt'), 5, 200, true, 'complete'
		FROM numbers(20 * {calls:UInt64}) SETTINGS max_partitions_per_insert_block = 0`,
		args("application", q.Applications[0], "start", (today-1).Start().UnixMilli(), "calls", perDay)...)
	if err != nil {
		l.t.Fatal(err)
	}
	rare := "rare"
	q.Model = &rare
	return q
}

// TestTheDaysOfASparsePageAreAskedSideBySide: one after another they would never be as many at a time
// as this waits for.
func TestTheDaysOfASparsePageAreAskedSideBySide(t *testing.T) {
	l := newCallStore(t)
	today := arrivals(time.Now())
	q := l.sparse(today, 6_000)
	r := l.reader(time.Now(), "")
	r.limits.day = 5_000
	waiting := &together{asker: r.conn, most: defaultParallel, enough: make(chan struct{})}
	r.conn = waiting
	page, err := r.Calls(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != PageSize || page.Total != 20 || waiting.asked < PageSize {
		t.Errorf("%d of %d calls after %d questions", len(page.Items), page.Total, waiting.asked)
	}
	for i, c := range page.Items {
		if want := beijing.Format((today - 1 - beijing.Day(i)).Start().Add(77 * time.Second)); c.StartTime != want || c.Model != "rare" {
			t.Errorf("call %d is of %s, want %s", i, c.StartTime, want)
		}
	}
	r.conn = waiting.asker
	took := map[int][]time.Duration{}
	for range 7 {
		for _, r.parallel = range []int{1, defaultParallel} {
			began := time.Now()
			if _, err := r.Calls(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			took[r.parallel] = append(took[r.parallel], time.Since(began))
		}
	}
	for _, each := range took {
		slices.Sort(each)
	}
	t.Logf("a sparse page, median of 7: %s one after another, %s side by side", took[1][3], took[defaultParallel][3])
}
