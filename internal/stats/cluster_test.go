package stats

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
	"callgate/internal/fault"
)

// patience is what an answer about a shard that is not there may take, and slack what this machine adds when
// others work on it.
const (
	patience = 3 * time.Second
	slack    = 2 * time.Second
)

// TestAShardThatIsAwayOrHangsIsSaidToBeAndTheOthersAnswersAreRight: never is a part taken for the whole, whichever
// node is asked.
func TestAShardThatIsAwayOrHangsIsSaidToBeAndTheOthersAnswersAreRight(t *testing.T) {
	engines := embedded.OwnCluster(t, 2)
	l := &callStore{t: t, url: engines.ClickHouseURL()}
	options, _, err := cluster.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	if l.conn, err = clickhouse.Open(options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.conn.Close() })
	now := time.Now()
	var applications [2]uuid.UUID
	for shard := range applications {
		for applications[shard] = uuid.New(); cluster.Of(applications[shard], 2) != shard; {
			applications[shard] = uuid.New()
		}
		for i := range 30 {
			c := row{application: applications[shard], start: now.Add(-time.Duration(i) * time.Minute).Truncate(time.Millisecond), model: "gpt", durationMs: 5, status: 500}
			c.id = callID(c.start)
			l.add(c)
		}
	}
	r := l.reader(now, "")
	const refused = true
	for node := range 2 {
		for shard, name := range []string{"clickhouse", "clickhouse2"} {
			r.pool.Prefer(node)
			l.asks(r, applications[shard], !refused)
			l.asks(r, applications[1-shard], !refused)
			up, err := engines.Down(name)
			if err != nil {
				t.Fatal(err)
			}
			l.asks(r, applications[shard], refused)
			l.asks(r, applications[1-shard], !refused)
			if err := up(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.pool.Prefer(node)
			l.asks(r, applications[shard], !refused)

			pid := engines.PIDs()[name]
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			thaw := sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
			t.Cleanup(thaw)
			for range 3 {
				l.asks(r, applications[shard], refused)
				l.asks(r, applications[1-shard], !refused)
			}
			thaw()
		}
	}
}

// asks puts every question about an application. They must be answered in time: with what is right, or with a
// refusal, as must those about all applications.
func (l *callStore) asks(r *Reader, application uuid.UUID, refused bool) {
	l.t.Helper()
	today := beijing.Today(r.now())
	days := beijing.LastDays(7, today)
	q := CallsQuery{Applications: []uuid.UUID{application}, Range: days, Page: 2}
	matching, _ := l.selected(q, 0)
	for what, ask := range map[string]func(context.Context) (int64, error){
		"usage": func(ctx context.Context) (int64, error) {
			u, err := r.Usage(ctx, []uuid.UUID{application}, days)
			return u.Summary.Calls, err
		},
		"totals": func(ctx context.Context) (int64, error) {
			u, err := r.Totals(ctx, []uuid.UUID{application}, days)
			return u[application].Calls, err
		},
		"calls": func(ctx context.Context) (int64, error) {
			p, err := r.Calls(ctx, q)
			return p.Total, err
		},
		"export": func(ctx context.Context) (n int64, err error) {
			err = r.Walk(ctx, q, func(OwnedCall) error { n++; return nil })
			return n, err
		},
		"recount": func(ctx context.Context) (n int64, err error) {
			query := "SELECT toInt64(count()) FROM calls WHERE application_id = {application:UUID} AND " + since("from") + " AND " + before("to")
			pairs := []any{"application", application, "from", days.Start.Start().Unix(), "to", days.End.End().Unix()}
			err = r.Stream(ctx, "recount", query, pairs, func(scan func(...any) error) error { return scan(&n) })
			return n, err
		},
		"failure": func(ctx context.Context) (int64, error) {
			_, err := r.Call(ctx, application, matching[0].id)
			return int64(len(matching)), err
		},
	} {
		began := time.Now()
		n, err := ask(l.t.Context())
		took := time.Since(began)
		switch {
		case !refused && (err != nil || n != int64(len(matching))):
			l.t.Errorf("%s: %d of %d calls after %s, %v", what, n, len(matching), took.Round(time.Millisecond), errors.Unwrap(err))
		case refused && fault.KindOf(err) != fault.Unavailable:
			l.t.Errorf("%s of a shard that is not there: %d, %v", what, n, err)
		}
		if took > patience+slack {
			l.t.Errorf("%s took %s", what, took.Round(time.Millisecond))
		}
	}
	if !refused {
		return
	}
	all := map[uuid.UUID]bool{}
	var ids []uuid.UUID
	for _, c := range l.rows {
		if !all[c.application] {
			all[c.application] = true
			ids = append(ids, c.application)
		}
	}
	if u, err := r.Usage(l.t.Context(), ids, days); fault.KindOf(err) != fault.Unavailable {
		l.t.Errorf("an account with applications on a shard that is not there: %+v, %v", u.Summary, err)
	}
}

// TestAClusterThatIsAwayWhollyIsUnavailable: also before anything is known of it.
func TestAClusterThatIsAwayWhollyIsUnavailable(t *testing.T) {
	r, err := Open(t.Context(), cluster.Address("clickhouse://u:p@127.0.0.1:1,127.0.0.1:2/none", "any"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Usage(t.Context(), []uuid.UUID{uuid.New()}, beijing.LastDays(7, beijing.Today(time.Now()))); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if _, _, err := r.Promise(t.Context(), func(context.Context) (time.Time, error) { return time.Now(), nil }); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
}
