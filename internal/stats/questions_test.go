package stats

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// counted counts the queries of a reader.
type counted struct {
	asker
	like  string // only those that hold this
	asked atomic.Int64
}

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	if strings.Contains(query, c.like) {
		c.asked.Add(1)
	}
	return c.asker.Query(ctx, query, args...)
}

// TestAPageCostsFewQueries: what a query reads is little, what it costs to ask one is the price of a page.
func TestAPageCostsFewQueries(t *testing.T) {
	l := newCallStore(t)
	now := time.Now()
	today := beijing.Today(now)
	random := rand.New(rand.NewPCG(5, 6))
	application := uuid.New()
	var rows []row
	for range 100 { // of the last minutes, and of long ago
		rows = append(rows, randomRow(random, application, "gpt", now.Add(-time.Duration(random.IntN(5*60))*time.Second)),
			randomRow(random, application, "gpt", now.Add(-time.Duration(15*86400+random.IntN(86400))*time.Second)))
	}
	if err := l.arrive(rows); err != nil {
		t.Fatal(err)
	}
	r := l.reader(now, "")
	r.now = time.Now
	conn := &counted{asker: r.conn}
	r.conn = conn
	var until time.Time
	for _, c := range []struct {
		what string
		q    CallsQuery
		most int64
	}{
		{"the first page of a list", CallsQuery{Range: beijing.LastDays(7, today), Page: 1}, 4},
		{"its second page", CallsQuery{Range: beijing.LastDays(7, today), Page: 2, Until: &until}, 4},
		{"a page of days long gone", CallsQuery{Range: beijing.Range{Start: today - 20, End: today - 10}, Page: 1}, 3},
	} {
		c.q.Applications = []uuid.UUID{application}
		conn.asked.Store(0)
		page, err := r.Calls(t.Context(), c.q)
		if err != nil || len(page.Items) != PageSize || page.Total == 0 {
			t.Fatalf("%s: %d of %d calls, %v", c.what, len(page.Items), page.Total, err)
		}
		if asked := conn.asked.Load(); asked > c.most {
			t.Errorf("%s cost %d queries, want at most %d", c.what, asked, c.most)
		}
		until = page.Until
	}
}
