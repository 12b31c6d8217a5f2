package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/catalog"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
)

func (c *Console) listCapabilities(ctx *fiber.Ctx) (any, error) {
	available, err := c.Catalog.Available(ctx.UserContext())
	if err != nil {
		return nil, err
	}
	offered, err := c.offering(ctx)
	if err != nil {
		return nil, err
	}
	return openapi.CapabilityItems{Items: openapi.Each(available, func(of catalog.Capability) openapi.Capability {
		return openapi.Capability{CapabilityOffer: offered.view(of)}
	})}, nil
}

// offering is what capabilities cost today, and of how many applications of whoever asks each is.
type offering struct {
	book   *pricing.Book
	today  beijing.Day
	prices map[string][]pricing.Price
	bound  map[string]int64
}

func (c *Console) offering(ctx *fiber.Ctx) (o offering, err error) {
	if o.bound, err = c.Applications.BoundCounts(ctx.UserContext(), principal(ctx).UserID); err != nil {
		return o, err
	}
	if o.book, err = c.Pricing.Book(ctx.UserContext()); err != nil {
		return o, err
	}
	o.today = beijing.Today(c.Now())
	o.prices = o.book.Holding(o.today)
	return o, nil
}

func (o *offering) view(of catalog.Capability) openapi.CapabilityOffer {
	view := openapi.CapabilityOffer{
		CapabilityFields: openapi.CapabilityFields(of), CostBelieved: o.book.Believes(of.ID), ApplicationCount: o.bound[of.ID],
	}
	if all := o.prices[of.ID]; len(all) > 0 {
		price, holds := o.book.Price(of.ID, of.UpstreamModel, o.today)
		if !holds {
			price = all[0]
		}
		view.Price, view.OtherPrices = &openapi.CapabilityPrice{PriceFields: priceFields(price)}, int64(len(all)-1)
	}
	return view
}

func (c *Console) listGroups(ctx *fiber.Ctx) (any, error) {
	return respond(groupItems)(c.Catalog.Groups(ctx.UserContext()))
}

func (c *Console) getCapability(ctx *fiber.Ctx, id string) (any, error) {
	found, err := c.Catalog.Capability(ctx.UserContext(), id)
	if err != nil {
		return nil, err
	}
	offered, err := c.offering(ctx)
	if err != nil {
		return nil, err
	}
	return openapi.CapabilityDetails{
		CapabilityOffer: offered.view(found),
		Prices: openapi.Each(offered.prices[id], func(p pricing.Price) openapi.CapabilityPrice {
			return openapi.CapabilityPrice{PriceFields: priceFields(p)}
		}),
	}, nil
}

func (c *Console) listCapabilityApplications(ctx *fiber.Ctx, id string) (any, error) {
	return respond(func(bindings []application.Binding) openapi.BindingItems {
		return openapi.BindingItems{Items: openapi.Each(bindings, bindingView)}
	})(c.Applications.BoundTo(ctx.UserContext(), principal(ctx).UserID, id))
}
