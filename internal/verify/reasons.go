package verify

import (
	"context"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// reasons are the failures that the rows have for each reason.
type reasons map[reason]*seen

type reason struct{ kind, code, model string }

type seen struct {
	failures    int64
	first, last string // Beijing times, which are ordered as texts
}

func (r reasons) add(c stats.Call) {
	if c.Success {
		return
	}
	of := reason{model: c.Model}
	if c.Reason != nil {
		of.kind, of.code = c.Reason.Type, c.Reason.Code
	}
	r.count(of, seen{1, c.StartTime, c.StartTime})
}

func (r reasons) count(of reason, more seen) {
	sum := r[of]
	if sum == nil {
		r[of] = &more
		return
	}
	sum.failures += more.failures
	sum.first, sum.last = min(sum.first, more.first), max(sum.last, more.last)
}

func (r reasons) merge(others reasons) {
	for of, more := range others {
		r.count(of, *more)
	}
}

// compareReasons asks why calls of an application failed.
func (v *verifier) compareReasons(ctx context.Context, found *findings, where string, id uuid.UUID, days beijing.Range, rows reasons) error {
	got, err := v.Answers.ApplicationReasons(ctx, id, days, nil)
	if err != nil {
		return err
	}
	found.reasons(where, got.Failures, each(got.Items, func(r openapi.Reason) openapi.ReasonFields { return r.ReasonFields }), got.Other, rows)
	return nil
}

func (v *verifier) compareOverviewReasons(ctx context.Context, found *findings, owner uuid.UUID, days beijing.Range, rows reasons) error {
	got, err := v.Answers.OverviewReasons(ctx, owner, days, nil)
	if err != nil {
		return err
	}
	found.reasons(fmt.Sprintf("account %s overview", owner), got.Failures,
		each(got.Items, func(r openapi.OverviewReason) openapi.ReasonFields { return r.ReasonFields }), got.Other, rows)
	return nil
}

// reasons notes each reason that is answered otherwise than the rows have it, whatever the upstream's status was. Where only
// the foremost are told apart, no more than theirs can be missing.
func (f *findings) reasons(where string, failures int64, items []openapi.ReasonFields, other openapi.OtherReasons, rows reasons) {
	answered, sum := reasons{}, other.Failures
	for _, item := range items {
		sum += item.Failures
		answered.count(reason{text(item.Type), text(item.Code), item.Model}, seen{item.Failures, item.FirstSeen, item.LastSeen})
	}
	counted := int64(0)
	for _, r := range rows {
		counted += r.failures
	}
	if failures != counted || sum != failures {
		f.differ(where+" reasons", "%d failures are answered, of which reasons have %d; the rows give %d", failures, sum, counted)
	}
	all := maps.Clone(rows)
	for of := range answered {
		if all[of] == nil {
			all[of] = &seen{}
		}
	}
	for of, want := range all {
		got := answered[of]
		if got == nil {
			got = &seen{}
		}
		if missing := want.failures - got.failures; *got != *want && (missing < 0 || missing > other.Failures || other.Failures == 0) {
			f.differ(where+" reasons", "%s %s of %q: %v is answered, the rows give %v", of.kind, of.code, of.model, *got, *want)
		}
	}
}

func text(t *string) string {
	if t == nil {
		return ""
	}
	return *t
}
