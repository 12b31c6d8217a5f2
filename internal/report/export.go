package report

import (
	"context"
	"io"
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

// WriteCalls writes the calls that exportCalls answers as a Sheet, in the order of CallPage, at the pace of to.
func (r *Report) WriteCalls(ctx context.Context, to io.Writer, q stats.CallsQuery) error {
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return err
	}
	file, err := NewSheet(to, CallColumns)
	if err != nil {
		return err
	}
	block := make([]stats.Call, 0, messagesAtOnce)
	flush := func() error {
		if err := r.Stats.AddMessages(ctx, q.Application, block); err != nil {
			return err
		}
		for _, call := range block {
			if err := file.Line(append(exportLine(call), costCells(book, call)...)); err != nil {
				return err
			}
		}
		block = block[:0]
		return file.Flush()
	}
	err = r.Stats.Walk(ctx, q, func(call stats.Call) error {
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
