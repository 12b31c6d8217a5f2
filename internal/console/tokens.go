package console

import (
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/identity"
	"callgate/internal/openapi"
)

func (c *Console) listTokens(ctx *fiber.Ctx) (any, error) {
	return respond(c.tokenItemsView)(c.Identity.ManagementTokens(ctx.UserContext(), principal(ctx).UserID))
}

func (c *Console) tokenItemsView(tokens []identity.ManagementToken) openapi.ManagementTokenItems {
	return openapi.ManagementTokenItems{Items: openapi.Each(tokens, func(t identity.ManagementToken) openapi.ManagementToken {
		return openapi.ManagementToken{ManagementTokenFields: tokenFields(t)}
	})}
}

// createToken is the one answer with a token in full.
func (c *Console) createToken(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.ManagementTokenDraft](ctx)
	if err != nil {
		return nil, err
	}
	t, token, err := c.Identity.CreateManagementToken(ctx.UserContext(), principal(ctx), identity.ManagementTokenDraft(body))
	if err != nil {
		return nil, err
	}
	return created{openapi.NewManagementToken{ManagementTokenFields: tokenFields(t), Token: token}}, nil
}

func (c *Console) revokeToken(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return nil, c.Identity.RevokeManagementToken(ctx.UserContext(), principal(ctx), id)
}

func tokenFields(t identity.ManagementToken) openapi.ManagementTokenFields {
	return openapi.ManagementTokenFields{
		ID: t.ID, Name: t.Name, Access: string(t.Access), MaskedToken: t.Mask,
		CreatedAt: beijing.Format(t.CreatedAt), ExpiresAt: beijing.Format(t.ExpiresAt), LastUsedAt: timeView(t.LastUsedAt),
	}
}
