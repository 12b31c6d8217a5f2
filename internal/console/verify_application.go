package console

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// compareApplication compares every answer about one application: detail, call flow, export and
// the reasons of its newest failures.
func (c *Console) compareApplication(ctx context.Context, found *findings, owner, id uuid.UUID, days beijing.Range, recount *stats.Recount) error {
	a, err := c.Applications.Get(ctx, owner, id)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("application %s", id)
	got, err := c.detailOf(ctx, a, days)
	if err != nil {
		return err
	}
	usage := recount.Usage(days)
	want := got
	want.Summary, want.Daily = metricsView(usage.Summary), each(usage.Daily, dayView)
	if want.Models, err = c.named(ctx, usage.Models); err != nil {
		return err
	}
	found.compare(where, got, want)

	flow := newFlow(usage)
	if err := c.compareExport(ctx, found, where, id, days, recount, flow); err != nil {
		return err
	}
	if err := c.compareFlow(ctx, found, where, id, days, flow); err != nil {
		return err
	}
	return c.compareFailures(ctx, found, where, id, flow)
}

// flow is what the rows say about the call flow: for every filter how many calls there are and the
// first page, of all calls also the page in the middle and the last one.
type flow struct {
	views    map[view]*viewed
	pages    map[int][]stats.Call // of all calls
	failures []stats.FailedCall   // the newest
	seen     int                  // rows passed through add
}

type view struct {
	anyModel bool
	model    string
	result   stats.Result
}

type viewed struct {
	summary stats.CallsSummary
	items   []stats.Call
}

func (v *viewed) total(result stats.Result) int64 {
	switch result {
	case stats.OnlySuccesses:
		return v.summary.Successes
	case stats.OnlyFailures:
		return v.summary.Failures
	}
	return v.summary.Calls
}

var results = []stats.Result{stats.AnyResult, stats.OnlySuccesses, stats.OnlyFailures}

func newFlow(usage stats.Usage) *flow {
	f := &flow{views: map[view]*viewed{}, pages: map[int][]stats.Call{}}
	put := func(v view, m stats.Metrics) {
		for _, v.result = range results {
			f.views[v] = &viewed{summary: stats.CallsSummary{Calls: m.Calls, Successes: m.Successes, Failures: m.Failures}}
		}
	}
	put(view{anyModel: true}, usage.Summary)
	for _, m := range usage.Models {
		put(view{model: m.Model}, m.Metrics)
	}
	if last := int(usage.Summary.Calls+stats.PageSize-1) / stats.PageSize; last > 1 {
		f.pages[(last+1)/2], f.pages[last] = nil, nil
	}
	return f
}

// add takes the next row, newest first.
func (f *flow) add(row stats.FailedCall) {
	page := f.seen/stats.PageSize + 1
	f.seen++
	if items, wanted := f.pages[page]; wanted {
		f.pages[page] = append(items, row.Call)
	}
	result := stats.OnlyFailures
	if row.Success {
		result = stats.OnlySuccesses
	} else if len(f.failures) < stats.PageSize {
		f.failures = append(f.failures, row)
	}
	for _, v := range []view{
		{anyModel: true}, {anyModel: true, result: result}, {model: row.Model}, {model: row.Model, result: result},
	} {
		if seen := f.views[v]; seen != nil && len(seen.items) < stats.PageSize {
			seen.items = append(seen.items, row.Call)
		}
	}
}

// errDifferent ends a walk at its first difference.
var errDifferent = errors.New("different")

// compareExport walks the calls as the export does, beside the rows themselves, and fills in flow.
func (c *Console) compareExport(ctx context.Context, found *findings, where string, id uuid.UUID, days beijing.Range, recount *stats.Recount, f *flow) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, stop := iter.Pull2(c.Stats.Rows(ctx, id, recount.Days()))
	defer stop()
	walked := 0
	err := c.Stats.Walk(ctx, stats.CallsQuery{Application: id, Range: days}, func(got stats.Call) error {
		row, err, more := next()
		if err != nil {
			return err
		}
		walked++
		if more {
			f.add(row)
		}
		if !more || !reflect.DeepEqual(got, row.Call) {
			found.differ(where+" calls.csv", "line %d is call %s, in the rows it is %s", walked, got.CallID, row.CallID)
			return errDifferent
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDifferent) {
		return err
	}
	ended := err == nil
	rest := 0
	for { // what the walk left out, and the pages behind a difference
		row, err, more := next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		rest++
		f.add(row)
	}
	if ended && rest > 0 {
		found.differ(where+" calls.csv", "%d lines, %d rows", walked, walked+rest)
	}
	return nil
}

// compareFlow asks the first page of every filter, and all calls also in the middle and at the end.
func (c *Console) compareFlow(ctx context.Context, found *findings, where string, id uuid.UUID, days beijing.Range, f *flow) error {
	ask := func(v view, page int, items []stats.Call) error {
		q := stats.CallsQuery{Application: id, Range: days, Page: page, Result: v.result}
		of := "all models"
		if !v.anyModel {
			q.Model, of = &v.model, fmt.Sprintf("model %q", v.model)
		}
		got, err := c.flowOf(ctx, q)
		if err != nil {
			return err
		}
		want := got
		want.Items, want.Total, want.Summary = each(items, callView), f.views[v].total(v.result), openapi.CallsSummary(f.views[v].summary)
		want.Models = slices.Clone(got.Models) // models of expired calls stay; those of rows must be there
		for known := range f.views {
			if !known.anyModel && !slices.Contains(want.Models, known.model) {
				want.Models = append(want.Models, known.model)
			}
		}
		slices.Sort(want.Models)
		want.Models = slices.Compact(want.Models)
		found.compare(fmt.Sprintf("%s calls, %s, result %q, page %d", where, of, v.result, page), got, want)
		return nil
	}
	for v, seen := range f.views {
		if err := ask(v, 1, seen.items); err != nil {
			return err
		}
	}
	for _, page := range slices.Sorted(maps.Keys(f.pages)) {
		if err := ask(view{anyModel: true}, page, f.pages[page]); err != nil {
			return err
		}
	}
	return nil
}

// compareFailures asks for the newest failed calls one by one.
func (c *Console) compareFailures(ctx context.Context, found *findings, where string, id uuid.UUID, f *flow) error {
	for _, row := range f.failures {
		got, err := c.Stats.Call(ctx, id, row.CallID)
		if fault.KindOf(err) == fault.NotFound {
			found.differ(where, "failed call %s of %s is in the rows, but is answered as absent", row.CallID, row.StartTime)
			continue
		}
		if err != nil {
			return err
		}
		want := got
		want.Call = row.Call
		if reason := row.Failure.Reason; reason != nil && got.Failure.Reason != nil {
			reason.Message = got.Failure.Reason.Message // not in the row
		}
		want.Failure.Reason = row.Failure.Reason
		found.compare(fmt.Sprintf("%s call %s", where, row.CallID), failedCallView(got), failedCallView(want))
	}
	return nil
}
