package verify

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/report"
	"callgate/internal/stats"
)

// TestWhatADayIsClosedWithIsWhatItsRowsGive: calls, durations, tokens and cost of each application, recounted from the rows.
func TestWhatADayIsClosedWithIsWhatItsRowsGive(t *testing.T) {
	w, _ := populated(t)
	v := &verifier{Deps: w.deps}
	source := w.deps.Answers.(*report.Report).DaySource()
	var applications []uuid.UUID
	owners, err := w.deps.Applications.Owners(w.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range owners {
		all, err := w.deps.Applications.All(w.Ctx, owner)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			applications = append(applications, a.ID)
		}
	}
	found := &findings{}
	days, compared := beijing.LastDays(30, beijing.Today(time.Now())), 0
	for day := range days.Each() {
		closed, err := source.Day(w.Ctx, day)
		if err != nil {
			t.Fatal(err)
		}
		left := len(closed)
		for _, id := range applications {
			var calls, successes, duration int64
			if err := w.clickhouse.QueryRowContext(w.Ctx, `SELECT toInt64(count()), toInt64(countIf(success)), toInt64(sum(duration_ms)) FROM calls
				WHERE application_id = $1 AND toUnixTimestamp64Milli(start_time) >= $2 AND toUnixTimestamp64Milli(start_time) < $3`,
				id, day.Start().UnixMilli(), day.End().UnixMilli()).Scan(&calls, &successes, &duration); err != nil {
				t.Fatal(err)
			}
			if calls == 0 {
				continue
			}
			at := -1
			for i := range closed {
				if closed[i].ID == id {
					at = i
				}
			}
			if at < 0 {
				t.Fatalf("%s of %s is not in the figures", id, day)
			}
			got := closed[at]
			left--
			compared++
			if got.Calls != calls || got.Successes != successes || got.DurationMs != duration {
				t.Errorf("%s of %s: %+v, the rows give %d, %d, %d", id, day, got, calls, successes, duration)
			}
			counted, err := v.tokens(w.Ctx, id, beijing.Range{Start: day, End: day})
			if err != nil {
				t.Fatal(err)
			}
			want := counted.figures(stats.Metrics{}, all)
			var unpriced int64
			costs := map[string]string{}
			for _, c := range want.Cost {
				if unpriced = c.UnpricedCalls; c.Currency != nil {
					costs[*c.Currency] = *c.Amount
				}
			}
			told := map[string]string{}
			for _, c := range got.Costs {
				told[c.Currency] = c.Amount.String()
			}
			found.compare(day.String(), []any{got.Tokens, told, got.Unpriced}, []any{map[string]any{
				"input": want.Tokens.Input, "output": want.Tokens.Output, "cached": want.Tokens.Cached, "cacheWrite": want.Tokens.CacheWrite, "reasoning": want.Tokens.Reasoning,
				"reportedCalls": want.Tokens.ReportedCalls, "partialCalls": want.Tokens.PartialCalls, "absentCalls": want.Tokens.AbsentCalls, "unreadableCalls": want.Tokens.UnreadableCalls,
			}, costs, unpriced})
		}
		if left != 0 {
			t.Errorf("%s: %d applications too many", day, left)
		}
	}
	if found.differences > 0 || compared < 10 {
		t.Errorf("%d differences in %d figures: %v", found.differences, compared, found.lines)
	}
}
