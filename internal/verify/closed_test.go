package verify

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/embedded"
	"callgate/internal/report"
)

// closedDays is how many days before today are closed in these tests.
const closedDays = 5

// closed is populated, with days that were closed, as they are by a console, and seen by data teams; what was missing of
// one of them may be anybody's.
func closed(t *testing.T) (w *world, busy uuid.UUID) {
	t.Helper()
	w, busy = populated(t)
	w.Exec(`UPDATE collection SET days_from = $1, started_at = started_at - interval '40 days'`, (yesterday() - closedDays + 1).String())
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, input_tokens, output_tokens)
		SELECT $1, fromUnixTimestamp64Milli($2 - number * 86400000), generateUUIDv4(), 'gpt', 7, 200, true, 'complete', 'reported', 50, 4 FROM numbers($3)`,
		busy, yesterday().Start().Add(12*time.Hour).UnixMilli(), closedDays)
	w.Exec(`INSERT INTO dropped_calls (day, application_id, spool_id, calls) VALUES ($1, $2, $3, 4), ($1, $4, $3, 2)`,
		(yesterday() - 2).String(), uuid.Nil, uuid.New(), busy)
	w.compared(yesterday()-40, yesterday())
	w.closing(func() bool {
		var open, unseen int
		if err := w.Pool.QueryRow(w.Ctx, `SELECT $1 - count(*) FILTER (WHERE d.state = 'closed'), count(*) FILTER (WHERE v.exported_at IS NULL)
			FROM days d JOIN day_revisions v ON v.day = d.day`, closedDays).Scan(&open, &unseen); err != nil {
			t.Fatal(err)
		}
		return open == 0 && unseen == 0
	})
	w.Exec(`UPDATE day_revisions SET closed_at = closed_at + interval '1 hour'`) // long after its prices were entered
	return w, busy
}

// compared notes that rollups agree with the calls of each day from one on until another.
func (w *world) compared(from, until beijing.Day) {
	w.T.Helper()
	w.Exec(`INSERT INTO day_checks (day, calls, duplicates, rollups) SELECT g::date, 0, 0, 1000 FROM generate_series($1::date, $2::date, interval '1 day') g`,
		from.String(), until.String())
}

// closing closes days until something is so.
func (w *world) closing(until func() bool) {
	w.T.Helper()
	source := w.deps.Answers.(*report.Report).DaySource()
	for range 100 {
		closer, err := days.Start(days.Config{Pool: w.Pool, ClickHouse: w.url, Source: source, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			w.T.Fatal(err)
		}
		for range 20 { // its first turn
			if time.Sleep(50 * time.Millisecond); until() {
				break
			}
		}
		if err := closer.Close(); err != nil {
			w.T.Fatal(err)
		}
		if until() {
			return
		}
	}
	w.T.Fatal("days are not closed")
}

func TestVerifyFindsNothingWhereClosedDaysAreWhatTheirRowsGive(t *testing.T) {
	w, busy := closed(t)
	if got, out := w.verify(); got.Differences != 0 || got.ClosedDays != closedDays || strings.Contains(out, "not compared") {
		t.Fatalf("%+v\n%s", got, out)
	}
	// An application that was deleted since is in the revisions' sums, and until it is hidden in what data teams see.
	eve := w.application(w.owner("zoe"), "late")
	w.exec(`INSERT INTO days_closed (application_id, day, revision, calls) VALUES ($1, $2, 1, 5)`, eve, yesterday().String())
	var owner uuid.UUID
	if err := w.Pool.QueryRow(w.Ctx, `SELECT owner_id FROM applications WHERE id = $1`, eve).Scan(&owner); err != nil {
		t.Fatal(err)
	}
	if err := w.deps.Applications.Delete(w.Ctx, owner, eve); err != nil {
		t.Fatal(err)
	}
	if err := w.Pool.QueryRow(w.Ctx, `SELECT owner_id FROM applications WHERE id = $1`, busy).Scan(&owner); err != nil {
		t.Fatal(err)
	}
	if err := w.deps.Applications.Delete(w.Ctx, owner, busy); err != nil {
		t.Fatal(err)
	}
	// Its missing calls are no longer missing, so one day is to be looked at again.
	if got, out := w.verify(); got.Differences != 0 || got.ClosedDays != closedDays-1 {
		t.Errorf("with deleted applications: %+v\n%s", got, out)
	}
}

// yesterday is the last day that is closed, which soon after Beijing's midnight is the day before; it stays the one that it
// was when tests began.
var yesterday = sync.OnceValue(func() beijing.Day { return ledger.ClosedDay(time.Now()) })

// changed is a day of data teams with another value in some columns of an application's row.
func changed(day beijing.Day, columns string) string {
	return `INSERT INTO days_closed SELECT * REPLACE (` + columns + `) FROM days_closed FINAL WHERE application_id = $1 AND day = '` + day.String() + `'`
}

func TestVerifyNamesEveryClosedDayThatIsWrong(t *testing.T) {
	day, stranger := yesterday(), uuid.NewString()
	figures := `UPDATE day_figures SET figures = figures
		|| jsonb_build_object('calls', (figures->>'calls')::int + 1, 'durationMs', 1, 'unpricedCalls', 77,
			'tokens', figures->'tokens' || '{"input": 3, "output": null}', 'cost', jsonb_set(figures->'cost', '{0,amount}', '"0.5"'))
		WHERE application_id = $1 AND day = '` + day.String() + `'`
	for name, of := range map[string]struct {
		postgres   bool
		statements []string // of an application
		says       []string
	}{
		"figures": {true, []string{figures}, []string{
			": .calls: ", ": .durationMs: 1 is answered", ": .tokens.input: 3 is answered", ": .tokens.output: <nil> is answered", ".amount: 0.5 is answered", ": .unpricedCalls: 77 is answered",
		}},
		"rows and sums": {true, []string{
			`DELETE FROM day_figures WHERE application_id = $1 AND day = '` + day.String() + `'`,
			`INSERT INTO day_figures SELECT day, revision, (SELECT id FROM applications WHERE name = 'never called'), owner_id, figures
				FROM day_figures WHERE application_id = $1 AND day = '` + (day - 1).String() + `'`,
			`UPDATE day_revisions SET figures = jsonb_set(figures, '{successes}', '99') WHERE $1::uuid IS NOT NULL AND day = '` + (day - 2).String() + `'`,
		}, []string{
			"closed day " + day.String() + ", application ", ": has no figures, the rows give ",
			"closed day " + (day - 1).String() + ": ", "applications have figures, of ", " is answered, the rows give 0",
			"closed day " + (day - 2).String() + ", all applications: .successes: 99 is answered",
		}},
		"what data teams see": {false, []string{
			changed(day, `calls + 1 AS calls, ifNull(input_tokens, 0) + 1 AS input_tokens, arrayMap(a -> a * 2, amounts) AS amounts, generateUUIDv4() AS user_id`),
			`ALTER TABLE days_closed DELETE WHERE application_id = $1 AND day = '` + (day - 1).String() + `' SETTINGS mutations_sync = 1`,
			`INSERT INTO days_closed (application_id, day, revision, calls) SELECT '` + stranger + `', '` + day.String() + `', 1, 3 WHERE $1 != generateUUIDv4()`,
			`INSERT INTO days_closed SELECT * REPLACE (3 AS missing_calls) FROM days_closed FINAL WHERE application_id = toUUID('00000000-0000-0000-0000-000000000000') AND application_id != $1`,
			changed(day-4, `toUInt32(2) AS revision`),
		}, []string{
			": .Owner: ", ": .calls: ", ": .tokens.input: ", ".amount: ", "has no row of revision 1", stranger + ": has a row too many, of 3 calls",
			"live_days_closed of " + (day - 2).String() + ", the day itself: .missingCalls: 3 is answered, the rows give 4",
			"live_days_closed of " + (day - 4).String() + ": it has no row of the day itself, revision 1", ": .Revision: 2 is answered, the rows give 1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, busy := closed(t)
			for _, statement := range of.statements {
				switch {
				case of.postgres:
					w.Exec(statement, busy)
				case strings.HasPrefix(statement, "ALTER"):
					embedded.OnShards(t, w.url, statement, busy)
				default:
					w.exec(statement, busy)
				}
			}
			got, out := w.verify()
			for _, says := range of.says {
				if got.Differences == 0 || !strings.Contains(out, says) {
					t.Errorf("%+v, %q is not in\n%s", got, says, out)
				}
			}
			if got.ClosedDays != closedDays || got.Moving != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestVerifyLeavesDaysAloneThatAreNotClosedOrWillBeLookedAtAgain: calls that came late are no difference, whatever has been
// noticed of them so far.
func TestVerifyLeavesDaysAloneThatAreNotClosedOrWillBeLookedAtAgain(t *testing.T) {
	w, busy := closed(t)
	for back, noticed := range []string{
		`INSERT INTO rollup_doubts (day) VALUES ($1)`,
		`UPDATE day_checks SET checked_at = now() + interval '1 minute' WHERE day = $1`,
		`UPDATE days SET state = 'reopened' WHERE day = $1`,
		`INSERT INTO dropped_calls (day, application_id, spool_id, calls) VALUES ($1, '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 1)`,
		`INSERT INTO spools (id, node, through) SELECT gen_random_uuid(), 'behind', $1::date`, // nothing yet
	} {
		day := yesterday() - beijing.Day(back)
		w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by)
			SELECT $1, fromUnixTimestamp64Milli($2), generateUUIDv7(), 'gpt', 77, 200, true, 'complete'`, busy, day.Start().UnixMilli()+5)
		w.Exec(noticed, day.String())
	}
	got, out := w.verify()
	if got.Differences != 0 || got.ClosedDays != 0 || strings.Count(out, "closed day ") != 1 ||
		!strings.Contains(out, "closed day "+(yesterday()-4).String()+": calls came late, or a gateway is behind; not compared") {
		t.Errorf("%+v\n%s", got, out)
	}
	w.Exec(`DELETE FROM spools`)
	if got, out = w.verify(); got.Differences == 0 || got.ClosedDays != 1 || !strings.Contains(out, ": .calls: ") {
		t.Errorf("nobody noticed: %+v\n%s", got, out)
	}
}

// TestVerifyComparesCostOnlyByThePricesOfThen, and with one account only what is its own.
func TestVerifyComparesCostOnlyByThePricesOfThen(t *testing.T) {
	w, busy := closed(t)
	w.Exec(`UPDATE day_revisions SET closed_at = now() - interval '1 hour'`)
	w.price("gpt", "", -30, "USD", "9.5")
	if got, out := w.verify(); got.Differences != 0 || got.ClosedDays != closedDays || !strings.Contains(out, "prices have changed since some days were closed") {
		t.Errorf("%+v\n%s", got, out)
	}
	w.Exec(`UPDATE day_figures SET figures = jsonb_set(figures, '{calls}', '0') WHERE application_id <> $1`, busy)
	w.exec(`INSERT INTO days_closed (application_id, day, revision, calls) VALUES ($1, $2, 1, 5)`, uuid.New(), yesterday().String())
	var owner uuid.UUID
	if err := w.Pool.QueryRow(w.Ctx, `SELECT owner_id FROM applications WHERE id = $1`, busy).Scan(&owner); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w.deps.Everyone = false
	v := &verifier{Deps: w.deps, out: &out, attempts: 1}
	if err := v.run(w.Ctx, []uuid.UUID{owner}, beijing.LastDays(30, beijing.Today(time.Now()))); err != nil || v.result.Differences != 0 || v.result.ClosedDays != closedDays {
		t.Errorf("%v: %+v\n%s", err, v.result, out.String())
	}
}
