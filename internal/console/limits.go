package console

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/limits"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

// limitNames are the fields of a body that are limits; each may be null.
var limitNames = []string{"requestsPerMinute", "tokensPerMinute", "concurrency", "callsPerDay", "tokensPerDay"}

func (c *Console) setApplicationLimits(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	body, nulls, err := nullsOf[openapi.LimitsEdit](ctx, limitNames...)
	if err != nil {
		return nil, err
	}
	seen, err := precondition(ctx)
	if err != nil {
		return nil, err
	}
	owner := principal(ctx).UserID
	refused := c.Limits.Set(ctx.UserContext(), owner, id, limitsGiven(body, nulls), seen...)
	if refused != nil && fault.KindOf(refused) != fault.Changed {
		return nil, refused
	}
	a, err := c.Applications.Get(ctx.UserContext(), owner, id)
	if err == nil {
		err = refused
	}
	return c.respondWithApplication(ctx.UserContext())(a, err)
}

// limitsWithin reads the limits that stand in a field of a body, those given as null included.
func limitsWithin(field string, sent []byte) (limits.Edit, error) {
	if len(sent) == 0 {
		return nil, nil
	}
	if sent[0] != '{' {
		return nil, fault.InvalidFields(map[string]string{field: "must be an object of limits"})
	}
	var body openapi.LimitsEdit
	if err := decodeObject(sent, &body, limitNames); err != nil {
		return nil, err
	}
	return limitsGiven(body, nullsIn(sent, limitNames)), nil
}

// limitsGiven are the limits that a body names, those given as null included.
func limitsGiven(body openapi.LimitsEdit, nulls []string) limits.Edit {
	given := limits.Edit{
		"requestsPerMinute": body.RequestsPerMinute, "tokensPerMinute": body.TokensPerMinute, "concurrency": body.Concurrency,
		"callsPerDay": body.CallsPerDay, "tokensPerDay": body.TokensPerDay,
	}
	for name, limit := range given {
		if limit == nil && !slices.Contains(nulls, name) {
			delete(given, name)
		}
	}
	return given
}

func (c *Console) getLimitsUsage(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	if _, err := c.Applications.Get(ctx.UserContext(), principal(ctx).UserID, id); err != nil {
		return nil, err
	}
	standings, err := c.Limits.Standings(ctx.UserContext(), id)
	if err != nil {
		return nil, err
	}
	used := c.limitsUsed(ctx.UserContext(), id, standings[id])
	view := openapi.LimitsUsage{}
	for i, h := range standings[id].Holding() {
		item := openapi.LimitUsage{Name: h.Name, Limit: limitView(h.Limit), Source: openapi.TextOrNull(string(h.Source))}
		if item.Limit != nil {
			item.Used = used[i]
		}
		item.WindowMs, item.ResetsAt = report.LimitSpan(h.Name, c.Now())
		if h.Name == "tokensPerDay" && item.Used != nil {
			item.Estimated = c.estimatedToday(ctx.UserContext(), id, *item.Used)
		}
		view.Items = append(view.Items, item)
	}
	return view, nil
}

// limitsUsed is what the gateways have counted, in the order of limitNames. What cannot be asked is not known: the
// rest of the answer is.
func (c *Console) limitsUsed(ctx context.Context, application uuid.UUID, standing limits.Standing) (used [5]*int64) {
	if c.LimitsUsage != nil {
		var err error
		if used, err = c.LimitsUsage.Used(ctx, application, standing); err != nil {
			c.Logger.LogAttrs(ctx, slog.LevelDebug, "usage of limits is not known", slog.Any("error", err))
		}
	}
	return used
}

// estimatedTimeout bounds the ledger's part of an answer that is about the counts.
const estimatedTimeout = 3 * time.Second

// estimatedToday is how many of the tokens used on this day are estimates, by the ledger: it has calls a moment after the
// counts do, and of another day across midnight, but never more than is used.
func (c *Console) estimatedToday(ctx context.Context, application uuid.UUID, used int64) *int64 {
	ctx, cancel := context.WithTimeout(ctx, estimatedTimeout)
	defer cancel()
	n, err := c.Stats.EstimatedTokens(ctx, application, beijing.Today(c.Now()))
	if err != nil {
		c.Logger.LogAttrs(ctx, slog.LevelDebug, "estimated tokens are not known", slog.Any("error", err))
		return nil
	}
	n = min(n, used)
	return &n
}

func (c *Console) listCeilings(ctx *fiber.Ctx) (any, error) {
	scope, err := textParam(ctx, "scope")
	if err != nil {
		return nil, err
	}
	contained, err := textParam(ctx, "q")
	if err != nil {
		return nil, err
	}
	found, err := pageOf(ctx, ceilingView, func(ctx context.Context, page, size int) ([]limits.Ceiling, int, error) {
		return c.Limits.Ceilings(ctx, limits.Scope(scope), contained, page, size)
	})
	return openapi.CeilingPage(found), err
}

func (c *Console) putCeiling(ctx *fiber.Ctx) (any, error) {
	body, seen, err := editOf[openapi.CeilingDraft](ctx, limitNames...)
	if err != nil {
		return nil, err
	}
	draft := limits.Draft{Scope: limits.Scope(body.Scope), Limits: limits.Edit{
		"requestsPerMinute": body.RequestsPerMinute, "tokensPerMinute": body.TokensPerMinute, "concurrency": body.Concurrency,
		"callsPerDay": body.CallsPerDay, "tokensPerDay": body.TokensPerDay,
	}}
	if body.Owner != nil {
		draft.Owner = *body.Owner
	}
	if body.Application != nil {
		draft.Application = *body.Application
	}
	return respond(ceilingView)(c.Limits.PutCeiling(ctx.UserContext(), principal(ctx).Email, draft, seen...))
}

func ceilingView(c limits.Ceiling) openapi.Ceiling {
	return openapi.Ceiling{
		ID: c.ID, Scope: string(c.Scope), OwnerID: c.OwnerID, OwnerEmail: c.OwnerEmail, ApplicationID: c.ApplicationID, ApplicationName: c.ApplicationName,
		Limits: limitsView(c.Limits), UpdatedBy: c.UpdatedBy, UpdatedAt: beijing.Format(c.UpdatedAt),
	}
}

func limitsView(l limits.Limits) openapi.Limits {
	return openapi.Limits{
		RequestsPerMinute: limitView(l.RequestsPerMinute), TokensPerMinute: limitView(l.TokensPerMinute), Concurrency: limitView(l.Concurrency),
		CallsPerDay: limitView(l.CallsPerDay), TokensPerDay: limitView(l.TokensPerDay),
	}
}

// limitView is null for no limit.
func limitView(limit int64) *int64 {
	if limit == 0 {
		return nil
	}
	return &limit
}

func effectiveView(holding [5]limits.Holding) openapi.EffectiveLimits {
	view := func(h limits.Holding) *openapi.EffectiveLimit {
		if h.Limit == 0 {
			return nil
		}
		return &openapi.EffectiveLimit{Limit: h.Limit, Source: string(h.Source)}
	}
	return openapi.EffectiveLimits{
		RequestsPerMinute: view(holding[0]), TokensPerMinute: view(holding[1]), Concurrency: view(holding[2]),
		CallsPerDay: view(holding[3]), TokensPerDay: view(holding[4]),
	}
}
