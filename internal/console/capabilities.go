package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/application"
	"callgate/internal/catalog"
	"callgate/internal/openapi"
)

func (c *Console) listCapabilities(ctx *fiber.Ctx) (any, error) {
	return respond(func(available []catalog.Capability) openapi.CapabilityItems {
		return openapi.CapabilityItems{Items: openapi.Each(available, capabilityView)}
	})(c.Catalog.Available(ctx.UserContext()))
}

func (c *Console) listGroups(ctx *fiber.Ctx) (any, error) {
	return respond(groupItems)(c.Catalog.Groups(ctx.UserContext()))
}

func (c *Console) getCapability(ctx *fiber.Ctx, id string) (any, error) {
	return respond(capabilityView)(c.Catalog.Capability(ctx.UserContext(), id))
}

func (c *Console) listCapabilityApplications(ctx *fiber.Ctx, id string) (any, error) {
	return respond(func(bindings []application.Binding) openapi.BindingItems {
		return openapi.BindingItems{Items: openapi.Each(bindings, bindingView)}
	})(c.Applications.BoundTo(ctx.UserContext(), principal(ctx).UserID, id))
}
