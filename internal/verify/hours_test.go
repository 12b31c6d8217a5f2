package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/embedded"
	"callgate/internal/openapi"
)

// border is the last hour of a month of UTC, which is of the next one in Beijing; two days at least have ended since.
func border() time.Time {
	now := time.Now().UTC().AddDate(0, 0, -2)
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC).Add(-time.Hour)
}

// bordered is populated, with calls in the border's hour and in the one after.
func bordered(t *testing.T) (w *world, busy uuid.UUID) {
	t.Helper()
	w, busy = populated(t)
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model, input_tokens, output_tokens)
		SELECT $1, fromUnixTimestamp64Milli($2 + number * 3600000), generateUUIDv4(), 'gpt', 5, 200, true, 'complete', 'reported', 'gpt-x', 100, 10 FROM numbers(2)`,
		busy, border().Add(time.Hour-time.Millisecond).UnixMilli())
	return w, busy
}

func TestVerifyNamesEveryHourThatIsWrong(t *testing.T) {
	hour := beijing.Format(border())
	month := border().Format(time.DateOnly)
	const tokens = `INSERT INTO tokens_hourly (application_id, hour, model, upstream_model, input) SELECT $1, fromUnixTimestamp($2)`
	const usage = `INSERT INTO usage_hourly (application_id, hour, model, calls, durations) SELECT $1, fromUnixTimestamp($2)`
	for name, of := range map[string]struct{ statements, says []string }{
		"too much": {[]string{
			tokens + `, 'gpt', 'gpt-x', 5`, tokens + `, 'claude', 'ghost', 5`, usage + `, 'gpt', 1, ([500], [1])`,
		}, []string{
			`tokens_hourly ` + hour + ` of "gpt" answered by "gpt-x": input: 105 is kept, the rows give 100`,
			`invoice ` + month + ` UTC of "gpt" answered by "gpt-x": .input: 105 is answered, the rows give 100`,
			`tokens_hourly ` + hour + ` of "claude" answered by "ghost": input: 5 is kept, the rows give 0`,
			`usage_hourly ` + hour + ` of "gpt": calls: 2 is kept, the rows give 1`,
			`usage_hourly ` + hour + ` of "gpt": durations: 1 buckets differ`,
			`invoice ` + month + ` UTC of "gpt" answered by "": .calls: 1 is answered, the rows give 0`,
		}},
		"in the month after": {[]string{tokens + ` + number * 3600, 'gpt', 'gpt-x', if(number = 1, 100, -100) FROM numbers(2)`}, []string{
			`invoice ` + month + ` UTC of "gpt" answered by "gpt-x": .input: 0 is answered, the rows give 100`,
			`invoice ` + border().AddDate(0, 0, 1).Format(time.DateOnly) + ` UTC of "gpt" answered by "gpt-x": .input: `,
		}},
		"missing": {[]string{`ALTER TABLE tokens_hourly DELETE WHERE application_id = $1 AND hour = fromUnixTimestamp($2) SETTINGS mutations_sync = 1`}, []string{
			`tokens_hourly ` + hour + ` of "gpt" answered by "gpt-x": reported: 0 is kept, the rows give 1`,
			`invoice ` + month + ` UTC of "gpt" answered by "gpt-x": is not answered, the rows give 1 calls`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, busy := bordered(t)
			for _, statement := range of.statements {
				if strings.HasPrefix(statement, "ALTER") {
					embedded.OnShards(t, w.url, statement, busy, border().Unix())
				} else {
					w.exec(statement, busy, border().Unix())
				}
			}
			got, out := w.verifyDays(40)
			for _, says := range of.says {
				if got.Differences == 0 || !strings.Contains(out, says) {
					t.Errorf("%+v, %q is not in\n%s", got, says, out)
				}
			}
		})
	}
}

// wrongInvoice answers one call too many in each of its lines.
type wrongInvoice struct{ Answers }

func (w wrongInvoice) CountedForInvoice(ctx context.Context, month time.Time) (openapi.InvoiceCounts, error) {
	answer, err := w.Answers.CountedForInvoice(ctx, month)
	for i := range answer.Items {
		answer.Items[i].OtherCalls++
	}
	return answer, err
}

func TestVerifyFindsNothingInHoursAndInvoicesThatAreRight(t *testing.T) {
	w, busy := bordered(t)
	w.lined(busy)
	if got, out := w.verifyDays(40); got.Differences != 0 {
		t.Errorf("%+v\n%s", got, out)
	}
	w.deps.Answers = wrongInvoice{w.deps.Answers}
	if got, out := w.verifyDays(40); got.Differences == 0 || !strings.Contains(out, ".otherCalls: ") {
		t.Errorf("a wrong answer: %+v\n%s", got, out)
	}
}

// TestVerifyLeavesHoursAloneThatAreYetToBeFilled: after an upgrade hours of before are filled day by day.
func TestVerifyLeavesHoursAloneThatAreYetToBeFilled(t *testing.T) {
	w, busy := bordered(t)
	embedded.OnShards(t, w.url, `ALTER TABLE tokens_hourly DELETE WHERE application_id = $1 SETTINGS mutations_sync = 1`, busy)
	w.Exec(`UPDATE collection SET started_at = started_at - interval '40 days', days_from = $1`, beijing.Today(time.Now()).String()) // also if midnight came since
	got, out := w.verifyDays(40)
	if got.Differences != 0 || !strings.Contains(out, "hours of "+beijing.DayOf(border()).String()+": they are to be filled or repaired; not compared") {
		t.Errorf("not filled: %+v\n%s", got, out)
	}
	w.compared(beijing.DayOf(border()), beijing.Today(time.Now())-1)
	if got, out = w.verifyDays(40); got.Differences == 0 || !strings.Contains(out, "tokens_hourly "+beijing.Format(border())) {
		t.Errorf("not filled, and compared: %+v\n%s", got, out)
	}
}
