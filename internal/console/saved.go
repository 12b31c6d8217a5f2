package console

import (
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/saved"
)

func (c *Console) listViews(ctx *fiber.Ctx) (any, error) {
	return respond(func(views []saved.View) openapi.SavedViewItems {
		return openapi.SavedViewItems{Items: openapi.Each(views, savedView)}
	})(c.Saved.Of(ctx.UserContext(), principal(ctx).UserID))
}

func (c *Console) saveView(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.SavedViewDraft](ctx)
	if err != nil {
		return nil, err
	}
	v, err := c.Saved.Save(ctx.UserContext(), principal(ctx).UserID, saved.Draft{Page: body.Page, Name: body.Name, Query: body.Query})
	return created{savedView(v)}, err
}

func (c *Console) deleteView(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return nil, c.Saved.Delete(ctx.UserContext(), principal(ctx).UserID, id)
}

func savedView(v saved.View) openapi.SavedView {
	return openapi.SavedView{ID: v.ID, Page: v.Page, Name: v.Name, Query: v.Query, CreatedAt: beijing.Format(v.CreatedAt)}
}
