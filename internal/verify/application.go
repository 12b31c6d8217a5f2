package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// compareApplication compares every answer about one application: detail, call flow, export and
// the reasons of its newest failures; and its hours.
func (v *verifier) compareApplication(ctx context.Context, found *findings, owner, id uuid.UUID, days beijing.Range, recount *recounted, counted *tokens, why dailyReasons) error {
	a, err := v.Applications.Get(ctx, owner, id)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("application %s", id)
	got, err := v.Answers.ApplicationDetail(ctx, a, days)
	if err != nil {
		return err
	}
	usage := recount.usage(days)
	want := got
	want.Summary, want.Daily = openapi.Metrics{MetricsFields: counted.summary(usage.Summary)}, each(usage.Daily, counted.day)
	if want.Models, err = v.named(ctx, usage.Models, counted); err != nil {
		return err
	}
	found.compare(where, got, want)
	if err := v.compareHours(ctx, found, where, id, days); err != nil {
		return err
	}
	if err := v.compareKeys(ctx, found, where, id, days); err != nil {
		return err
	}

	flow := newFlow(usage)
	if err := v.compareExport(ctx, found, where, id, days, recount, flow); err != nil {
		return err
	}
	if err := v.compareFlow(ctx, found, where, id, days, flow, counted); err != nil {
		return err
	}
	if err := v.compareReasons(ctx, found, where, id, days, flow.reasons.of(days)); err != nil {
		return err
	}
	why.merge(flow.reasons)
	return v.compareFailures(ctx, found, where, id, flow, counted)
}

// flow is what the rows say about the call flow: for every filter how many calls there are and the
// first page, of all calls also the page in the middle and the last one.
type flow struct {
	lists    map[filter]*list
	pages    map[int][]stats.Call // of all calls
	failures []stats.FailedCall   // the newest
	reasons  dailyReasons
	rows     int // passed through add
}

// filter is what a list of calls is narrowed by.
type filter struct {
	anyModel bool
	model    string
	result   stats.Result
}

// list is what the rows say of a filtered list.
type list struct {
	summary   stats.CallsSummary
	firstPage []stats.Call
}

func (l *list) total(result stats.Result) int64 {
	switch result {
	case stats.OnlySuccesses:
		return l.summary.Successes
	case stats.OnlyFailures:
		return l.summary.Failures
	}
	return l.summary.Calls
}

var results = []stats.Result{stats.AnyResult, stats.OnlySuccesses, stats.OnlyFailures}

func newFlow(usage stats.Usage) *flow {
	f := &flow{lists: map[filter]*list{}, pages: map[int][]stats.Call{}, reasons: dailyReasons{}}
	put := func(by filter, m stats.Metrics) {
		for _, by.result = range results {
			f.lists[by] = &list{summary: stats.CallsSummary{Calls: m.Calls, Successes: m.Successes, Failures: m.Failures}}
		}
	}
	put(filter{anyModel: true}, usage.Summary)
	for _, m := range usage.Models {
		put(filter{model: m.Model}, m.Metrics)
	}
	if last := int(usage.Summary.Calls+stats.PageSize-1) / stats.PageSize; last > 1 {
		f.pages[(last+1)/2], f.pages[last] = nil, nil
	}
	return f
}

// add takes the next row, newest first.
func (f *flow) add(row stats.FailedCall) {
	page := f.rows/stats.PageSize + 1
	f.rows++
	if items, wanted := f.pages[page]; wanted {
		f.pages[page] = append(items, row.Call)
	}
	result := stats.OnlyFailures
	f.reasons.add(row.Call)
	if row.Success {
		result = stats.OnlySuccesses
	} else if len(f.failures) < stats.PageSize {
		f.failures = append(f.failures, row)
	}
	for _, by := range []filter{
		{anyModel: true}, {anyModel: true, result: result}, {model: row.Model}, {model: row.Model, result: result},
	} {
		if narrowed := f.lists[by]; narrowed != nil && len(narrowed.firstPage) < stats.PageSize {
			narrowed.firstPage = append(narrowed.firstPage, row.Call)
		}
	}
}

// flowsAtOnce is how many pages of one application are asked for at the same time: as many accounts are
// compared as leave the reader's connections to that.
const flowsAtOnce = 2

// errDifferent ends a walk at its first difference.
var errDifferent = errors.New("different")

// compareExport walks the calls as the export does, beside the rows themselves, and fills in flow.
func (v *verifier) compareExport(ctx context.Context, found *findings, where string, id uuid.UUID, days beijing.Range, recount *recounted, f *flow) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, stop := iter.Pull2(v.Stats.Rows(ctx, id, recount.days()))
	defer stop()
	walked := 0
	err := v.Stats.Walk(ctx, stats.CallsQuery{Applications: []uuid.UUID{id}, Range: days}, func(got stats.OwnedCall) error {
		row, err, more := next()
		if err != nil {
			return err
		}
		walked++
		if more {
			f.add(row)
		}
		if !more || !reflect.DeepEqual(got, stats.OwnedCall{Application: id, Call: row.Call}) {
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
func (v *verifier) compareFlow(ctx context.Context, found *findings, where string, id uuid.UUID, days beijing.Range, f *flow, counted *tokens) error {
	var mu sync.Mutex // guards found
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(flowsAtOnce)
	ask := func(by filter, page int, items []stats.Call) error {
		q := stats.CallsQuery{Applications: []uuid.UUID{id}, Range: days, Page: page, Result: by.result}
		of := "all models"
		if !by.anyModel {
			q.Model, of = &by.model, fmt.Sprintf("model %q", by.model)
		}
		got, err := v.Answers.CallPage(groupCtx, q)
		if err != nil {
			return err
		}
		want := got
		want.Items, want.Total, want.Summary = each(items, counted.callLine), f.lists[by].total(by.result), openapi.CallsSummary(f.lists[by].summary)
		want.Models = slices.Clone(got.Models) // models of expired calls stay; those of rows must be there
		for known := range f.lists {
			if !known.anyModel && !slices.Contains(want.Models, known.model) {
				want.Models = append(want.Models, known.model)
			}
		}
		slices.Sort(want.Models)
		want.Models = slices.Compact(want.Models)
		mu.Lock()
		defer mu.Unlock()
		found.compare(fmt.Sprintf("%s calls, %s, result %q, page %d", where, of, by.result, page), got, want)
		return nil
	}
	for by, list := range f.lists {
		group.Go(func() error { return ask(by, 1, list.firstPage) })
	}
	for page, items := range f.pages {
		group.Go(func() error { return ask(filter{anyModel: true}, page, items) })
	}
	return group.Wait()
}

// compareFailures asks for the newest failed calls one by one.
func (v *verifier) compareFailures(ctx context.Context, found *findings, where string, id uuid.UUID, f *flow, counted *tokens) error {
	for _, row := range f.failures {
		got, err := v.Answers.FailedCall(ctx, id, row.CallID)
		if fault.KindOf(err) == fault.NotFound {
			found.differ(where, "failed call %s of %s is in the rows, but is answered as absent", row.CallID, row.StartTime)
			continue
		}
		if err != nil {
			return err
		}
		want := got
		want.CallFields = counted.call(row.Call)
		want.Failure.Reason = failureReasonOf(row.Reason)
		if want.Failure.Reason != nil && got.Failure.Reason != nil {
			want.Failure.Reason.Message = got.Failure.Reason.Message // not in the row
		}
		found.compare(fmt.Sprintf("%s call %s", where, row.CallID), got, want)
	}
	return nil
}
