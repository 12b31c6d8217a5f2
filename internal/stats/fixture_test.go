package stats

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// row is one call as the tests put it into ClickHouse.
type row struct {
	application uuid.UUID
	id          uuid.UUID
	start       time.Time
	model       string
	durationMs  uint32
	status      uint16
	success     bool
	streamed    bool
	firstByteMs *uint32
	endedBy     string
	reasonType  string
	reasonCode  string
	upstream    uint16
}

func (c row) day() beijing.Day { return beijing.DayOf(c.start) }

// asCall is what the API must say of it.
func (c row) asCall() OwnedCall {
	call := OwnedCall{Application: c.application, Call: Call{
		CallID: c.id, StartTime: beijing.Format(c.start), Model: c.model, Success: c.success, StatusCode: c.status,
		DurationMs: c.durationMs, EndedBy: c.endedBy, Streamed: c.streamed, FirstByteMs: c.firstByteMs,
	}}
	if c.reasonType != "" {
		call.Reason = &FailureReason{Type: c.reasonType, Code: c.reasonCode}
		if c.upstream != 0 {
			call.Reason.UpstreamStatus = &c.upstream
		}
	}
	return call
}

// detail is one row of call_failures.
type detail struct {
	call                                     row
	message, method, path, body, query, note string
}

// callStore is the oracle: the calls in a Go slice, and the same calls in ClickHouse.
type callStore struct {
	t    testing.TB
	url  string
	conn driver.Conn
	rows []row
}

func newCallStore(t testing.TB) *callStore {
	t.Helper()
	url := embedded.ClickHouse(t)
	options, _, err := cluster.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &callStore{t: t, url: url, conn: conn}
}

// reader opens a Reader whose clock stands at now.
func (l *callStore) reader(now time.Time, settings string) *Reader {
	l.t.Helper()
	r, err := Open(context.Background(), embedded.WithSettings(l.url, settings), slog.New(slog.DiscardHandler))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = r.Close() })
	r.now = func() time.Time { return now }
	return r
}

func (l *callStore) add(rows ...row) {
	l.t.Helper()
	l.rows = append(l.rows, rows...)
	if err := insert(l.conn, rows); err != nil {
		l.t.Fatal(err)
	}
}

// insert takes any number of days at once, unlike the shipper.
func insert(conn driver.Conn, rows []row) error {
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	batch, err := conn.PrepareBatch(ctx, `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms,
		status_code, success, streamed, first_byte_ms, ended_by, reason_type, reason_code, upstream_status,
		request_bytes, response_bytes, batch_id)`)
	if err != nil {
		return err
	}
	for _, c := range rows {
		err := batch.Append(c.application, c.start, c.id, uuid.Nil, c.model, c.durationMs, c.status, c.success, c.streamed,
			c.firstByteMs, c.endedBy, c.reasonType, c.reasonCode, c.upstream, uint64(1), uint64(1), "batch")
		if err != nil {
			return err
		}
	}
	return batch.Send()
}

func (l *callStore) addDetail(d detail) {
	l.t.Helper()
	err := l.conn.Exec(context.Background(), `INSERT INTO call_failures
		(application_id, start_time, call_id, message, method, path, request_body, query, body_note, batch_id)
		VALUES ({application:UUID}, fromUnixTimestamp64Milli({start:Int64}), {call:UUID}, {message:String}, {method:String},
		{path:String}, {body:String}, {query:String}, {note:String}, 'batch')`,
		args("application", d.call.application, "start", d.call.start.UnixMilli(), "call", d.call.id, "message", d.message,
			"method", d.method, "path", d.path, "body", d.body, "query", d.query, "note", d.note)...)
	if err != nil {
		l.t.Fatal(err)
	}
}

// callID is a UUIDv7 of the start millisecond.
func callID(start time.Time) uuid.UUID {
	id := uuid.New()
	ms := uint64(start.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = id[6]&0x0f | 0x70
	return id
}

// randomRow makes a call of one of the models that started at start.
func randomRow(random *rand.Rand, application uuid.UUID, model string, start time.Time) row {
	start = start.Truncate(time.Millisecond)
	c := row{application: application, id: callID(start), start: start, model: model, status: 200, success: true,
		endedBy: "complete", streamed: random.IntN(3) == 0, durationMs: uint32(math.Exp(random.Float64() * 15))}
	if random.IntN(2) == 0 {
		c.firstByteMs = &c.durationMs
	}
	if random.IntN(4) == 0 {
		c.success, c.status, c.endedBy, c.reasonType, c.reasonCode = false, 499, "client_abort", "interrupted", "client_closed"
	}
	return c
}

// selected are the calls of a query, newest first, in the order ClickHouse gives to UUIDs.
func (l *callStore) selected(q CallsQuery, from beijing.Day) (matching []row, summary CallsSummary) {
	for _, c := range l.rows {
		if !slices.Contains(q.Applications, c.application) || !q.Range.Contains(c.day()) || c.day() < from || q.Model != nil && c.model != *q.Model {
			continue
		}
		summary.Calls++
		if c.success {
			summary.Successes++
		} else {
			summary.Failures++
		}
		if q.Result == AnyResult || c.success == (q.Result == OnlySuccesses) {
			matching = append(matching, c)
		}
	}
	slices.SortFunc(matching, func(a, b row) int {
		return cmp.Or(b.start.Compare(a.start), bytes.Compare(b.id[8:], a.id[8:]), bytes.Compare(b.id[:8], a.id[:8]))
	})
	return matching, summary
}

// metrics are the figures of some calls and their exact percentiles.
func metrics(rows []row) (m Metrics, exact [3]int64) {
	var sum int64
	durations := make([]int64, len(rows))
	for i, c := range rows {
		durations[i] = int64(c.durationMs)
		sum += durations[i]
		if c.success {
			m.Successes++
		}
	}
	m.Calls = int64(len(rows))
	m.Failures = m.Calls - m.Successes
	if len(rows) == 0 {
		return m, exact
	}
	slices.Sort(durations)
	for i, p := range []int{50, 95, 99} {
		exact[i] = durations[(p*len(rows)+99)/100-1]
	}
	rate := math.Floor(float64(m.Successes)/float64(m.Calls)*10_000+1e-9) / 10_000
	average := math.Floor(float64(sum)/float64(m.Calls)*10+0.5) / 10
	m.SuccessRate, m.AvgDurationMs = &rate, &average
	return m, exact
}

// sameMetrics compares exactly, percentiles within 2 %.
func sameMetrics(t *testing.T, what string, got Metrics, rows []row) {
	t.Helper()
	want, exact := metrics(rows)
	if got.Calls != want.Calls || got.Successes != want.Successes || got.Failures != want.Failures ||
		!sameFloat(got.SuccessRate, want.SuccessRate) || !sameFloat(got.AvgDurationMs, want.AvgDurationMs) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
	for i, p := range []*int64{got.P50Ms, got.P95Ms, got.P99Ms} {
		if (p == nil) != (len(rows) == 0) {
			t.Errorf("%s: percentile %d is %v for %d calls", what, i, p, len(rows))
		} else if p != nil && math.Abs(float64(*p-exact[i])) > 0.02*float64(exact[i]) {
			t.Errorf("%s: percentile %d is %d, exactly %d", what, i, *p, exact[i])
		}
	}
}

func sameFloat(a, b *float64) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
