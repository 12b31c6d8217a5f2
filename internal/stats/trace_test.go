package stats

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

// addTraced puts rows into the store that belong to a trace.
func (l *callStore) addTraced(trace string, rows ...row) {
	l.t.Helper()
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	batch, err := l.conn.PrepareBatch(ctx, `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success,
		ended_by, batch_id, trace_id)`)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, c := range rows {
		if err := batch.Append(c.application, c.start, c.id, uuid.Nil, c.model, c.durationMs, c.status, c.success, c.endedBy, "batch", trace); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		l.t.Fatal(err)
	}
}

// TestTheCallsOfATraceAreFoundByIt against a plain slice: every page, each filter, other applications'
// calls of the same trace left out.
func TestTheCallsOfATraceAreFoundByIt(t *testing.T) {
	l := newCallStore(t)
	now, random := time.Now().Truncate(time.Second), rand.New(rand.NewPCG(1, 2))
	application, other := uuid.New(), uuid.New()
	trace := strings.Repeat("4b", 16)
	var mine []row
	for i := range 47 {
		r := randomRow(random, application, []string{"gpt", "claude"}[i%2], now.Add(-time.Duration(i*i)*time.Minute))
		mine = append(mine, r)
		l.add(randomRow(random, application, "gpt", now.Add(-time.Duration(i)*time.Hour)))
	}
	l.addTraced(trace, mine...)
	l.addTraced(trace, randomRow(random, other, "gpt", now))
	l.addTraced(strings.Repeat("5c", 16), randomRow(random, application, "gpt", now))
	r := l.reader(now.Add(time.Minute), "")
	model := mine[0].model
	for _, q := range []CallsQuery{{}, {Result: OnlyFailures}, {Result: OnlySuccesses}, {Model: &model}} {
		q.Applications, q.TraceID, q.Range = []uuid.UUID{application}, trace, beijing.LastDays(7, beijing.Today(now))
		var want []string
		for _, c := range mine {
			if (q.Model == nil || c.model == *q.Model) && (q.Result == AnyResult || c.success == (q.Result == OnlySuccesses)) {
				want = append(want, c.id.String())
			}
		}
		t.Run(fmt.Sprintf("%s %v", q.Result, q.Model != nil), func(t *testing.T) {
			if got := l.pagesOf(t, r, q); !slices.Equal(got, want) {
				t.Errorf("pages hold %v, want %v", got, want)
			}
			var exported []string
			err := r.Walk(t.Context(), q, func(c OwnedCall) error { exported = append(exported, c.CallID.String()); return nil })
			if err != nil || !slices.Equal(exported, want) {
				t.Errorf("the export holds %v, %v, want %v", exported, err, want)
			}
		})
	}
	at := mine[25].start
	page, err := r.Calls(t.Context(), CallsQuery{Applications: []uuid.UUID{application}, TraceID: trace, Range: beijing.LastDays(7, beijing.Today(now)), Page: 1, At: &at})
	if err != nil || page.Page != 3 || page.Items[5].CallID != mine[25].id {
		t.Errorf("the page of %v is %d, %v", at, page.Page, err)
	}
}

// pagesOf reads every page of a query.
func (l *callStore) pagesOf(t *testing.T, r *Reader, q CallsQuery) (ids []string) {
	t.Helper()
	for q.Page = 1; ; q.Page++ {
		page, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, q, page)
		if len(page.Items) == 0 {
			return ids
		}
		for _, c := range page.Items {
			ids = append(ids, c.CallID.String())
		}
	}
}
