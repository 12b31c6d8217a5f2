package verify

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	closings "callgate/internal/calls/ledger/days"
	"callgate/internal/days"
	"callgate/internal/stats"
)

const (
	// seenDecimals are those of an amount in live_days_closed; more are cut off.
	seenDecimals = 10
	// looked is how long before its closing a day's prices may have been read.
	looked = 2 * time.Minute
	// skew is by how much clocks of gateways may differ.
	skew = 2 * time.Second
	// confirm is how long is waited for the ledger to be past a difference.
	confirm = 30 * time.Second
)

// compareClosed recounts each day that is closed, one at a time, and compares it with what it was closed with, as
// PostgreSQL has it, whose owners were told of it, and as data teams see it. only are the applications that are looked
// at; nil: all. Days that are open, reopened, or to be looked at again have nothing to be compared with.
func (v *verifier) compareClosed(ctx context.Context, days beijing.Range, only []uuid.UUID) error {
	left, err := v.Days.Closings(ctx, days)
	if err != nil {
		return err
	}
	differ := map[beijing.Day]*findings{}
	for attempt := 1; len(left) > 0; attempt++ {
		again := left[:0]
		for _, c := range left {
			found := &findings{closedDays: 1}
			if err := v.compareClosedDay(ctx, found, c, only); err != nil {
				return fmt.Errorf("closed day %s: %w", c.Day, err)
			}
			if found.differences == 0 {
				v.add(found)
				continue
			}
			again, differ[c.Day] = append(again, c), found
		}
		if left = again; attempt == v.attempts {
			break
		}
		if len(left) > 0 {
			if err := sleep(ctx, v.pause); err != nil {
				return err
			}
		}
	}
	return v.addCertain(ctx, left, differ)
}

// addCertain adds what was found of the days that are still what they were closed as, now that everything is confirmed that was
// stored until now: calls that came late are seen before their day is put into doubt.
func (v *verifier) addCertain(ctx context.Context, differ []closings.Closing, found map[beijing.Day]*findings) error {
	if len(differ) == 0 {
		return nil
	}
	confirmed, err := v.confirmed(ctx)
	if err != nil {
		return err
	}
	now, err := v.Days.Closings(ctx, beijing.Range{Start: differ[0].Day, End: differ[len(differ)-1].Day})
	if err != nil {
		return err
	}
	revisions := map[beijing.Day]int{}
	for _, c := range now {
		revisions[c.Day] = c.Revision
	}
	for _, c := range differ {
		if !confirmed || revisions[c.Day] != c.Revision {
			v.say("closed day %s: calls came late, or a gateway is behind; not compared", c.Day)
			continue
		}
		v.add(found[c.Day])
	}
	return nil
}

// confirmed waits until the ledger is past now.
func (v *verifier) confirmed(ctx context.Context) (bool, error) {
	deadline := time.Now().Add(v.confirm)
	for until := time.Now().Add(skew); ; {
		through, err := v.Ledger.Through(ctx)
		if err != nil || through.After(until) {
			return err == nil, err
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return false, err
		}
	}
}

// closedFigures are a closed day's: as the rows give them, as they were kept, and as data teams see them, by application.
type closedFigures struct {
	rows, kept map[uuid.UUID]days.Application
	seen       map[uuid.UUID]seenFigures
	known      map[uuid.UUID]bool // applications that exist, and those that were deleted
	repriced   bool               // prices have changed since
}

// compareClosedDay reads in an order in which applications that are deleted meanwhile are no difference: the rows, what data teams
// see, what was kept, and then who exists.
func (v *verifier) compareClosedDay(ctx context.Context, found *findings, c closings.Closing, only []uuid.UUID) (err error) {
	f := closedFigures{kept: map[uuid.UUID]days.Application{}, seen: map[uuid.UUID]seenFigures{}}
	if f.repriced, err = v.Pricing.ChangedSince(ctx, c.ClosedAt.Add(-looked), c.Day); err != nil {
		return err
	}
	if f.rows, err = v.recountDay(ctx, c.Day, only); err != nil {
		return err
	}
	seen, err := v.seenFigures(ctx, c.Day, only)
	if err != nil {
		return err
	}
	kept, err := v.Days.Figures(ctx, c)
	if err != nil {
		return err
	}
	if only == nil {
		found.wholeDay(c, kept, seen)
	}
	ids := map[uuid.UUID]bool{}
	for _, a := range kept {
		f.kept[a.ID] = a
	}
	for _, a := range seen {
		f.seen[a.ID], ids[a.ID] = a, true
	}
	for id := range f.rows {
		ids[id] = true
	}
	if f.known, err = v.Ledger.Known(ctx, keys(ids)); err != nil {
		return err
	}
	f.trim(only)
	if repriced := found.closed(c, &f); repriced {
		v.say("prices have changed since some days were closed: their cost is of then, and is not compared")
	}
	return nil
}

// keys are the applications of a map, in order.
func keys[V any](of map[uuid.UUID]V) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(of), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// trim leaves those of some applications, and of rows those of applications that exist.
func (f *closedFigures) trim(only []uuid.UUID) {
	for id := range f.rows {
		if !f.known[id] {
			delete(f.rows, id)
		}
	}
	if only == nil {
		return
	}
	some := map[uuid.UUID]bool{}
	for _, id := range only {
		some[id] = true
	}
	for id := range f.kept {
		if !some[id] {
			delete(f.kept, id)
		}
	}
}

// recountDay gives what the rows say of each application: one's rows are held at a time.
func (v *verifier) recountDay(ctx context.Context, day beijing.Day, only []uuid.UUID) (map[uuid.UUID]days.Application, error) {
	book, err := v.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	found := map[uuid.UUID]days.Application{}
	var sum days.Application
	held := tokens{book: book}
	keep := func() {
		if sum.Calls > 0 {
			held.close(&sum.Figures)
			found[sum.ID] = sum
		}
	}
	err = v.callsOfDay(ctx, day, only, func(row callRow) {
		if row.Application != sum.ID {
			keep()
			sum, held.rows = days.Application{ID: row.Application}, held.rows[:0]
		}
		sum.Calls, sum.Successes, sum.DurationMs = sum.Calls+row.Calls, sum.Successes+row.Successes, sum.DurationMs+row.DurationMs
		held.rows = append(held.rows, row.tokenRow)
	})
	if err != nil {
		return nil, err
	}
	keep()
	return found, nil
}

// close fills in tokens and cost as days are closed with them.
func (t *tokens) close(f *days.Figures) {
	sum := t.summary(stats.Metrics{})
	of := sum.Tokens
	f.Tokens = days.Tokens{
		Input: of.Input, Output: of.Output, Cached: of.Cached, CacheWrite: of.CacheWrite, Reasoning: of.Reasoning,
		Reported: of.ReportedCalls, Partial: of.PartialCalls, Absent: of.AbsentCalls, Unreadable: of.UnreadableCalls,
	}
	f.Costs = []days.Cost{}
	for _, cost := range sum.Cost {
		if f.Unpriced = cost.UnpricedCalls; cost.Currency != nil {
			f.Costs = append(f.Costs, days.Cost{Currency: *cost.Currency, Amount: decimal.RequireFromString(*cost.Amount), Priced: cost.PricedCalls})
		}
	}
}

// wholeDay compares what stands for the day itself: the sum, and what may be anybody's.
func (f *findings) wholeDay(c closings.Closing, kept []days.Application, seen []seenFigures) {
	where := fmt.Sprintf("closed day %s", c.Day)
	if len(kept) > c.Applications {
		f.differ(where, "%d applications have figures, of %d that it was closed with", len(kept), c.Applications)
	}
	if len(kept) == c.Applications { // none was deleted since
		sum := days.Sum(kept)
		sum.Missing += c.Missing.Anyones
		f.compare(where+", all applications", c.Figures, sum)
	}
	if !c.Exported {
		return
	}
	where = fmt.Sprintf("live_days_closed of %s", c.Day)
	itself := seenFigures{Revision: c.Revision, MissingUnknown: c.Missing.Unknown()}
	itself.Missing, itself.Costs = c.Missing.Anyones, []days.Cost{}
	for _, a := range seen {
		if a.ID == uuid.Nil {
			f.compare(where+", the day itself", a, itself)
			return
		}
	}
	f.differ(where, "it has no row of the day itself, revision %d", c.Revision)
}

// closed compares each application, and tells whether cost differs where prices have changed.
func (f *findings) closed(c closings.Closing, of *closedFigures) (repriced bool) {
	for _, id := range keys(of.kept) {
		kept := of.kept[id]
		if _, counted := of.rows[id]; !counted {
			of.rows[id] = days.Application{ID: id, Figures: days.Figures{Costs: []days.Cost{}}} // missing calls only, if any
		}
		want := of.rows[id]
		want.Owner, want.Missing = kept.Owner, kept.Missing
		if of.repriced {
			repriced = repriced || !sameCosts(kept, want)
			want.Costs, want.Unpriced = kept.Costs, kept.Unpriced
		}
		of.rows[id] = want
		f.compare(fmt.Sprintf("closed day %s, application %s", c.Day, id), kept, want)
	}
	for _, id := range keys(of.rows) {
		if _, there := of.kept[id]; !there {
			f.differ(fmt.Sprintf("closed day %s, application %s", c.Day, id), "has no figures, the rows give %d calls", of.rows[id].Calls)
		}
	}
	if c.Exported {
		f.seen(c, of)
	}
	return repriced
}

func sameCosts(a, b days.Application) bool {
	d := a.Minus(b.Figures)
	for _, cost := range d.Costs {
		if !cost.Amount.IsZero() || cost.Priced != 0 {
			return false
		}
	}
	return d.Unpriced == 0
}

// seen compares what data teams see of each application.
func (f *findings) seen(c closings.Closing, of *closedFigures) {
	for _, id := range keys(of.rows) {
		want := of.rows[id]
		where := fmt.Sprintf("live_days_closed of %s, application %s", c.Day, id)
		got, there := of.seen[id]
		if !there {
			f.differ(where, "has no row of revision %d, the rows give %d calls", c.Revision, want.Calls)
			continue
		}
		bare := make([]days.Cost, 0, len(want.Costs)) // how many calls a price held for is not told
		for _, cost := range want.Costs {
			bare = append(bare, days.Cost{Currency: cost.Currency, Amount: cost.Amount.Truncate(seenDecimals)})
		}
		want.Costs = bare
		f.compare(where, got, seenFigures{Revision: c.Revision, Application: want})
	}
	for _, id := range keys(of.seen) {
		if _, counted := of.rows[id]; counted || id == uuid.Nil {
			continue
		}
		if exists, known := of.known[id]; exists || !known { // those of deleted ones go soon
			f.differ(fmt.Sprintf("live_days_closed of %s, application %s", c.Day, id), "has a row too many, of %d calls", of.seen[id].Calls)
		}
	}
}
