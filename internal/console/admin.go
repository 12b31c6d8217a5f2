package console

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/catalog"
	"callgate/internal/openapi"
)

// adminListGroups gives all groups as one page: the back office orders them as a whole.
func (c *Console) adminListGroups(ctx *fiber.Ctx) (any, error) {
	return respond(func(groups []catalog.Group) openapi.GroupList {
		all := int64(len(groups))
		return openapi.GroupList{Items: openapi.Each(groups, groupView), Total: all, Page: 1, Size: all}
	})(c.Catalog.Groups(ctx.UserContext()))
}

func (c *Console) createGroup(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.GroupDraft](ctx)
	if err != nil {
		return nil, err
	}
	g, err := c.Catalog.CreateGroup(ctx.UserContext(), principal(ctx).Email, catalog.GroupSettings(body))
	return created{groupView(g)}, err
}

func (c *Console) orderGroups(ctx *fiber.Ctx) (any, error) {
	body, seen, err := editOf[openapi.GroupOrder](ctx)
	if err != nil {
		return nil, err
	}
	return respond(groupItems)(c.Catalog.OrderGroups(ctx.UserContext(), principal(ctx).Email, body.IDs, seen...))
}

func (c *Console) adminGetGroup(ctx *fiber.Ctx, id string) (any, error) {
	return respond(groupView)(c.Catalog.Group(ctx.UserContext(), id))
}

func (c *Console) updateGroup(ctx *fiber.Ctx, id string) (any, error) {
	body, seen, err := editOf[openapi.GroupEdit](ctx)
	if err != nil {
		return nil, err
	}
	return respond(groupView)(c.Catalog.UpdateGroup(ctx.UserContext(), principal(ctx).Email, id, catalog.GroupSettings(body), seen...))
}

func (c *Console) adminListCapabilities(ctx *fiber.Ctx) (any, error) {
	filter := catalog.Filter{GroupID: ctx.Query("groupId"), Status: ctx.Query("status"), Text: strings.TrimSpace(ctx.Query("q"))}
	found, err := pageOf(ctx, adminCapabilityView, func(ctx context.Context, page, size int) ([]catalog.Details, int, error) {
		filter.Page, filter.Size = page, size
		return c.Catalog.Search(ctx, filter)
	})
	return openapi.AdminCapabilityPage(found), err
}

func (c *Console) createCapability(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.CapabilityDraft](ctx)
	if err != nil {
		return nil, err
	}
	made, err := c.capabilityChanged(ctx)(c.Catalog.Create(ctx.UserContext(), principal(ctx).Email, capabilitySettings(body)))
	return created{made}, err
}

func (c *Console) orderCapabilities(ctx *fiber.Ctx) (any, error) {
	body, seen, err := editOf[openapi.CapabilityOrder](ctx)
	if err != nil {
		return nil, err
	}
	return respond(func(ordered []catalog.Details) openapi.AdminCapabilityItems {
		return openapi.AdminCapabilityItems{Items: openapi.Each(ordered, adminCapabilityView)}
	})(c.Catalog.Order(ctx.UserContext(), principal(ctx).Email, body.GroupID, body.IDs, seen...))
}

func (c *Console) checkCapability(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.CheckRequest](ctx)
	if err != nil {
		return nil, err
	}
	return respond(checkView)(c.Catalog.Check(ctx.UserContext(), principal(ctx).Email, catalog.CheckRequest(body)))
}

func (c *Console) adminGetCapability(ctx *fiber.Ctx, id string) (any, error) {
	return respond(adminCapabilityView)(c.Catalog.Details(ctx.UserContext(), id))
}

func (c *Console) updateCapability(ctx *fiber.Ctx, id string) (any, error) {
	body, seen, err := editOf[openapi.CapabilityEdit](ctx)
	if err != nil {
		return nil, err
	}
	return c.capabilityChanged(ctx)(c.Catalog.Update(ctx.UserContext(), principal(ctx).Email, id, capabilitySettings(body), seen...))
}

func (c *Console) setCapabilityStatus(ctx *fiber.Ctx, id string) (any, error) {
	body, seen, err := editOf[openapi.CapabilityStatusEdit](ctx)
	if err != nil {
		return nil, err
	}
	if body.EndRunning != nil && *body.EndRunning && body.Status == catalog.Disabled {
		return c.capabilityChanged(ctx)(c.Catalog.DisableAndEnd(ctx.UserContext(), principal(ctx).Email, id, seen...))
	}
	return c.capabilityChanged(ctx)(c.Catalog.SetStatus(ctx.UserContext(), principal(ctx).Email, id, body.Status, seen...))
}

// capabilityChanged answers with a capability that was changed, and tells the gateways.
func (c *Console) capabilityChanged(ctx *fiber.Ctx) func(catalog.Details, error) (any, error) {
	return func(d catalog.Details, err error) (any, error) {
		if err == nil {
			c.Announcer.CapabilityChanged(ctx.UserContext(), d.ID)
		}
		return respond(adminCapabilityView)(d, err)
	}
}
