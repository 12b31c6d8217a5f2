package report

import (
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"callgate/internal/stats"
)

// CallColumns are the headings of WriteCalls.
var CallColumns = []string{"callId", "startTime", "model", "success", "statusCode", "durationMs", "endedBy", "streamed", "firstByteMs",
	"usageState", "upstreamModel", "inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens", "keyId",
	"reasonType", "reasonCode", "upstreamStatus", "message", "answerId", "reportedCost", "reportedCurrency", "cost", "currency", "lines", "tags", "user"}

// messagesAtOnce is how many lines have their messages asked for together.
const messagesAtOnce = 1000

// OwnCallColumns are the headings of WriteOwnCalls.
var OwnCallColumns = append([]string{"applicationId", "application"}, CallColumns...)

// WriteCalls writes the calls that exportCalls answers as a Sheet, in the order of CallPage, at the pace of to.
func (r *Report) WriteCalls(ctx context.Context, to io.Writer, q stats.CallsQuery) error {
	return r.writeCalls(ctx, to, q, CallColumns, func(stats.OwnedCall) []string { return nil })
}

// WriteOwnCalls is WriteCalls for exportOwnCalls, in the order of OwnCallPage.
func (r *Report) WriteOwnCalls(ctx context.Context, to io.Writer, owner uuid.UUID, q stats.CallsQuery) error {
	all, ids, err := r.asked(ctx, owner, q.Applications)
	if err != nil {
		return err
	}
	q.Applications = ids
	return r.writeCalls(ctx, to, q, OwnCallColumns, func(c stats.OwnedCall) []string {
		return []string{c.Application.String(), all[c.Application].Name}
	})
}

// writeCalls writes what first says of a call before each line.
func (r *Report) writeCalls(ctx context.Context, to io.Writer, q stats.CallsQuery, columns []string, first func(stats.OwnedCall) []string) error {
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return err
	}
	file, err := NewSheet(to, columns)
	if err != nil {
		return err
	}
	block := make([]stats.OwnedCall, 0, messagesAtOnce)
	flush := func() error {
		if err := r.Stats.AddMessages(ctx, block); err != nil {
			return err
		}
		for _, call := range block {
			if err := file.Line(slices.Concat(first(call), exportLine(call.Call), costCells(book, call.Call))); err != nil {
				return err
			}
		}
		block = block[:0]
		return file.Flush()
	}
	err = r.Stats.Walk(ctx, q, func(call stats.OwnedCall) error {
		if block = append(block, call); len(block) < cap(block) {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// exportLine is a call under CallColumns, without what costCells has.
func exportLine(c stats.Call) []string {
	line := []string{c.CallID.String(), c.StartTime, c.Model, strconv.FormatBool(c.Success),
		strconv.FormatUint(uint64(c.StatusCode), 10), strconv.FormatUint(uint64(c.DurationMs), 10),
		c.EndedBy, strconv.FormatBool(c.Streamed), digits(c.FirstByteMs), c.UsageState, c.UpstreamModel,
		digits(c.Input), digits(c.Output), digits(c.Cached), digits(c.CacheWrite), digits(c.Reasoning), idText(c.KeyID)}
	switch {
	case c.Reason == nil:
		return append(line, "", "", "", "")
	case c.Reason.Message == nil:
		return append(line, c.Reason.Type, c.Reason.Code, digits(c.Reason.UpstreamStatus), "")
	}
	return append(line, c.Reason.Type, c.Reason.Code, digits(c.Reason.UpstreamStatus), *c.Reason.Message)
}

// idText is an id, or nothing for one that is not known.
func idText(id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return id.String()
}

// digits is a number, or nothing for one that is not known.
func digits[N uint16 | uint32](n *N) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*n), 10)
}
