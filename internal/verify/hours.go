package verify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// compareHours compares the rollups by the hour of an application, which pages of calls, the explorer and the days of an invoice's
// zone are counted from, hour by hour with its rows. Only differences are held.
func (v *verifier) compareHours(ctx context.Context, found *findings, where string, id uuid.UUID, days beijing.Range) error {
	var rebuilding map[beijing.Day]bool
	var err error
	asked := v.hourDifferences(ctx, id, days, func(d hourDifference) {
		if rebuilding == nil && err == nil {
			rebuilding, err = v.Days.Rebuilding(ctx, days)
		}
		if day := beijing.DayOf(d.Hour); rebuilding[day] {
			v.beingRebuilt(day)
			return
		}
		found.hour(where, d)
	})
	if asked != nil {
		return asked
	}
	return err
}

func (v *verifier) beingRebuilt(day beijing.Day) {
	v.say("hours of %s: they are to be filled or repaired; not compared", day)
}

func (f *findings) hour(where string, d hourDifference) {
	where = fmt.Sprintf("%s %s %s of %q", where, d.Rollup, beijing.Format(d.Hour), d.Model)
	if d.UpstreamModel != "" {
		where += fmt.Sprintf(" answered by %q", d.UpstreamModel)
	}
	for i, column := range d.Columns {
		if d.Kept[i] != d.Rows[i] {
			f.differ(where, "%s: %d is kept, the rows give %d", column, d.Kept[i], d.Rows[i])
		}
	}
	if d.Buckets > 0 {
		f.differ(where, "durations: %d buckets differ", d.Buckets)
	}
}

// billedLine names what invoices are held against: a day of UTC, a capability and a model that answered.
type billedLine struct{ date, model, upstream string }

// billedSum is what the rows give for it.
type billedSum struct {
	calls  int64
	meters map[string]int64 // besides the five numbers
	rows   []tokenRow
}

// compareInvoices compares what invoices of a provider are held against on each day of UTC that lies within the days, month by
// month: one month's lines are held.
func (v *verifier) compareInvoices(ctx context.Context, found *findings, e *everyone, days beijing.Range) error {
	rebuilding, err := v.Days.Rebuilding(ctx, days)
	if err != nil {
		return err
	}
	first, last := days.Start.UTC(), days.End.UTC() // that of Start begins within it, that of End ends after it
	for month := first.AddDate(0, 0, 1-first.Day()); month.Before(last); month = month.AddDate(0, 1, 0) {
		from, until := first, last
		if from.Before(month) {
			from = month
		}
		if next := month.AddDate(0, 1, 0); next.Before(until) {
			until = next
		}
		if err := v.compareInvoice(ctx, found, e, month, from, until, rebuilding); err != nil {
			return err
		}
	}
	return nil
}

// compareInvoice compares the lines of the days of a month from one on until another.
func (v *verifier) compareInvoice(ctx context.Context, found *findings, e *everyone, month, from, until time.Time, rebuilding map[beijing.Day]bool) error {
	want, err := v.recountInvoice(ctx, e.ids, from, until)
	if err != nil {
		return err
	}
	got, err := v.Answers.CountedForInvoice(ctx, month)
	if err != nil {
		return err
	}
	left := func(date string) bool {
		at, err := time.Parse(time.DateOnly, date)
		return err == nil && (at.Before(from) || !at.Before(until) || v.partRebuilt(at, rebuilding))
	}
	for _, line := range got.Items {
		of := billedLine{line.Date, line.Model, line.UpstreamModel}
		if left(line.Date) {
			delete(want, of)
			continue
		}
		sum := want[of]
		if sum == nil {
			sum = &billedSum{meters: map[string]int64{}}
		}
		delete(want, of)
		found.compare(of.String(), line, sum.line(of, e.book))
	}
	for of, sum := range want {
		if !left(of.date) {
			found.differ(of.String(), "is not answered, the rows give %d calls", sum.calls)
		}
	}
	return nil
}

func (l billedLine) String() string {
	return fmt.Sprintf("invoice %s UTC of %q answered by %q", l.date, l.model, l.upstream)
}

// partRebuilt tells whether a day of UTC touches one of Beijing whose hours are to be filled.
func (v *verifier) partRebuilt(at time.Time, rebuilding map[beijing.Day]bool) bool {
	day := beijing.DayOf(at)
	for _, touched := range []beijing.Day{day, day + 1} {
		if rebuilding[touched] {
			v.beingRebuilt(touched)
			return true
		}
	}
	return false
}

func (v *verifier) recountInvoice(ctx context.Context, applications []uuid.UUID, from, until time.Time) (map[billedLine]*billedSum, error) {
	sums := map[billedLine]*billedSum{}
	at := func(of billedLine) *billedSum {
		if sums[of] == nil {
			sums[of] = &billedSum{meters: map[string]int64{}}
		}
		return sums[of]
	}
	err := v.recountUTC(ctx, applications, from, until, func(row utcRow) {
		sum := at(billedLine{row.Date, row.Model, row.UpstreamModel})
		sum.calls += row.Calls
		if row.Lined == 0 {
			sum.rows = append(sum.rows, row.tokenRow)
			return
		}
		// The calls are of the model that answered, and what they used is of the models that their lines say.
		sum.rows = append(sum.rows, tokenRow{rowTokens: rowTokens{TokenStates: row.TokenStates}})
		for i := range row.Models {
			of := tokenRow{Day: row.Day, Model: row.Model, UpstreamModel: row.UpstreamModel}
			n := int64(row.Amounts[i]) //nolint:gosec // sums of numbers of calls
			line := at(billedLine{row.Date, row.Model, row.Models[i]})
			five := map[string]**int64{"input": &of.Input, "output": &of.Output, "cached_input": &of.Cached, "cache_write": &of.CacheWrite, "reasoning": &of.Reasoning}
			if to := five[row.Meters[i]]; to != nil {
				*to = &n
			} else if !slices.Contains(ofCost, row.Meters[i]) {
				line.meters[row.Meters[i]] += n
			}
			line.rows = append(line.rows, of)
		}
		for _, l := range row.lines() {
			line := at(billedLine{row.Date, row.Model, l.model})
			line.rows = append(line.rows, tokenRow{Day: row.Day, Model: row.Model, one: &l})
		}
	})
	return sums, err
}

// line is the answer that the rows give, each Beijing day's part of it priced by itself.
func (s *billedSum) line(of billedLine, book *pricing.Book) openapi.InvoiceCount {
	priced := tokens{book: book, rows: s.rows}
	figures := priced.summary(stats.Metrics{})
	t := figures.Tokens
	return openapi.InvoiceCount{
		Date: of.date, Model: of.model, UpstreamModel: of.upstream, Calls: s.calls,
		ReportedCalls: t.ReportedCalls, PartialCalls: t.PartialCalls, AbsentCalls: t.AbsentCalls, UnreadableCalls: t.UnreadableCalls,
		OtherCalls: s.calls - t.ReportedCalls - t.PartialCalls - t.AbsentCalls - t.UnreadableCalls,
		Input:      number(t.Input), Output: number(t.Output), Cached: number(t.Cached), CacheWrite: number(t.CacheWrite), Reasoning: number(t.Reasoning),
		Meters: s.meters, Cost: figures.Cost,
	}
}

func number(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
