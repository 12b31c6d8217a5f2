package stats

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/embedded"
	"callgate/internal/fault"
	"callgate/internal/retention"
)

func failedRow(application uuid.UUID, start time.Time) row {
	c := randomRow(rand.New(rand.NewPCG(3, 4)), application, "gpt", start)
	c.success, c.status, c.endedBy, c.reasonType, c.reasonCode, c.upstream = false, 502, "complete", "upstream_http_error", "upstream_status", 502
	return c
}

func TestAFailedCallTellsWhatWasKeptOfIt(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	r := l.reader(now, "")
	application := uuid.New()
	c := failedRow(application, now.Add(-time.Minute))
	l.add(c)
	l.addDetail(detail{c, "model overloaded", "POST", "/v1/chat/completions", `{"model":"m","n":1}`, `{"model":"gpt"}`, ""})
	got, err := r.Call(t.Context(), application, c.id)
	if err != nil {
		t.Fatal(err)
	}
	f := got.Failure
	if got.CallID != c.id || got.StartTime != beijing.Format(c.start) || got.StatusCode != 502 || got.Success {
		t.Errorf("%+v", got.Call)
	}
	if !f.Collected || f.Reason == nil || f.Reason.Type != "upstream_http_error" || f.Reason.Code != "upstream_status" ||
		*f.Reason.Message != "model overloaded" || *f.Reason.UpstreamStatus != 502 {
		t.Errorf("%+v, reason %+v", f, f.Reason)
	}
	if *f.Request != (FailureRequest{"POST", "/v1/chat/completions"}) || string(f.RequestBody) != `{"model":"m","n":1}` ||
		string(f.Query) != `{"model":"gpt"}` || f.BodyNote != nil {
		t.Errorf("%+v", f)
	}
}

func TestANoteStandsInForABodyThatIsNotKept(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	application := uuid.New()
	c := failedRow(application, now.Add(-time.Minute))
	c.upstream = 0
	l.add(c)
	l.addDetail(detail{c, "", "POST", "/v1", "", `{}`, "too_large"})
	got, err := l.reader(now, "").Call(t.Context(), application, c.id)
	if err != nil {
		t.Fatal(err)
	}
	if f := got.Failure; !f.Collected || f.RequestBody != nil || *f.BodyNote != "too_large" || f.Reason.Message != nil || f.Reason.UpstreamStatus != nil {
		t.Errorf("%+v", f)
	}
}

func TestADetailPastItsTimeToLiveIsExpiredAndKeepsItsReason(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	r := l.reader(now, "")
	application := uuid.New()
	edge := (beijing.Today(now) - beijing.Day(retention.Default.Failures)).End() // first moment of the oldest day that is kept
	kept, gone := failedRow(application, edge), failedRow(application, edge.Add(-time.Millisecond))
	l.add(kept, gone)
	l.addDetail(detail{call: kept, message: "why", method: "POST", path: "/", query: "{}", note: "empty"})
	if got, err := r.Call(t.Context(), application, kept.id); err != nil || *got.Failure.BodyNote != "empty" {
		t.Errorf("kept: %+v, %v", got.Failure, err)
	}
	got, err := r.Call(t.Context(), application, gone.id)
	if err != nil {
		t.Fatal(err)
	}
	f := got.Failure
	if !f.Collected || *f.BodyNote != "expired" || f.Request != nil || f.Reason.Code != "upstream_status" || f.Reason.Message != nil {
		t.Errorf("expired: %+v", f)
	}
}

func TestAFailureWithoutDetailSaysThatNothingWasCollected(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	r := l.reader(now, "")
	application := uuid.New()
	dropped, older := failedRow(application, now.Add(-time.Hour)), failedRow(application, now.Add(-time.Hour))
	older.reasonType, older.reasonCode = "", ""
	l.add(dropped, older)
	got, err := r.Call(t.Context(), application, dropped.id)
	if err != nil || got.Failure.Collected || got.Failure.Reason.Type != "upstream_http_error" {
		t.Errorf("detail dropped: %+v, %v", got.Failure, err)
	}
	got, err = r.Call(t.Context(), application, older.id)
	if err != nil || got.Failure.Collected || got.Failure.Reason != nil {
		t.Errorf("before reasons were recorded: %+v, %v", got.Failure, err)
	}
}

func TestACallIsFoundByItsOwnApplicationOnly(t *testing.T) {
	l := newCallStore(t)
	now := clocks()[0]
	r := l.reader(now, "")
	application := uuid.New()
	old := failedRow(application, retention.Default.StatisticsFrom(beijing.Today(now)).Start().Add(-time.Millisecond))
	ok, failed := randomRow(rand.New(rand.NewPCG(1, 1)), application, "gpt", now), failedRow(application, now)
	ok.success = true
	l.add(old, ok, failed)
	f := func(application, call uuid.UUID, want fault.Kind) {
		t.Helper()
		if _, err := r.Call(t.Context(), application, call); fault.KindOf(err) != want {
			t.Errorf("%v, want kind %d", err, want)
		}
	}
	f(application, ok.id, fault.NoFailureDetail)
	f(uuid.New(), ok.id, fault.NotFound)
	f(uuid.New(), failed.id, fault.NotFound)
	f(application, callID(now), fault.NotFound)
	f(application, uuid.New(), fault.NotFound) // not a UUIDv7
	f(application, uuid.Nil, fault.NotFound)
	f(application, uuid.Max, fault.NotFound)
	f(application, uuid.MustParse("ffffffff-ffff-7fff-bfff-ffffffffffff"), fault.NotFound)
	f(application, old.id, fault.NotFound)
}

func TestAStoreThatIsDownIsUnavailableAndDoesNotStopTheStart(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close() // nobody listens there now
	for _, scheme := range []string{"clickhouse", "http"} {
		r, err := Open(t.Context(), scheme+"://user:canary@"+address+"/db", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		days := beijing.LastDays(7, beijing.Today(time.Now()))
		_, usage := r.Usage(t.Context(), []uuid.UUID{uuid.New()}, days)
		_, totals := r.Totals(t.Context(), []uuid.UUID{uuid.New()}, days)
		_, page := r.Calls(t.Context(), CallsQuery{Applications: []uuid.UUID{uuid.New()}, Range: days, Page: 1})
		_, call := r.Call(t.Context(), uuid.New(), callID(time.Now()))
		walk := r.Walk(t.Context(), CallsQuery{Applications: []uuid.UUID{uuid.New()}, Range: days}, func(OwnedCall) error { return nil })
		for i, err := range []error{usage, totals, page, call, walk} {
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter <= 0 {
				t.Errorf("%s, question %d: %v", scheme, i, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Open(t.Context(), "clickhouse://user:canary@[", nil); err == nil {
		t.Error("a malformed address was taken")
	}
}

func TestAnswersComeBackWithTheStore(t *testing.T) {
	engines := embedded.Own(t)
	r, err := Open(t.Context(), engines.ClickHouseURL(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	today := beijing.Today(time.Now())
	applications := make([]uuid.UUID, 20) // where there are shards, some of each
	for i := range applications {
		applications[i] = uuid.New()
	}
	ask := func() error {
		_, page := r.Calls(t.Context(), CallsQuery{Applications: []uuid.UUID{uuid.New()}, Range: beijing.LastDays(7, today), Page: 1})
		_, usage := r.Usage(t.Context(), applications, beijing.LastDays(7, today))
		return errors.Join(page, usage)
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	up, err := engines.Down("clickhouse")
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("while it is down: %v", err)
	}
	if err := up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ask(); err != nil {
		t.Errorf("the first question after it is back: %v", err)
	}
}
