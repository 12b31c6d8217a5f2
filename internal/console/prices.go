package console

import (
	"maps"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
)

func (c *Console) listPrices(ctx *fiber.Ctx) (any, error) {
	capability, err := textParam(ctx, "capability")
	if err != nil {
		return nil, err
	}
	return respond(func(prices []pricing.Price) openapi.PriceItems {
		return openapi.PriceItems{Items: openapi.Each(prices, priceView)}
	})(c.Pricing.List(ctx.UserContext(), capability))
}

func (c *Console) putPrice(ctx *fiber.Ctx) (any, error) {
	body, seen, err := editOf[openapi.PriceDraft](ctx, "upstreamModel", "tier", "cached", "cacheWrite", "cacheWrite1h")
	if err != nil {
		return nil, err
	}
	return respond(priceView)(c.Pricing.Put(ctx.UserContext(), principal(ctx).Email, pricing.Draft(body), seen...))
}

func (c *Console) deletePrice(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return nil, c.Pricing.Delete(ctx.UserContext(), principal(ctx).Email, id)
}

func (c *Console) listBelieved(ctx *fiber.Ctx) (any, error) {
	return respond(func(all []pricing.Believed) openapi.BelievedItems {
		return openapi.BelievedItems{Items: openapi.Each(all, func(b pricing.Believed) openapi.Believed {
			return openapi.Believed{CapabilityID: b.CapabilityID, CreatedBy: b.CreatedBy, CreatedAt: beijing.Format(b.CreatedAt)}
		})}
	})(c.Pricing.Believed(ctx.UserContext()))
}

func (c *Console) setBelieved(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.BelievedEdit](ctx)
	if err != nil {
		return nil, err
	}
	return nil, c.Pricing.Believe(ctx.UserContext(), principal(ctx).Email, body.CapabilityID, body.Believed)
}

func (c *Console) listRates(ctx *fiber.Ctx) (any, error) {
	return respond(func(rates []pricing.Exchange) openapi.ExchangeItems {
		return openapi.ExchangeItems{Items: openapi.Each(rates, exchangeView)}
	})(c.Pricing.Exchanges(ctx.UserContext()))
}

func (c *Console) putRate(ctx *fiber.Ctx) (any, error) {
	body, seen, err := editOf[openapi.ExchangeDraft](ctx)
	if err != nil {
		return nil, err
	}
	return respond(exchangeView)(c.Pricing.PutExchange(ctx.UserContext(), principal(ctx).Email, pricing.ExchangeDraft(body), seen...))
}

func (c *Console) deleteRate(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return nil, c.Pricing.DeleteExchange(ctx.UserContext(), principal(ctx).Email, id)
}

func exchangeView(e pricing.Exchange) openapi.Exchange {
	return openapi.Exchange{
		ID: e.ID, Currency: e.Currency, ToCurrency: e.To, From: e.From, Rate: e.Rate.String(),
		CreatedBy: e.CreatedBy, CreatedAt: beijing.Format(e.CreatedAt), UpdatedBy: e.UpdatedBy, UpdatedAt: beijing.Format(e.UpdatedAt),
	}
}

func (c *Console) suggestPrices(ctx *fiber.Ctx) (any, error) {
	suggestions, source, err := c.Pricing.Suggest(ctx.UserContext(), ctx.Query("capability"), ctx.Query("upstreamModel"))
	return openapi.PriceSuggestions{Items: openapi.Each(suggestions, suggestionView), Source: sourceView(source)}, err
}

func (c *Console) listUnpriced(ctx *fiber.Ctx) (any, error) {
	return c.Report.Unpriced(ctx.UserContext())
}

func priceView(p pricing.Price) openapi.Price {
	return openapi.Price{
		PriceFields: priceFields(p), ID: p.ID, CapabilityID: p.CapabilityID,
		CreatedBy: p.CreatedBy, CreatedAt: beijing.Format(p.CreatedAt), UpdatedBy: p.UpdatedBy, UpdatedAt: beijing.Format(p.UpdatedAt),
	}
}

// priceFields are what everybody may see of a price.
func priceFields(p pricing.Price) openapi.PriceFields {
	view := openapi.PriceFields{
		FromBand: p.FromBand, From: p.From, Currency: p.Currency, Input: p.Input.String(), Cached: rateView(p.Cached),
		CacheWrite: rateView(p.CacheWrite), Output: p.Output.String(), Amounts: map[string]string{},
	}
	if p.UpstreamModel != pricing.AnyModel {
		view.UpstreamModel = &p.UpstreamModel
	}
	if p.Tier != pricing.AnyTier {
		view.Tier = &p.Tier
	}
	for m, amount := range p.Amounts {
		view.Amounts[m.String()] = amount.String()
	}
	return view
}

func rateView(rate *decimal.Decimal) *string {
	if rate == nil {
		return nil
	}
	text := rate.String()
	return &text
}

func suggestionView(s pricing.Suggestion) openapi.PriceSuggestion {
	view := openapi.PriceSuggestion{
		Provider: s.Provider, Model: s.Model, Exact: s.Exact, FromBand: s.FromBand, Currency: s.Currency,
		Input: s.Input, Cached: s.Cached, CacheWrite: s.CacheWrite, Output: s.Output, Amounts: map[string]string{}, Notes: openapi.Each(s.Notes, func(n string) string { return n }),
	}
	maps.Copy(view.Amounts, s.Amounts)
	if s.From != nil {
		day := s.From.String()
		view.From = &day
	}
	return view
}

func sourceView(s pricing.Source) openapi.PriceSource {
	return openapi.PriceSource{Package: s.Package, Version: s.Version, License: s.License, Notice: s.Notice}
}
