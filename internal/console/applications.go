package console

import (
	"net/url"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// applicationView is an application as api.md shows it.
type applicationView struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	Description     string    `json:"description"`
	Status          string    `json:"status"`
	CapabilityIDs   []string  `json:"capabilityIds"`
	MaskedAccessKey string    `json:"maskedAccessKey"`
	CreatedAt       string    `json:"createdAt"`
	UpdatedAt       string    `json:"updatedAt"`
}

// newApplicationView is the one application answer with its key in full (spec section 4.2).
type newApplicationView struct {
	applicationView
	AccessKey string `json:"accessKey"`
}

type accessKeyView struct {
	AccessKey string `json:"accessKey"`
}

func viewOf(a application.Application) applicationView {
	return applicationView{
		ID: a.ID, Name: a.Name, Description: a.Description, Status: a.Status,
		CapabilityIDs: full(a.CapabilityIDs), MaskedAccessKey: a.MaskedAccessKey,
		CreatedAt: beijing.Format(a.CreatedAt), UpdatedAt: beijing.Format(a.UpdatedAt),
	}
}

func (c *Console) listApplications(ctx *fiber.Ctx) (any, error) {
	page, size, err := pageAndSize(ctx)
	if err != nil {
		return nil, err
	}
	found, total, err := c.Applications.List(ctx.UserContext(), principal(ctx).UserID, page, size)
	if err != nil {
		return nil, err
	}
	views := make([]applicationView, len(found))
	for i, a := range found {
		views[i] = viewOf(a)
	}
	return list[applicationView]{views, total, page, size}, nil
}

func (c *Console) createApplication(ctx *fiber.Ctx) (any, error) {
	var draft application.Draft
	if err := decode(ctx, &draft); err != nil {
		return nil, err
	}
	a, key, err := c.Applications.Create(ctx.UserContext(), principal(ctx).UserID, draft)
	if err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), a.ID)
	return created{newApplicationView{viewOf(a), key}}, nil
}

func (c *Console) getApplication(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	a, err := c.Applications.Get(ctx.UserContext(), principal(ctx).UserID, id)
	if err != nil {
		return nil, err
	}
	return viewOf(a), nil
}

func (c *Console) updateApplication(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	var patch application.Patch
	if err := decode(ctx, &patch); err != nil {
		return nil, err
	}
	return c.applicationChanged(ctx)(c.Applications.Update(ctx.UserContext(), principal(ctx).UserID, id, patch))
}

func (c *Console) setApplicationStatus(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	var body struct {
		Status string `json:"status"`
	}
	if err := decode(ctx, &body); err != nil {
		return nil, err
	}
	return c.applicationChanged(ctx)(c.Applications.SetStatus(ctx.UserContext(), principal(ctx).UserID, id, body.Status))
}

func (c *Console) bindCapability(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	capability, err := identifierParam(ctx, "capabilityId")
	if err != nil {
		return nil, err
	}
	return c.applicationChanged(ctx)(c.Applications.Bind(ctx.UserContext(), principal(ctx).UserID, id, capability))
}

func (c *Console) deleteApplication(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	if err := c.Applications.Delete(ctx.UserContext(), principal(ctx).UserID, id); err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	return nil, nil
}

func (c *Console) revealAccessKey(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	who := principal(ctx)
	key, err := c.Applications.RevealKey(ctx.UserContext(), who.UserID, id, who.Email)
	if err != nil {
		return nil, err
	}
	return accessKeyView{key}, nil // no-store, as every management answer
}

func (c *Console) rotateAccessKey(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	who := principal(ctx)
	key, err := c.Applications.RotateKey(ctx.UserContext(), who.UserID, id, who.Email)
	if err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	return accessKeyView{key}, nil
}

// applicationChanged answers with an application that was changed, and tells the gateways.
func (c *Console) applicationChanged(ctx *fiber.Ctx) func(application.Application, error) (any, error) {
	return func(a application.Application, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		c.Announcer.ApplicationChanged(ctx.UserContext(), a.ID)
		return viewOf(a), nil
	}
}

func pageAndSize(ctx *fiber.Ctx) (page, size int, err error) {
	if page, err = pageOf(ctx); err != nil {
		return 0, 0, err
	}
	size, err = sizeOf(ctx)
	return page, size, err
}

// identifierParam reads a capability's or group's identifier from the path, where a colon may come
// percent-encoded.
func identifierParam(ctx *fiber.Ctx, name string) (string, error) {
	text, err := url.PathUnescape(ctx.Params(name))
	if err != nil {
		return "", fault.Absent()
	}
	return text, nil
}
