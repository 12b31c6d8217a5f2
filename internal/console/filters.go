package console

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/fault"
	"callgate/internal/stats"
)

// maxText is how many characters a text may have that messages are searched for.
const maxText = 200

var reasonTypes = []calls.ReasonType{
	calls.PermissionDenied, calls.UpstreamHTTPError, calls.ConnectionFailed, calls.Timeout, calls.Interrupted, calls.InvalidRequest,
	calls.Overloaded, calls.Limited, calls.InternalFault,
}

// outcomeOf reads what became of the calls that are asked for: result, reason, status, upstreamStatus, text and message.
func outcomeOf(ctx *fiber.Ctx, q *stats.CallsQuery) error {
	wrong := fault.Fields{}
	switch result := stats.Result(ctx.Query("result")); result {
	case stats.AnyResult:
	case stats.OnlySuccesses, stats.OnlyFailures:
		q.Result = stats.Result(strings.Clone(string(result)))
	default:
		wrong.Add("result", "must be success or failure")
	}
	given := ctx.Context().QueryArgs()
	if given.Has("reason") {
		if q.Outcome.Reason = reasonKind(ctx.Query("reason")); q.Outcome.Reason == nil {
			wrong.Add("reason", "must be a reason of failures, such as timeout, or reason:code, such as timeout:caller_timeout")
		}
	}
	if given.Has("status") {
		if q.Outcome.Status = httpStatus(ctx.Query("status")); q.Outcome.Status == 0 {
			wrong.Add("status", "must be an integer from 100 to 599")
		}
	}
	if text := ctx.Query("upstreamStatus"); given.Has("upstreamStatus") {
		status := httpStatus(text)
		if q.Outcome.UpstreamStatus = &status; status == 0 && text != "0" {
			wrong.Add("upstreamStatus", "must be 0 or an integer from 100 to 599")
		}
	}
	for _, of := range []struct {
		name string
		to   *string
	}{{"text", &q.Outcome.Text}, {"message", &q.Outcome.Message}} {
		if !given.Has(of.name) {
			continue
		}
		text, err := textParam(ctx, of.name)
		if err != nil {
			return err
		}
		wrong.Text(of.name, text, 1, maxText)
		*of.to = text
	}
	if q.Result == stats.OnlySuccesses && q.Outcome.OnlyFailures() {
		wrong.Add("result", "must be failure or left out, for reason, upstreamStatus, text and message select failures")
	}
	return wrong.Err()
}

// dimensionsOf reads what callers say of the calls that are asked for: tag, as name:value, once for each, and user, as it was sent
// or as it is shown.
func (c *Console) dimensionsOf(ctx *fiber.Ctx) (d stats.Dimensions, err error) {
	wrong := fault.Fields{}
	for _, text := range ctx.Context().QueryArgs().PeekMulti("tag") {
		name, value, given := strings.Cut(string(text), ":")
		if !given || !calls.IsTagName(name) || !calls.IsTagValue(value) {
			wrong.Add("tag", "must be name:value, such as team:search")
		}
		d.Tags = append(d.Tags, stats.Tag{Name: name, Value: value})
	}
	if len(d.Tags) > calls.MaxTags {
		wrong.Add("tag", "must not be given more than %d times, for no call has more tags", calls.MaxTags)
	}
	if ctx.Context().QueryArgs().Has("user") {
		user := strings.Clone(ctx.Query("user"))
		if !calls.IsEndUser(user) {
			wrong.Add("user", "must be 1 to %d characters", calls.MaxEndUser)
		}
		d.EndUsers = []string{user, c.EndUserHash(user)}
	}
	return d, wrong.Err()
}

// reasonKind reads a type, or type:code; nil is neither. An empty text is the empty type.
func reasonKind(text string) *stats.ReasonKind {
	kind, code, named := strings.Cut(text, ":")
	if text != "" && !slices.Contains(reasonTypes, calls.ReasonType(kind)) || named && !slices.Contains(calls.ReasonCodes, calls.ReasonCode(code)) {
		return nil
	}
	return &stats.ReasonKind{Type: strings.Clone(kind), Code: strings.Clone(code)}
}

// mostApplications is how many applications may be named to ask about.
const mostApplications = 50

// applicationsOf reads application, once for each; nil: none is named. Whose they are is not checked.
func applicationsOf(ctx *fiber.Ctx, wrong fault.Fields) (ids []uuid.UUID) {
	given := ctx.Context().QueryArgs().PeekMulti("application")
	if len(given) > mostApplications {
		wrong.Add("application", "must not be given more than %d times", mostApplications)
		return nil
	}
	for _, text := range given {
		id, err := uuid.ParseBytes(text)
		if err != nil || len(text) != 36 {
			wrong.Add("application", "must be the id of an application")
		}
		ids = append(ids, id)
	}
	return ids
}

// mostReadDays is of how many days a question may be that every call is read for.
const mostReadDays = 31

func checkReadDays(days beijing.Range, wrong fault.Fields) {
	if days.Days() > mostReadDays {
		wrong.Add("start", "must be at most %d days before the end, for every call is read", mostReadDays-1)
	}
}

// httpStatus reads an HTTP status; 0 is none.
func httpStatus(text string) uint16 {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return uint16(n)
}

// timesOf reads from and to, which lie within the days of q.
func timesOf(ctx *fiber.Ctx, q *stats.CallsQuery) (err error) {
	if q.From, err = timeParam(ctx, "from"); err != nil {
		return err
	}
	if q.To, err = timeParam(ctx, "to"); err != nil {
		return err
	}
	wrong, first, end := fault.Fields{}, q.Range.Start.Start(), q.Range.End.End()
	if q.From != nil && (q.From.Before(first) || !q.From.Before(end)) {
		wrong.Add("from", "must lie within the days from start to end")
	}
	switch {
	case q.To == nil:
	case !q.To.After(first) || q.To.After(end):
		wrong.Add("to", "must lie within the days from start to end")
	case q.From != nil && !q.To.After(*q.From):
		wrong.Add("to", "must be after from")
	}
	return wrong.Err()
}
