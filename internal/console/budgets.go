package console

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/fault"
	"callgate/internal/openapi"
)

// editor is who edits budgets of own applications.
func editor(ctx *fiber.Ctx) budget.Who {
	who := principal(ctx)
	return budget.Who{Owner: who.UserID, Email: who.Email}
}

// administrator is who edits anybody's.
func administrator(ctx *fiber.Ctx) budget.Who { return budget.Who{Email: principal(ctx).Email} }

func (c *Console) listBudgets(ctx *fiber.Ctx) (any, error) {
	found, err := c.Budgets.Own(ctx.UserContext(), principal(ctx).UserID)
	if err != nil {
		return nil, err
	}
	return openapi.BudgetItems{Items: c.Report.BudgetViews(ctx.UserContext(), found)}, nil
}

func (c *Console) listApplicationBudgets(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return c.budgetsOf(ctx.UserContext(), principal(ctx).UserID, budget.Subject{Scope: budget.ForApplication, Application: id})
}

func (c *Console) listKeyBudgets(ctx *fiber.Ctx, id, key uuid.UUID) (any, error) {
	return c.budgetsOf(ctx.UserContext(), principal(ctx).UserID, budget.Subject{Scope: budget.ForKey, Application: id, Key: key})
}

// budgetsOf are the budgets of an application, those of its keys too, or of one of its keys.
func (c *Console) budgetsOf(ctx context.Context, owner uuid.UUID, of budget.Subject) (items openapi.BudgetItems, err error) {
	a, err := c.Applications.Get(ctx, owner, of.Application)
	if err != nil {
		return items, err
	}
	found, err := c.Budgets.Of(ctx, of.Application)
	if err != nil {
		return items, err
	}
	if of.Scope == budget.ForKey {
		keys, err := c.Applications.Keys(ctx, owner, of.Application)
		if err != nil {
			return items, err
		}
		if !slices.ContainsFunc(keys, func(k application.Key) bool { return k.ID == of.Key }) {
			return items, fault.Absent()
		}
		found = slices.DeleteFunc(found, func(b budget.Budget) bool { return b.Key != of.Key })
	}
	updatedAt := beijing.Format(a.UpdatedAt)
	return openapi.BudgetItems{UpdatedAt: &updatedAt, Items: c.Report.BudgetViews(ctx, found)}, nil
}

func (c *Console) setApplicationBudgets(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return c.setOwnBudgets(ctx, budget.Subject{Scope: budget.ForApplication, Application: id})
}

func (c *Console) setKeyBudgets(ctx *fiber.Ctx, id, key uuid.UUID) (any, error) {
	return c.setOwnBudgets(ctx, budget.Subject{Scope: budget.ForKey, Application: id, Key: key})
}

func (c *Console) setOwnBudgets(ctx *fiber.Ctx, of budget.Subject) (any, error) {
	body, seen, err := editOf[openapi.BudgetsEdit](ctx)
	if err != nil {
		return nil, err
	}
	refused := c.Budgets.Replace(ctx.UserContext(), editor(ctx), of, budgetDrafts(body.Budgets), seen...)
	if refused != nil && fault.KindOf(refused) != fault.Changed {
		return nil, refused
	}
	items, err := c.budgetsOf(ctx.UserContext(), principal(ctx).UserID, of)
	if err == nil {
		err = refused
	}
	return respond(asIs[openapi.BudgetItems])(items, err)
}

// asIs is the view of what is one.
func asIs[T any](view T) T { return view }

func budgetDrafts(given []openapi.BudgetDraft) []budget.Draft {
	return openapi.Each(given, func(d openapi.BudgetDraft) budget.Draft {
		draft := budget.Draft{Period: d.Period, Amount: d.Amount, Currency: d.Currency, Action: d.Action}
		if d.Unknown != nil {
			draft.Unknown = *d.Unknown
		}
		if d.Thresholds != nil {
			draft.Thresholds = *d.Thresholds
		}
		return draft
	})
}

func (c *Console) overrideBudget(ctx *fiber.Ctx, application, id uuid.UUID) (any, error) {
	return c.override(ctx, editor(ctx), application, id)
}

func (c *Console) overrideAnyBudget(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return c.override(ctx, administrator(ctx), uuid.Nil, id)
}

func (c *Console) override(ctx *fiber.Ctx, who budget.Who, application, id uuid.UUID) (any, error) {
	body, err := bodyOf[openapi.BudgetOverrideDraft](ctx)
	if err != nil {
		return nil, err
	}
	until, err := time.Parse(time.RFC3339, body.Until)
	if err != nil {
		return nil, fault.InvalidFields(map[string]string{"until": "must be a time of the form 2026-08-17T14:05:00+08:00"})
	}
	return c.overridden(ctx, who, application, id, &budget.OverrideDraft{Amount: body.Amount, Until: until, Reason: body.Reason})
}

func (c *Console) endBudgetOverride(ctx *fiber.Ctx, application, id uuid.UUID) (any, error) {
	return c.overridden(ctx, editor(ctx), application, id, nil)
}

func (c *Console) endAnyBudgetOverride(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return c.overridden(ctx, administrator(ctx), uuid.Nil, id, nil)
}

func (c *Console) overridden(ctx *fiber.Ctx, who budget.Who, application, id uuid.UUID, draft *budget.OverrideDraft) (any, error) {
	b, err := c.Budgets.SetOverride(ctx.UserContext(), who, application, id, draft)
	if err != nil {
		return nil, err
	}
	return c.Report.BudgetViews(ctx.UserContext(), []budget.Budget{b})[0], nil
}

func (c *Console) listAllBudgets(ctx *fiber.Ctx) (any, error) {
	scope, err := textParam(ctx, "scope")
	if err != nil {
		return nil, err
	}
	state, err := textParam(ctx, "state")
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", "ok", "near", "over", "unknown"}, state) {
		return nil, fault.InvalidFields(map[string]string{"state": "must be ok, near, over or unknown"})
	}
	contained, err := textParam(ctx, "q")
	if err != nil {
		return nil, err
	}
	page, size, err := pageAndSize(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Budgets.All(ctx.UserContext(), budget.Scope(scope), contained)
	if err != nil {
		return nil, err
	}
	return c.Report.BudgetPage(ctx.UserContext(), all, state, page, size), nil
}

func (c *Console) setBudgets(ctx *fiber.Ctx) (any, error) {
	body, seen, err := editOf[openapi.BudgetsOfEdit](ctx)
	if err != nil {
		return nil, err
	}
	of, err := c.subjectOf(ctx.UserContext(), body)
	if err != nil {
		return nil, err
	}
	refused := c.Budgets.Replace(ctx.UserContext(), administrator(ctx), of, budgetDrafts(body.Budgets), seen...)
	if refused != nil && fault.KindOf(refused) != fault.Changed {
		return nil, refused
	}
	found, err := c.Budgets.OfSubject(ctx.UserContext(), of)
	if err != nil {
		return nil, err
	}
	items := openapi.BudgetItems{Items: c.Report.BudgetViews(ctx.UserContext(), found)}
	for _, b := range items.Items {
		if items.UpdatedAt == nil || b.UpdatedAt > *items.UpdatedAt {
			items.UpdatedAt = &b.UpdatedAt
		}
	}
	return respond(asIs[openapi.BudgetItems])(items, refused)
}

// subjectOf is whom an administrator sets budgets for.
func (c *Console) subjectOf(ctx context.Context, body openapi.BudgetsOfEdit) (of budget.Subject, err error) {
	of.Scope = budget.Scope(body.Scope)
	switch {
	case of.Scope == budget.ForOwner && body.Owner != nil:
		of.Owner, err = c.Applications.Account(ctx, *body.Owner)
	case of.Scope == budget.ForOwner:
		err = fault.InvalidFields(map[string]string{"owner": "is required"})
	case of.Scope == budget.ForCapability && body.CapabilityID != nil && *body.CapabilityID != "":
		of.Capability = *body.CapabilityID
	case of.Scope == budget.ForCapability:
		err = fault.InvalidFields(map[string]string{"capabilityId": "is required"})
	default:
		err = fault.InvalidFields(map[string]string{"scope": "must be owner or capability"})
	}
	return of, err
}

func (c *Console) listUncovered(ctx *fiber.Ctx) (any, error) {
	page, size, err := pageAndSize(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.Budgets.All(ctx.UserContext(), "", "")
	if err != nil {
		return nil, err
	}
	return c.Report.Uncovered(ctx.UserContext(), all, page, size)
}
