package report

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/meter"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// fiveMeters are the names of a call's five numbers as meters.
var fiveMeters = [...]string{"input", "output", "cached_input", "cache_write", "reasoning"}

// linesOf are what a call used: its lines, or that of its five numbers.
func linesOf(c stats.Call) []stats.Line {
	if len(c.Lines) > 0 {
		return c.Lines
	}
	line := stats.Line{Model: c.UpstreamModel}
	for i, n := range []*uint32{c.Input, c.Output, c.Cached, c.CacheWrite, c.Reasoning} {
		if n != nil {
			line.Meters = append(line.Meters, stats.Meter{Name: fiveMeters[i], Amount: uint64(*n)})
		}
	}
	if len(line.Meters) == 0 {
		return nil
	}
	return []stats.Line{line}
}

// costOf is what a call costs by a book.
func costOf(book *pricing.Book, c stats.Call) []pricing.Cost {
	if len(c.Lines) == 0 && c.Input == nil && c.Output == nil {
		return nil
	}
	day, _ := beijing.ParseDay(c.StartTime[:len("2006-01-02")]) // stats made it
	sum := book.Sum()
	for i, line := range linesOf(c) {
		u := pricing.Usage{Capability: c.Model, UpstreamModel: line.Model, Tier: line.Tier, Band: int64(line.Band), Day: day, Calls: 1}
		if i > 0 {
			u.Calls, u.Beside = 0, 1
		}
		for _, m := range line.Meters {
			u.Add(m.Name, int64(m.Amount)) //nolint:gosec // the spool bounds it
		}
		sum.Add(book.Charge(u))
	}
	return sum.Costs()
}

func lineViews(lines []stats.Line) []openapi.CallLine {
	return openapi.Each(lines, func(l stats.Line) openapi.CallLine {
		view := openapi.CallLine{Model: openapi.TextOrNull(l.Model), Tier: openapi.TextOrNull(l.Tier), Band: int64(l.Band), Meters: map[string]int64{}}
		for _, m := range l.Meters {
			if !ofCost(m.Name) {
				view.Meters[m.Name] += int64(m.Amount) //nolint:gosec // the spool bounds it
			}
		}
		return view
	})
}

// ofCost tells whether a meter says what the provider charges, which is not what was used.
func ofCost(name string) bool {
	m, known := meter.Named(name)
	return known && m >= meter.NumPriced
}

func reportedCost(c stats.Call) *openapi.ReportedCost {
	if c.ReportedCost == nil {
		return nil
	}
	return &openapi.ReportedCost{Amount: c.ReportedCost.String(), Currency: openapi.TextOrNull(c.ReportedCurrency)}
}

// costCells are what CallColumns has of a call's lines and cost. Costs of several currencies stand one after the other.
func costCells(book *pricing.Book, c stats.Call) []string {
	var amounts, currencies []string
	for _, cost := range costOf(book, c) {
		if cost.Currency != "" {
			amounts, currencies = append(amounts, cost.Amount.String()), append(currencies, cost.Currency)
		}
	}
	reported, currency, lines := "", "", ""
	if c.ReportedCost != nil {
		reported, currency = c.ReportedCost.String(), c.ReportedCurrency
	}
	if len(c.Lines) > 0 {
		text, _ := json.Marshal(lineViews(c.Lines)) // texts and numbers
		lines = string(text)
	}
	tags := make([]string, len(c.Tags))
	for i, tag := range c.Tags {
		tags[i] = tag.Name + "=" + tag.Value
	}
	return []string{c.AnswerID, reported, currency, strings.Join(amounts, " "), strings.Join(currencies, " "), lines, strings.Join(tags, ","), c.EndUser}
}

// LookUp gives what the caller of a call may know of it: never a body. Faults: NotFound, Unavailable.
func LookUp(ctx context.Context, reader *stats.Reader, prices *pricing.Store, application, call uuid.UUID) (found openapi.CallLookup, err error) {
	c, err := reader.Own(ctx, application, call)
	if err != nil {
		return found, err
	}
	book, err := prices.Book(ctx)
	if err != nil {
		return found, err
	}
	f := callFields(book, c)
	found = openapi.CallLookup{
		CallID: f.CallID, StartTime: f.StartTime, Model: f.Model, Success: f.Success, StatusCode: f.StatusCode, DurationMs: f.DurationMs, Reason: callReason(c.Reason),
		UsageState: f.UsageState, UpstreamModel: f.UpstreamModel, InputTokens: f.InputTokens, OutputTokens: f.OutputTokens, CachedTokens: f.CachedTokens,
		CacheWriteTokens: f.CacheWriteTokens, ReasoningTokens: f.ReasoningTokens,
		Lines: f.Lines, AnswerID: f.AnswerID, ReportedCost: f.ReportedCost, Cost: f.Cost, Attempts: f.AttemptList,
	}
	if len(found.Attempts) == 0 && c.Attempts > 0 {
		found.Attempts = append(found.Attempts, onlyAttempt(c))
	}
	return found, nil
}

// onlyAttempt is that of a call that was sent to one upstream, or of whose attempts the last one is known.
func onlyAttempt(c stats.Call) openapi.CallAttempt {
	attempt := openapi.CallAttempt{DurationMs: int64(c.DurationMs)}
	switch {
	case c.Success:
		attempt.Status = widened(&c.StatusCode)
	case c.Reason != nil:
		attempt.Status, attempt.Reason = widened(c.Reason.UpstreamStatus), &c.Reason.Code
	}
	return attempt
}
