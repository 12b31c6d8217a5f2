package days

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/upkeep"
	"callgate/internal/calls/spool"
	"callgate/internal/days"
	"callgate/internal/leader"
	"callgate/internal/retention"
)

// rows is a Source that counts the calls themselves.
type rows struct{ *stores }

func (r rows) Through(ctx context.Context) (time.Time, error) { return ledger.New(r.Pool).Through(ctx) }

func (r rows) Day(ctx context.Context, day beijing.Day) (figures []days.Application, err error) {
	found, err := r.Conn.Query(ctx, `
		SELECT application_id, toInt64(count()), toInt64(countIf(success)), toInt64(sum(duration_ms)), toInt64(countIf(usage_state = 'reported')),
			toInt64(sum(input_tokens)), toInt64(sum(output_tokens)), toInt64(sum(cached_tokens))
		FROM calls WHERE start_time >= fromUnixTimestamp64Milli($1) AND start_time < fromUnixTimestamp64Milli($2) GROUP BY application_id`, day.Start().UnixMilli(), day.End().UnixMilli())
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		a := days.Application{Owner: callstest.Owner}
		if err := found.Scan(&a.ID, &a.Calls, &a.Successes, &a.DurationMs, &a.Tokens.Reported, &a.Tokens.Input, &a.Tokens.Output, &a.Tokens.Cached); err != nil {
			return nil, err
		}
		a.Costs = []days.Cost{{Currency: "USD", Amount: decimal.New(a.Calls, -10), Priced: a.Calls}}
		var exists bool
		if err := r.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM applications WHERE id = $1)`, a.ID).Scan(&exists); err != nil {
			return nil, err
		}
		if exists {
			figures = append(figures, a)
		}
	}
	return figures, found.Err()
}

// closing is a store whose days are closed from the first on, by whoever has a turn.
type closing struct {
	*stores
	t     testing.TB
	m     *upkeep.Maintenance
	c     *Closer
	first beijing.Day
	apps  []uuid.UUID
}

// maintenance compares rollups with calls when it is asked to.
func maintenance(t testing.TB, s *stores) *upkeep.Maintenance {
	t.Helper()
	m, err := upkeep.New(s.Pool, s.URL, retention.Default, 30*time.Minute, callstest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// openClosing has calls of three applications on each of some days, the last of which is the day before yesterday.
func openClosing(t testing.TB, number int) *closing {
	t.Helper()
	s := openStores(t)
	k := &closing{stores: s, t: t, m: maintenance(t, s), first: beijing.Today(time.Now()) - 1 - beijing.Day(number)}
	var err error
	if k.c, err = newCloser(Config{Pool: s.Pool, ClickHouse: s.URL, Source: rows{s}, Logger: callstest.Quiet}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.c.servers.Close() })
	k.c.quiet = 0
	s.Execute(t, `INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, callstest.Owner)
	for i := range 3 {
		id := uuid.Must(uuid.NewV7())
		s.Execute(t, `INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, $3)`, id, callstest.Owner, fmt.Sprint("app ", i))
		k.apps = append(k.apps, id)
	}
	s.Execute(t, `UPDATE collection SET started_at = $1, days_from = $2`, k.first.Start(), k.first.UTC())
	var records []*calls.Record
	for day := range number {
		for i := range 12 {
			records = append(records, k.call(k.first+beijing.Day(day), i))
		}
	}
	s.Shipped(t, records...)
	return k
}

// call is the i-th of a day.
func (k *closing) call(day beijing.Day, i int) *calls.Record {
	r := callstest.Mixed(day.Start().Add(time.Duration(i)*100*time.Minute), i)
	r.ApplicationID = k.apps[i%len(k.apps)]
	return r
}

// settle compares days until none is due.
func (k *closing) settle() {
	k.t.Helper()
	for range 200 {
		if err := k.m.Reconcile(k.t.Context()); err != nil {
			k.t.Fatal(err)
		}
		var due int
		err := k.Pool.QueryRow(k.t.Context(), `SELECT (SELECT count(*) FROM rollup_doubts) + (SELECT count(*) FROM generate_series((SELECT days_from FROM collection), $1::date, interval '1 day') g
			WHERE NOT EXISTS (SELECT FROM day_checks c WHERE c.day = g::date))`, min(ledger.ClosedDay(time.Now()), beijing.DayOf(must(ledger.New(k.Pool).Through(k.t.Context())))-1).UTC()).Scan(&due)
		if err != nil {
			k.t.Fatal(err)
		}
		if due == 0 {
			return
		}
	}
	k.t.Fatal("days are not settled")
}

// round settles and has one turn.
func (k *closing) round() {
	k.t.Helper()
	k.settle()
	if err := leader.Turn(k.t.Context(), k.Pool, closingLock, k.c.round); err != nil {
		k.t.Fatal(err)
	}
}

// day is how one of the days stands.
func (k *closing) day(i int) Day {
	k.t.Helper()
	all, err := New(k.Pool).List(k.t.Context(), time.Now())
	if err != nil {
		k.t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(d Day) bool { return d.Day == k.first+beijing.Day(i) })
	if at < 0 {
		k.t.Fatalf("day %d is not listed", i)
	}
	return all[at]
}

// must be closed under a revision, with the figures of the rows as they are.
func (k *closing) closed(i, revision int) Day {
	k.t.Helper()
	d := k.day(i)
	want, err := rows{k.stores}.Day(k.t.Context(), d.Day)
	if err != nil {
		k.t.Fatal(err)
	}
	if d.State != Closed || d.Revision != revision || d.Figures == nil || !days.Sum(want).Same(withoutMissing(*d.Figures)) || d.WaitsFor != "" {
		k.t.Fatalf("day %d: %+v %+v, the rows have %+v", i, d, d.Figures, days.Sum(want))
	}
	return d
}

func withoutMissing(f days.Figures) days.Figures { f.Missing = 0; return f }

// events of a day in order: closed 1, reopened 1, …
func (k *closing) events(day beijing.Day) []string {
	k.t.Helper()
	found, err := k.Pool.Query(k.t.Context(), `SELECT kind || ' ' || revision FROM day_events WHERE day = $1 ORDER BY number`, day.UTC())
	if err != nil {
		k.t.Fatal(err)
	}
	events, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		k.t.Fatal(err)
	}
	return events
}

// exported compares the table of data teams with what was kept: each row once.
func (k *closing) exported() {
	k.t.Helper()
	var kept []string
	found, err := k.Pool.Query(k.t.Context(), `SELECT day, revision, application_id, figures FROM day_figures`)
	if err != nil {
		k.t.Fatal(err)
	}
	var day time.Time
	var revision int
	var id uuid.UUID
	var f days.Figures
	_, err = pgx.ForEachRow(found, []any{&day, &revision, &id, &f}, func() error {
		kept = append(kept, fmt.Sprint(day.Format(time.DateOnly), revision, id, f.Calls, f.Successes, f.DurationMs, *f.Tokens.Input, *f.Tokens.Output, f.Costs[0].Amount, f.Missing))
		f = days.Figures{}
		return nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
	var there []string
	asked, err := k.Conn.Query(k.t.Context(), `SELECT toString(day), revision, application_id, calls, successes, duration_ms, ifNull(input_tokens, 0), ifNull(output_tokens, 0), amounts[indexOf(currencies, 'USD')], missing_calls
		FROM days_closed WHERE application_id != toUUID('00000000-0000-0000-0000-000000000000')`)
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = asked.Close() }()
	for asked.Next() {
		var text string
		var revision uint32
		var counts [6]int64
		var amount decimal.Decimal
		if err := asked.Scan(&text, &revision, &id, &counts[0], &counts[1], &counts[2], &counts[3], &counts[4], &amount, &counts[5]); err != nil {
			k.t.Fatal(err)
		}
		there = append(there, fmt.Sprint(text, int(revision), id, counts[0], counts[1], counts[2], counts[3], counts[4], amount, counts[5]))
	}
	slices.Sort(kept)
	slices.Sort(there)
	if !slices.Equal(kept, there) {
		k.t.Errorf("kept\n%s\nexported\n%s", strings.Join(kept, "\n"), strings.Join(there, "\n"))
	}
}

func TestADayWithAGatewayDownOverMidnightIsClosedOnlyWhenItsRecordsAreThere(t *testing.T) {
	t.Parallel()
	k := openClosing(t, 3)
	down, dir := uuid.New(), t.TempDir()
	held := []*calls.Record{k.call(k.first+1, 13), k.call(k.first+1, 14)} // 21:40 and 23:20
	ledgertest.Spooled(t, dir, held...)
	ledgertest.Rename(t, dir, down)
	k.Execute(t, `INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'gateway-2', $2, now() - interval '1 hour')`, down, (k.first + 1).Start().Add(20*time.Hour))
	k.round()
	k.closed(0, 1)
	for i := 1; i < 3; i++ {
		if d := k.day(i); d.State != Open || d.WaitsFor != WaitsForSpools || len(d.HeldBy) != 1 || d.HeldBy[0].ID != down || d.HeldBy[0].Node != "gateway-2" || !d.HeldBy[0].Silent {
			t.Fatalf("day %d: %+v", i, d)
		}
	}
	if err := ledgertest.Shut(k.Record(t, spool.Config{Dir: dir})); err != nil { // it is back
		t.Fatal(err)
	}
	k.round()
	if d := k.closed(1, 1); d.Figures.Calls != 14 || d.Missing.Calls != 0 {
		t.Errorf("%+v", d)
	}
	k.closed(2, 1)
	if today := k.day(4); today.State != Open || today.WaitsFor != WaitsForTime {
		t.Errorf("today: %+v", today)
	}
	for day := k.first; day < k.first+3; day++ {
		if events := k.events(day); !slices.Equal(events, []string{"closed 1"}) {
			t.Errorf("%s: %v", day, events)
		}
	}
	k.exported()
}

func TestADayOfASpoolThatWasRetiredSaysWhatIsMissingAndIsClosedAgainWhenItTurnsUp(t *testing.T) {
	t.Parallel()
	k := openClosing(t, 2)
	lost, dark, dir := uuid.New(), uuid.New(), t.TempDir()
	ledgertest.Spooled(t, dir, k.call(k.first, 13), k.call(k.first, 14))
	ledgertest.Rename(t, dir, lost)
	for _, id := range []uuid.UUID{lost, dark} {
		k.Execute(t, `INSERT INTO spools (id, node, through, updated_at) VALUES ($1, 'gateway-3', $2, now() - interval '1 hour')`, id, k.first.Start().Add(20*time.Hour))
	}
	k.Execute(t, `INSERT INTO gateways (spool_id, host, role, version, started_at, seen_at, held_calls) VALUES ($1, 'gateway-3', 'gateway', '1', $2, $2, $3)`,
		lost, k.first.Start(), map[string]int{k.first.String(): 2})
	k.round()
	if d := k.day(0); d.State != Open || len(d.HeldBy) != 2 {
		t.Fatalf("%+v", d)
	}
	for _, id := range []uuid.UUID{lost, dark} {
		if _, err := ledger.New(k.Pool).Retire(t.Context(), id, "root@example.com"); err != nil {
			t.Fatal(err)
		}
	}
	k.round()
	d := k.closed(0, 1)
	if m := d.Missing; m.Calls != 2 || m.Anyones != 2 || len(m.Spools) != 2 || !m.Unknown() || d.Figures.Missing != 2 || d.Figures.Calls != 12 {
		t.Fatalf("%+v", m)
	}
	for _, s := range d.Missing.Spools {
		if known := s.Calls != nil; known != (s.ID == lost) || s.By != "root@example.com" || s.Node != "gateway-3" || known && *s.Calls != 2 {
			t.Errorf("%+v", s)
		}
	}
	if n := k.Number(t, `SELECT sum(missing_calls) FROM live_days_closed WHERE day = toDate($1) AND missing_unknown`, k.first.String()); n != 2 {
		t.Errorf("%d calls are told to be missing", n)
	}
	if err := ledgertest.Shut(k.Record(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	k.round()
	k.round()
	if d := k.closed(0, 2); d.Figures.Calls != 14 || d.Missing.Calls != 0 || len(d.Missing.Spools) != 1 {
		t.Errorf("%+v %+v", d.Figures, d.Missing)
	}
	if events := k.events(k.first); !slices.Equal(events, []string{"closed 1", "reopened 1", "closed 2"}) {
		t.Errorf("events %v", events)
	}
	k.exported()
}

// away is a Source that cannot be asked.
type away struct{ rows }

func (away) Through(context.Context) (time.Time, error) { return time.Time{}, errors.New("away") }

func TestDaysThatWaitAreCountedWhileNoneCanBeClosed(t *testing.T) {
	t.Parallel()
	k := openClosing(t, 3)
	source := k.c.source
	k.c.source = away{}
	if err := leader.Turn(t.Context(), k.Pool, closingLock, k.c.round); err == nil {
		t.Error("a turn without figures succeeds")
	}
	waiting := testutil.ToFloat64(k.c.metrics.waiting)
	k.c.source = source
	k.round()
	if left := testutil.ToFloat64(k.c.metrics.waiting); waiting < 3 || left >= waiting {
		t.Errorf("%v days wait, then %v", waiting, left)
	}
}

func TestARecordThatIsDaysLateReopensItsDayAndSaysSo(t *testing.T) {
	t.Parallel()
	k := openClosing(t, 3)
	k.round()
	before := k.closed(0, 1)
	k.Shipped(t, k.call(k.first, 13))
	k.round()
	d := k.day(0)
	if d.State != Reopened || d.Revision != 1 || d.WaitsFor != WaitsForCheck || !d.ClosedAt.Equal(*before.ClosedAt) || d.Since.Before(*before.Since) {
		t.Fatalf("%+v", d)
	}
	var found []byte
	if err := k.Pool.QueryRow(t.Context(), `SELECT found FROM day_events WHERE kind = 'reopened'`).Scan(&found); err != nil {
		t.Fatal(err)
	}
	var told map[string]int64
	if err := json.Unmarshal(found, &told); err != nil || told["callsBefore"] != 12 || told["calls"] != 13 {
		t.Errorf("%s", found)
	}
	k.c.quiet = time.Hour // more may come
	k.round()
	if d := k.day(0); d.State != Reopened {
		t.Fatalf("%+v", d)
	}
	k.c.quiet = 0
	k.round()
	if d := k.closed(0, 2); d.Figures.Calls != 13 {
		t.Errorf("%+v", d.Figures)
	}
	for i := 1; i < 3; i++ {
		k.closed(i, 1)
	}
	if events := k.events(k.first); !slices.Equal(events, []string{"closed 1", "reopened 1", "closed 2"}) {
		t.Errorf("events %v", events)
	}
	k.exported()
	if n := k.Number(t, `SELECT sum(calls) FROM live_days_closed WHERE day = toDate($1)`, k.first.String()); n != 13 {
		t.Errorf("the view counts %d calls", n)
	}
}

func TestWhatChangesNoFigureReopensNoDay(t *testing.T) {
	t.Parallel()
	k := openClosing(t, 2)
	k.round()
	k.Execute(t, `DELETE FROM applications WHERE id = $1`, k.apps[0]) // its figures vanish
	k.Execute(t, `INSERT INTO rollup_doubts (day, noted_at) VALUES ($1, now() - interval '1 second')`, k.first.UTC())
	k.round()
	if d := k.day(0); d.State != Closed || d.Revision != 1 {
		t.Errorf("%+v", d)
	}
	k.Execute(t, `INSERT INTO dropped_calls (day, application_id, spool_id, calls) VALUES ($1, $2, $3, 5)`, k.first.UTC(), k.apps[1], uuid.New())
	k.round()
	k.round()
	if d := k.closed(0, 2); d.Missing.Calls != 5 || d.Figures.Missing != 5 {
		t.Errorf("what is missing reopens a day: %+v", d)
	}
}

func TestADayOfShardsIsExportedToEachOnce(t *testing.T) {
	t.Parallel()
	s, _, applications := twoShards(t)
	k := &closing{stores: s, t: t, m: maintenance(t, s), first: beijing.Today(time.Now()) - 3, apps: applications}
	var err error
	if k.c, err = newCloser(Config{Pool: s.Pool, ClickHouse: s.URL, Source: rows{s}, Logger: callstest.Quiet}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.c.servers.Close() })
	s.Execute(t, `INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, callstest.Owner)
	for _, id := range applications {
		s.Execute(t, `INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'a')`, id, callstest.Owner)
	}
	s.Execute(t, `UPDATE collection SET started_at = $1, days_from = $2`, k.first.Start(), k.first.UTC())
	var records []*calls.Record
	for i := range 12 {
		records = append(records, k.call(k.first, i))
	}
	s.Shipped(t, records...)
	k.round()
	k.closed(0, 1)
	k.Execute(t, `UPDATE day_revisions SET exported_at = NULL`) // as if it was killed
	k.round()
	k.exported()
	if n := k.Number(t, `SELECT toInt64(count()) FROM days_closed WHERE revision = 1 AND day = toDate($1) AND application_id = toUUID('00000000-0000-0000-0000-000000000000')`, k.first.String()); n != 1 {
		t.Errorf("%d rows of the day itself", n)
	}
}

// closeChild has turns until it is killed.
func closeChild(arguments []string) {
	s := &stores{ledgertest.ChildStores(arguments[0], arguments[1])}
	c, err := newCloser(Config{Pool: s.Pool, ClickHouse: s.URL, Source: rows{s}, Logger: callstest.Quiet})
	if err != nil {
		panic(err)
	}
	c.quiet = 0
	for n := 1; ; n++ {
		fmt.Printf("%d\n%d\n", n, n)
		_ = leader.Turn(context.Background(), s.Pool, closingLock, c.round) // another one's turn, or broken off
	}
}

func TestOfSeveralConsolesOneCloses(t *testing.T) {
	t.Parallel()
	k := openClosing(t, 3)
	k.settle()
	var consoles []*Closer
	for range 3 {
		c, err := Start(Config{Pool: k.Pool, ClickHouse: k.URL, Source: rows{k.stores}, Logger: callstest.Quiet})
		if err != nil {
			t.Fatal(err)
		}
		consoles = append(consoles, c)
	}
	callstest.Eventually(t, "three days are closed and exported", func() bool {
		var exported int
		err := k.Pool.QueryRow(t.Context(), `SELECT count(*) FROM day_revisions WHERE exported_at IS NOT NULL AND day < $1`, (k.first + 3).UTC()).Scan(&exported)
		return err == nil && exported == 3
	})
	for _, c := range consoles {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range 3 {
		k.closed(i, 1)
	}
	k.exported()
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
