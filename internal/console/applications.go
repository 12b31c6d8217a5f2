package console

import (
	"context"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

func (c *Console) listApplications(ctx *fiber.Ctx) (any, error) {
	by, err := choiceOf(ctx)
	if err != nil {
		return nil, err
	}
	if by.Days, err = c.daysOf(ctx); err != nil {
		return nil, err
	}
	owner := principal(ctx).UserID
	found, err := pageOf(ctx, unchanged[application.Application], func(ctx context.Context, page, size int) ([]application.Application, int, error) {
		return c.Report.ChosenApplications(ctx, owner, by, page, size)
	})
	if err != nil {
		return nil, err
	}
	view, err := c.applicationView(ctx.UserContext(), found.Items...)
	return openapi.ApplicationPage{PageFields: found.PageFields, Items: openapi.Each(found.Items, view)}, err
}

// createApplication is the one answer about an application with its key in full.
func (c *Console) createApplication(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.ApplicationDraft](ctx)
	if err != nil {
		return nil, err
	}
	a, key, err := c.Applications.Create(ctx.UserContext(), principal(ctx).UserID, draftOf(body))
	if err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), a.ID)
	view, err := c.applicationView(ctx.UserContext(), a)
	return created{openapi.NewApplication{
		ApplicationFields: view(a).ApplicationFields, AccessKeyField: openapi.AccessKeyField{AccessKey: key},
	}}, err
}

// draftOf takes a field that is left out for an empty one.
func draftOf(body openapi.ApplicationDraft) (draft application.Draft) {
	if body.Name != nil {
		draft.Name = *body.Name
	}
	if body.Description != nil {
		draft.Description = *body.Description
	}
	if body.CapabilityIDs != nil {
		draft.CapabilityIDs = *body.CapabilityIDs
	}
	return draft
}

func (c *Console) getApplication(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return c.respondWithApplication(ctx.UserContext())(c.Applications.Get(ctx.UserContext(), principal(ctx).UserID, id))
}

func (c *Console) updateApplication(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	body, seen, err := editOf[openapi.ApplicationEdit](ctx)
	if err != nil {
		return nil, err
	}
	return c.applicationChanged(ctx)(c.Applications.Update(ctx.UserContext(), principal(ctx).UserID, id, application.Patch(body), seen...))
}

func (c *Console) setApplicationStatus(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	body, seen, err := editOf[openapi.ApplicationStatusEdit](ctx)
	if err != nil {
		return nil, err
	}
	return c.applicationChanged(ctx)(c.Applications.SetStatus(ctx.UserContext(), principal(ctx).UserID, id, body.Status, seen...))
}

func (c *Console) bindCapability(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	capability, err := identifierParam(ctx, "capabilityId")
	if err != nil {
		return nil, err
	}
	seen, err := precondition(ctx)
	if err != nil {
		return nil, err
	}
	return c.applicationChanged(ctx)(c.Applications.Bind(ctx.UserContext(), principal(ctx).UserID, id, capability, seen...))
}

func (c *Console) deleteApplication(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	if err := c.Applications.Delete(ctx.UserContext(), principal(ctx).UserID, id); err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	return nil, nil
}

// applicationChanged answers with an application that was changed, and tells the gateways.
func (c *Console) applicationChanged(ctx *fiber.Ctx) func(application.Application, error) (any, error) {
	return func(a application.Application, err error) (any, error) {
		if err == nil {
			c.Announcer.ApplicationChanged(ctx.UserContext(), a.ID)
		}
		return c.respondWithApplication(ctx.UserContext())(a, err)
	}
}

// respondWithApplication is respond for an application.
func (c *Console) respondWithApplication(ctx context.Context) func(application.Application, error) (any, error) {
	return func(a application.Application, err error) (any, error) {
		if err != nil && fault.KindOf(err) != fault.Changed {
			return nil, err
		}
		view, failed := c.applicationView(ctx, a)
		if failed != nil {
			return nil, failed
		}
		return respond(view)(a, err)
	}
}

// applicationView shows these applications with their limits. Those are read after the applications were: whoever
// edits what is told finds out that it was changed between.
func (c *Console) applicationView(ctx context.Context, applications ...application.Application) (func(application.Application) openapi.Application, error) {
	standings, err := c.Limits.Standings(ctx, openapi.Each(applications, func(a application.Application) uuid.UUID { return a.ID })...)
	return func(a application.Application) openapi.Application {
		standing := standings[a.ID]
		return openapi.Application{ApplicationFields: openapi.ApplicationFields{
			ID: a.ID, Name: a.Name, Description: a.Description, Status: a.Status,
			CapabilityIDs: a.CapabilityIDs, MaskedAccessKey: a.MaskedAccessKey, DisabledByAdministrator: report.DisablingView(a.Disabling),
			Limits: limitsView(standing.Own), Ceilings: limitsView(standing.Ceilings), EffectiveLimits: effectiveView(standing.Holding()),
			CreatedAt: beijing.Format(a.CreatedAt), UpdatedAt: beijing.Format(a.UpdatedAt),
		}}
	}, err
}
