package ship_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

func TestCallIsInTheStatisticsWithinTwoSeconds(t *testing.T) {
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	for range 3 {
		before := s.Number(t, `SELECT toInt64(count()) FROM calls`)
		began := time.Now()
		r.Add(callstest.Success(began))
		callstest.Eventually(t, "a call handed over is counted", func() bool {
			return s.Number(t, `SELECT toInt64(count()) FROM calls`) == before+1
		})
		t.Logf("queryable after %s", time.Since(began).Round(time.Millisecond))
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	s.Counted(t) // batches of equal content are not taken for each other
}

func TestEveryFieldArrivesAsItWasHandedOver(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	day := beijing.Today(time.Now()) - 1 // details live 30 days
	at := day.End().Add(-1)
	call := callstest.Failed(at)
	call.Streamed, call.FirstByte, call.UpstreamCode = true, 77*time.Millisecond+999*time.Microsecond, 503
	call.UpstreamID, call.Attempts = "spare", 2
	call.FailedAttempt = calls.FailedAttempt{UpstreamID: "eu", Status: 529, Duration: 51*time.Millisecond + 999*time.Microsecond, Reason: calls.UpstreamStatus}
	id, detail := call.CallID, *call.Failure
	r.Add(call)
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	var got struct {
		start, recorded                                         time.Time
		app, call, user                                         uuid.UUID
		model, day, endedBy, reasonType, reasonCode             string
		duration                                                uint32
		status, upstream                                        uint16
		success, streamed                                       bool
		first                                                   *uint32
		request, response                                       uint64
		message, method, path, body, query, note, batch, batch2 string
		upstreamID, failedUpstreamID, failedReason              string
		attempts                                                uint8
		failedStatus                                            uint16
		failed                                                  uint32
	}
	err := s.Conn.QueryRow(t.Context(), `
		SELECT application_id, start_time, call_id, user_id, model, toString(toDate(start_time)), duration_ms, status_code, success, streamed,
			first_byte_ms, ended_by, reason_type, reason_code, upstream_status, request_bytes, response_bytes, c.batch_id, recorded_at,
			upstream_id, attempts, failed_upstream_id, failed_status, failed_ms, failed_reason,
			message, method, path, request_body, query, body_note, f.batch_id
		FROM calls AS c JOIN call_failures AS f USING (application_id, start_time, call_id)`).Scan(
		&got.app, &got.start, &got.call, &got.user, &got.model, &got.day, &got.duration, &got.status, &got.success, &got.streamed,
		&got.first, &got.endedBy, &got.reasonType, &got.reasonCode, &got.upstream, &got.request, &got.response, &got.batch, &got.recorded,
		&got.upstreamID, &got.attempts, &got.failedUpstreamID, &got.failedStatus, &got.failed, &got.failedReason,
		&got.message, &got.method, &got.path, &got.body, &got.query, &got.note, &got.batch2)
	if err != nil {
		t.Fatal(err)
	}
	if got.app != callstest.Application || got.call != id || got.user != callstest.Owner || got.model != "gpt-4o-mini" {
		t.Errorf("ids %v %v %v %q", got.app, got.call, got.user, got.model)
	}
	if !got.start.Equal(at.Truncate(time.Millisecond)) || got.day != day.String() || got.duration != 1234 {
		t.Errorf("time %v, day %s, duration %d", got.start, got.day, got.duration)
	}
	if age := time.Since(got.recorded); age < -time.Second || age > time.Minute {
		t.Errorf("recorded at %v", got.recorded)
	}
	if got.status != 502 || got.upstream != 503 || got.success || !got.streamed || got.first == nil || *got.first != 77 {
		t.Errorf("outcome %d %d %v %v %v", got.status, got.upstream, got.success, got.streamed, got.first)
	}
	if got.endedBy != "upstream_abort" || got.reasonType != "connection_failed" || got.reasonCode != "upstream_unreachable" {
		t.Errorf("reason %s %s %s", got.endedBy, got.reasonType, got.reasonCode)
	}
	if got.upstreamID != "spare" || got.attempts != 2 || got.failedUpstreamID != "eu" || got.failedStatus != 529 || got.failed != 51 || got.failedReason != "upstream_status" {
		t.Errorf("attempts %q %d %q %d %d %q", got.upstreamID, got.attempts, got.failedUpstreamID, got.failedStatus, got.failed, got.failedReason)
	}
	if got.request != 1024 || got.response != 20480 || got.batch == "" || got.batch != got.batch2 {
		t.Errorf("bytes %d %d, batch %q %q", got.request, got.response, got.batch, got.batch2)
	}
	if got.message != detail.Message || got.method != "POST" || got.path != detail.Path || got.note != "" ||
		got.body != string(detail.RequestBody) || got.query != string(detail.Query) {
		t.Errorf("detail %+v", got)
	}
}

func TestLinesArriveAsTheyWereHandedOver(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	at := time.Now()
	dear, odd := callstest.Lined(at), callstest.Success(at)
	dear.AnswerID, odd.Charged, odd.Usage = "dear", calls.Charge{Amount: "1e30", Currency: "EUR"}, calls.Usage{State: calls.UsageDeferred}
	dear.Charged.Amount = "99999999999999999999999999.1234567890126"
	for _, record := range []*calls.Record{callstest.Lined(at), callstest.Success(at), dear, odd, callstest.Tagged(at)} {
		r.Add(record)
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	var got []string
	rows, err := s.Conn.Query(t.Context(), `SELECT line FROM (SELECT concat(answer_id, ' ', ifNull(toString(reported_cost), '-'), ' ', reported_currency, ' ', usage_state, ' ', upstream_model, ' ', toString(input_tokens), ' ',
		arrayStringConcat(arrayMap((name, value) -> concat(name, '=', value, ' '), tags.name, tags.value)), end_user, arrayStringConcat(arrayMap((m, t, b, name, n) -> concat(m, '/', t, '/', toString(b), '/', name, '=', toString(n)), used.model, used.tier, used.band, used.meter, used.amount), ' ')) AS line
		FROM calls WHERE input_tokens IS NOT NULL
		UNION ALL SELECT concat('no tokens: ', ifNull(toString(reported_cost), '-'), ' ', reported_currency, ' ', usage_state) AS line FROM calls WHERE input_tokens IS NULL) ORDER BY line`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	const lines = " USD reported claude-x 250030 claude-x/priority/200000/input=250000 claude-x/priority/200000/cached_input=1000 claude-x/priority/200000/cache_write=700 " +
		"claude-x/priority/200000/cache_write_5m=300 claude-x/priority/200000/cache_write_1h=400 claude-x/priority/200000/output=90 claude-x/priority/200000/web_searches=2 " +
		"claude-x/priority/200000/cost_reports=1 claude-x/priority/200000/reported_cost=12500000000 adviser//0/input=30 adviser//0/output=7 adviser//0/cost_reports=1"
	want := []string{" -  reported gpt-4o-mini-2024-07-18 1200 ", " -  reported gpt-4o-mini-2024-07-18 1200 feature=rag team=Süd 2 u-7", "dear 99999999999999999999999999.123456789013" + lines, "msg_01 1.250000000001" + lines, "no tokens: - EUR deferred"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestCloseShipsEverythingAndRetiresTheSpool(t *testing.T) {
	s := openStores(t)
	before := goleak.IgnoreCurrent()
	r := s.Record(t, spool.Config{})
	now := time.Now()
	for i := range 5_000 {
		r.Add(callstest.Mixed(now.Add(time.Duration(i)*time.Microsecond), i))
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != 5_000 {
		t.Errorf("%d of 5000 calls are counted after Close", n)
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM call_failures`); n != 500 {
		t.Errorf("%d of 500 details are kept", n)
	}
	spools, err := s.WaitedFor(t.Context())
	if err != nil || len(spools) != 0 {
		t.Errorf("spools after Close: %v, %v", spools, err)
	}
	s.Pool.Reset()
	goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgxpool.(*Pool).backgroundHealthCheck"),
		goleak.IgnoreAnyFunction("github.com/ClickHouse/clickhouse-go/v2.(*idlePool).runDrainPool"))
	r.Add(callstest.Success(now))
	if _, dropped := r.Lost(); dropped != 1 {
		t.Errorf("a record added after Close is counted as dropped %d times", dropped)
	}
}

func TestDetailsMadeBesideTheCallAreCountedOnceAndWhole(t *testing.T) {
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	const count = 2_000
	for i := range count {
		if i%2 == 0 {
			r.Add(callstest.Success(time.Now()))
		} else {
			r.Add(callstest.Refused(time.Now(), i*8))
		}
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != count {
		t.Errorf("%d calls are counted of %d", n, count)
	}
	if n := s.Number(t, `SELECT toInt64(countIf(request_body LIKE '%[REDACTED]%')) FROM call_failures`); n != count/2 {
		t.Errorf("%d details are whole of %d", n, count/2)
	}
	if n := s.Number(t, `SELECT toInt64(countIf(request_body LIKE '%hunter2%')) FROM call_failures`); n != 0 {
		t.Errorf("%d details show a secret", n)
	}
}
