package verify

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/embedded"
	"callgate/internal/openapi"
	"callgate/internal/retention"
)

func TestVerifyFindsNothingWhereEveryStatisticIsRight(t *testing.T) {
	w, busy := populated(t)
	w.lined(busy)
	got, out := w.verify()
	if want := (Result{Accounts: 2, Applications: 3, Calls: 78}); got != want {
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
		"tokens too many": {`INSERT INTO tokens_daily (application_id, day, model, upstream_model, input)
			VALUES ($1, toDate(now(), 'Asia/Shanghai'), 'gpt', 'gpt-x', 5)`, ".tokens.input: "},
		"a cost too high": {`INSERT INTO tokens_daily (application_id, day, model, upstream_model, output)
			VALUES ($1, toDate(now(), 'Asia/Shanghai') - 5, 'gpt', '', 1)`, ".amount: "},
		"a meter too much": {`INSERT INTO meters_daily (application_id, day, model, upstream_model, tier, meter, amount)
			VALUES ($1, toDate(now(), 'Asia/Shanghai') - 5, 'gpt', 'gpt-x', 'flex', 'cached_input', 1), ($1, toDate(now(), 'Asia/Shanghai') - 5, 'gpt', 'gpt-x', 'flex', 'output', 1)`, ".amount: "},
		"a call of a key too many": {`INSERT INTO keys_daily (application_id, key_id, day, model, meter, amount)
			VALUES ($1, '00000000-0000-0000-0000-000000000001', toDate(now(), 'Asia/Shanghai'), 'gpt', 'total', 1)`, ` 00000000-0000-0000-0000-000000000001 of "gpt": total: `},
		"a key's use of something": {`INSERT INTO keys_daily (application_id, key_id, day, model, upstream_model, tier, band, meter, amount)
			VALUES ($1, '00000000-0000-0000-0000-000000000009', toDate(now(), 'Asia/Shanghai'), 'gpt', 'gpt-x', 'flex', 200000, 'pages', 3)`, ` used of "gpt-x" "flex" 200000: pages: 3 is kept, the rows give 0`},
		"keys without their calls": {`ALTER TABLE keys_daily DELETE WHERE application_id = $1 AND meter = 'input' SETTINGS mutations_sync = 1`, ": input: 0 is kept, the rows give "},
		"a state counted twice": {`INSERT INTO tokens_daily (application_id, day, model, upstream_model, absent)
			VALUES ($1, toDate(now(), 'Asia/Shanghai'), 'claude', '', 1)`, ".tokens.absentCalls: "},
		"a failure under another reason": {`INSERT INTO failures_daily
			SELECT application_id, day, model, status_code, r.1, r.2, upstream_status, r.3, first_seen, last_seen
			FROM failures_daily ARRAY JOIN [('overloaded', 'overloaded', 1), ('upstream_http_error', 'upstream_status', -1)] AS r
			WHERE application_id = $1`, "reasons: overloaded overloaded"},
		"an unknown historical model": {`ALTER TABLE app_models DELETE WHERE application_id = $1 SETTINGS mutations_sync = 1`, ".models: 0 are answered, the rows give 3"},
		"rows without their rollups":  {`ALTER TABLE usage_daily DELETE WHERE application_id = $1 SETTINGS mutations_sync = 1`, "summary.calls: 0 is answered, the rows give 57"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, busy := populated(t)
			if strings.HasPrefix(planted.statement, "ALTER") {
				embedded.OnShards(t, w.url, planted.statement, busy)
			} else {
				w.exec(planted.statement, busy)
			}
			got, out := w.verify()
			if got.Differences == 0 || !strings.Contains(out, planted.says) {
				t.Errorf("%+v, %q is not in\n%s", got, planted.says, out)
			}
			if lines := strings.Count(out, "\n"); lines != 1+got.Differences && lines != 2+maxLines && lines != 3+2*maxLines {
				t.Errorf("%d differences in %d lines", got.Differences, lines)
			}
		})
	}
}

func TestVerifyWhileCallsArriveNeverTakesThemForDifferences(t *testing.T) {
	w, busy := populated(t)
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
	if got, out := w.verify(); got.Differences != 0 {
		t.Errorf("%+v\n%s", got, out)
	}
	cancel()
	arriving.Wait()
	got, out := w.verify()
	if got.Differences != 0 || got.Moving != 0 || arrived == 0 {
		t.Errorf("after %d inserts: %+v\n%s", arrived, got, out)
	}
	t.Logf("%d inserts while it ran", arrived)
}

// TestOnlyCallsThatAreKeptAreRecounted: figures go back further, and what is left of older calls is none of them.
func TestOnlyCallsThatAreKeptAreRecounted(t *testing.T) {
	w, busy := populated(t)
	kept, today := retention.Days{Statistics: 90, Calls: 3, Failures: 1}, beijing.Today(time.Now())
	v := &verifier{Deps: w.deps}
	all, err := v.recount(w.Ctx, busy, beijing.LastDays(30, today))
	if err != nil {
		t.Fatal(err)
	}
	w.deps.Stats.Keep(kept)
	got, err := v.recount(w.Ctx, busy, beijing.LastDays(30, today))
	if err != nil {
		t.Fatal(err)
	}
	within := beijing.Range{Start: kept.CallsFrom(today), End: today}
	if calls := got.summary().Calls; calls == 0 || calls == all.summary().Calls || calls != all.within(within).Calls || !got.all(within) {
		t.Errorf("%d calls of %d, on the days %v", calls, all.summary().Calls, got.days())
	}
}

// wrong answers some figures a little off.
type wrong struct{ Answers }

func (w wrong) Overview(ctx context.Context, owner uuid.UUID, days beijing.Range) (openapi.Overview, error) {
	answer, err := w.Answers.Overview(ctx, owner, days)
	answer.Successes, answer.Failures = answer.Failures, answer.Successes
	return answer, err
}

func (w wrong) FailedCall(ctx context.Context, application, call uuid.UUID) (openapi.FailedCall, error) {
	answer, err := w.Answers.FailedCall(ctx, application, call)
	answer.DurationMs++
	return answer, err
}

func TestVerifyNamesAnAnswerThatIsWrongThoughItsRollupsAreRight(t *testing.T) {
	w, _ := populated(t)
	w.deps.Answers = wrong{w.deps.Answers}
	got, out := w.verify()
	if got.Differences == 0 || !strings.Contains(out, "overview: .successes: ") || !strings.Contains(out, ": .durationMs: ") {
		t.Errorf("%+v in\n%s", got, out)
	}
}
