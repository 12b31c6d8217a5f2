package report

import (
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

func metricsFields(m stats.Metrics, t stats.Tokens, sum *pricing.Sum) openapi.MetricsFields {
	return openapi.MetricsFields{
		Calls: m.Calls, Successes: m.Successes, Failures: m.Failures, SuccessRate: m.SuccessRate, AvgDurationMs: m.AvgDurationMs,
		P50Ms: m.P50Ms, P95Ms: m.P95Ms, P99Ms: m.P99Ms, Tokens: tokensView(t), Cost: openapi.Each(sum.Costs(), costView),
		Totals: openapi.Each(sum.Totals(), totalView),
	}
}

func totalView(t pricing.Total) openapi.CostTotal {
	view := openapi.CostTotal{Currency: t.Currency, Missing: t.Missing}
	if len(t.Missing) == 0 {
		amount := t.Amount.String()
		view.Amount, view.Missing = &amount, []string{}
	}
	return view
}

func callFields(book *pricing.Book, c stats.Call) openapi.CallFields {
	return openapi.CallFields{
		CallID: c.CallID, StartTime: c.StartTime, Model: c.Model, Success: c.Success, StatusCode: int64(c.StatusCode),
		DurationMs: int64(c.DurationMs), EndedBy: c.EndedBy, Streamed: c.Streamed, FirstByteMs: widened(c.FirstByteMs),
		UsageState: openapi.TextOrNull(c.UsageState), UpstreamModel: openapi.TextOrNull(c.UpstreamModel), InputTokens: widened(c.Input), OutputTokens: widened(c.Output),
		UpstreamID: openapi.TextOrNull(c.UpstreamID), Attempts: int64(c.Attempts), AttemptList: attemptViews(c),
		CachedTokens: widened(c.Cached), CacheWriteTokens: widened(c.CacheWrite), ReasoningTokens: widened(c.Reasoning),
		Tags: tagsOf(c.Tags), User: openapi.TextOrNull(c.EndUser), EstimatedTokens: estimatedTokens(c.Estimated), KeyID: idOrNull(c.KeyID),
		Lines: lineViews(linesOf(c)), AnswerID: openapi.TextOrNull(c.AnswerID), ReportedCost: reportedCost(c), Cost: openapi.Each(costOf(book, c), costView),
	}
}

// attemptViews are the attempts of a call that was sent to two upstreams; none where the first was not kept.
func attemptViews(c stats.Call) []openapi.CallAttempt {
	if c.Failed.UpstreamID == "" {
		return []openapi.CallAttempt{}
	}
	first := openapi.CallAttempt{Reason: openapi.TextOrNull(c.Failed.Reason), DurationMs: int64(c.Failed.DurationMs)}
	if c.Failed.Status != 0 {
		first.Status = widened(&c.Failed.Status)
	}
	last := openapi.CallAttempt{DurationMs: int64(c.DurationMs) - first.DurationMs}
	switch {
	case c.Success:
		last.Status = widened(&c.StatusCode)
	case c.Reason != nil:
		last.Status, last.Reason = widened(c.Reason.UpstreamStatus), &c.Reason.Code
	}
	return []openapi.CallAttempt{first, last}
}

// attemptUpstreams are those that the attempts were made at.
func attemptUpstreams(c stats.Call, names map[string]string) []openapi.AttemptUpstream {
	upstreams := []openapi.AttemptUpstream{}
	if c.Failed.UpstreamID != "" {
		for _, id := range []string{c.Failed.UpstreamID, c.UpstreamID} {
			upstreams = append(upstreams, openapi.AttemptUpstream{ID: id, Name: openapi.TextOrNull(names[id])})
		}
	}
	return upstreams
}

func tagsOf(tags []stats.Tag) map[string]string {
	all := make(map[string]string, len(tags))
	for _, tag := range tags {
		all[tag.Name] = tag.Value
	}
	return all
}

// estimatedTokens is null where nothing was estimated.
func estimatedTokens(n uint32) *int64 {
	if n == 0 {
		return nil
	}
	return widened(&n)
}

func callView(book *pricing.Book) func(stats.OwnedCall) openapi.Call {
	return func(c stats.OwnedCall) openapi.Call {
		return openapi.Call{CallFields: callFields(book, c.Call), Reason: callReason(c.Reason)}
	}
}

func ownCallView(book *pricing.Book, all map[uuid.UUID]application.Brief) func(stats.OwnedCall) openapi.OwnCall {
	return func(c stats.OwnedCall) openapi.OwnCall {
		return openapi.OwnCall{CallFields: callFields(book, c.Call), Reason: callReason(c.Reason), Application: nameOf(all[c.Application])}
	}
}

func callReason(r *stats.FailureReason) *openapi.CallReason {
	if r == nil {
		return nil
	}
	return &openapi.CallReason{Type: r.Type, Code: r.Code, UpstreamStatus: widened(r.UpstreamStatus)}
}

func reasonView(r *stats.FailureReason) *openapi.FailureReason {
	if r == nil {
		return nil
	}
	return &openapi.FailureReason{Type: r.Type, Code: r.Code, Message: r.Message, UpstreamStatus: widened(r.UpstreamStatus)}
}

func failedCallView(book *pricing.Book, c stats.FailedCall) openapi.FailedCall {
	return openapi.FailedCall{CallFields: callFields(book, c.Call), Failure: failureView(c.Failure)}
}

func failureView(f stats.FailureDetail) openapi.Failure {
	return openapi.Failure{
		Collected: f.Collected, Reason: reasonView(f.Reason), Request: (*openapi.FailedRequest)(f.Request),
		RequestBody: f.RequestBody, Query: f.Query, BodyNote: f.BodyNote,
	}
}

func widened[N uint16 | uint32](n *N) *int64 {
	if n == nil {
		return nil
	}
	wide := int64(*n)
	return &wide
}

func idOrNull(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// DisablingView names no administrator: it is for the application's owner.
func DisablingView(d *application.Disabling) *openapi.Disabling {
	if d == nil {
		return nil
	}
	return &openapi.Disabling{Reason: d.Reason, At: beijing.Format(d.At)}
}
