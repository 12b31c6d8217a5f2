package console

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/catalog"
	"callgate/internal/secret"
	"callgate/internal/stats"
)

// verify runs a verification of the last 30 days without its long patience.
func (w *watcher) verify(reader *stats.Reader) (Verification, string) {
	w.t.Helper()
	var out strings.Builder
	v := &verifier{out: &out, attempts: 3, pause: 20 * time.Millisecond, console: New(Deps{
		Applications: application.New(w.pool, nil, secret.Pepper{}), Catalog: catalog.New(w.pool, nil, false),
		Pool: w.pool, Stats: reader, Ledger: ledger.New(w.pool),
	})}
	owners, err := v.console.Applications.Owners(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := v.run(w.t.Context(), owners, beijing.LastDays(30, beijing.Today(time.Now()))); err != nil {
		w.t.Fatalf("%v\n%s", err, out.String())
	}
	return v.Verification, out.String()
}

// populated is a watcher with two accounts, and the reader of its statistics.
func populated(t *testing.T) (w *watcher, reader *stats.Reader, busy string) {
	t.Helper()
	w = newWatcher(t)
	w.seed("gpt", "claude")
	ada, eve := w.developer("ada"), w.developer("eve")
	busy = w.application(ada, "busy")
	w.application(ada, "never called")
	theirs := w.application(eve, "theirs")
	gone := w.application(eve, "deleted")
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, reason_type, reason_code, upstream_status)
		SELECT $1, fromUnixTimestamp64Milli($2 - number * number * 600000) AS start,
			toUUID(format('{}-{}-7000-8000-{}', left(leftPad(hex(toUInt64($2 - number * number * 600000)), 12, '0') AS ms, 8), right(ms, 4), leftPad(hex(number), 12, '0'))), ['gpt', 'claude', ''][number % 3 + 1],
			pow(2, number % 18) + number, if(number % 4 = 3, 502, 200) AS status, status = 200, 'complete',
			if(status = 200, '', 'upstream_http_error'), if(status = 200, '', 'upstream_status'), status
		FROM numbers(57)`, busy, w.now.UnixMilli()) // 22 days, most of them today
	w.called(theirs, "gpt", time.Hour, 77, 200)
	w.called(gone, "gpt", time.Hour, 77, 200)
	eve.must(200, "DELETE", "/api/applications/"+gone, "")
	reader, err := stats.Open(t.Context(), w.clickhouseURL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	return w, reader, busy
}

func TestVerifyFindsNothingWhereEveryStatisticIsRight(t *testing.T) {
	w, reader, _ := populated(t)
	got, out := w.verify(reader)
	if want := (Verification{Accounts: 2, Applications: 3, Calls: 58}); got != want {
		t.Errorf("%+v, want %+v\n%s", got, want, out)
	}
}

func TestVerifyNamesEveryStatisticThatIsWrong(t *testing.T) {
	for name, planted := range map[string]struct{ statement, says string }{
		"a rollup row too many": {`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms, durations)
			VALUES ($1, toDate(now(), 'Asia/Shanghai'), 'gpt', 1, 1, 5, ([5], [1]))`, ".calls: "},
		"a duration too long": {`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms, durations)
			VALUES ($1, toDate(now(), 'Asia/Shanghai'), 'gpt', 0, 0, 5000000, ([], []))`, ".avgDurationMs: "},
		"a histogram that slipped": {`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms, durations)
			VALUES ($1, toDate(now(), 'Asia/Shanghai'), 'gpt', 0, 0, 0, ([500], [1000]))`, ".p50Ms: "},
		"a model too many": {`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms, durations)
			VALUES ($1, toDate(now(), 'Asia/Shanghai'), 'ghost', 1, 0, 0, ([0], [1]))`, "models: 4 are answered, the rows give 3"},
		"an unknown historical model": {`ALTER TABLE app_models DELETE WHERE application_id = $1 SETTINGS mutations_sync = 1`, ".models: 0 are answered, the rows give 3"},
		"rows without their rollups":  {`ALTER TABLE usage_daily DELETE WHERE application_id = $1 SETTINGS mutations_sync = 1`, "summary.calls: 0 is answered, the rows give 57"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, reader, busy := populated(t)
			w.exec(planted.statement, busy)
			got, out := w.verify(reader)
			if got.Differences == 0 || !strings.Contains(out, planted.says) {
				t.Errorf("%+v, %q is not in\n%s", got, planted.says, out)
			}
			if lines := strings.Count(out, "\n"); lines != 1+got.Differences && lines != 2+verifyLines {
				t.Errorf("%d differences in %d lines", got.Differences, lines)
			}
		})
	}
}

func TestVerifyWhileCallsArriveNeverTakesThemForDifferences(t *testing.T) {
	w, reader, busy := populated(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var arriving sync.WaitGroup
	var arrived int
	arriving.Go(func() {
		for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			_, err := w.clickhouse.ExecContext(t.Context(), `INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success)
				SELECT $1, now64(3) - number, generateUUIDv7(number), 'gpt', 5, 200, true FROM numbers(3)`, busy)
			if err != nil {
				t.Error(err)
				return
			}
			arrived++
		}
	})
	if got, out := w.verify(reader); got.Differences != 0 {
		t.Errorf("%+v\n%s", got, out)
	}
	cancel()
	arriving.Wait()
	got, out := w.verify(reader)
	if got.Differences != 0 || got.Moving != 0 || arrived == 0 {
		t.Errorf("after %d inserts: %+v\n%s", arrived, got, out)
	}
	t.Logf("%d inserts while it ran", arrived)
}
