package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/application"
	"callgate/internal/catalog"
)

func (c *Console) listCapabilities(ctx *fiber.Ctx) (any, error) {
	available, err := c.Catalog.Available(ctx.UserContext())
	if err != nil {
		return nil, err
	}
	return items[catalog.Capability]{full(available)}, nil
}

func (c *Console) listGroups(ctx *fiber.Ctx) (any, error) {
	groups, err := c.Catalog.Groups(ctx.UserContext())
	if err != nil {
		return nil, err
	}
	return items[catalog.Group]{full(groups)}, nil
}

func (c *Console) getCapability(ctx *fiber.Ctx) (any, error) {
	id, err := identifierParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	return c.Catalog.Capability(ctx.UserContext(), id)
}

func (c *Console) listCapabilityApplications(ctx *fiber.Ctx) (any, error) {
	id, err := identifierParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	bindings, err := c.Applications.BoundTo(ctx.UserContext(), principal(ctx).UserID, id)
	if err != nil {
		return nil, err
	}
	return items[application.Binding]{full(bindings)}, nil
}
