package console

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/catalog"
)

// auditView is one entry of the audit list (api.md).
type auditView struct {
	ID         int64         `json:"id"`
	At         string        `json:"at"`
	Actor      string        `json:"actor"`
	Action     string        `json:"action"`
	TargetType string        `json:"targetType"`
	TargetID   string        `json:"targetId"`
	TargetName string        `json:"targetName"`
	Changes    audit.Changes `json:"changes"`
}

// adminListGroups gives all groups as one page: the back office orders them as a whole.
func (c *Console) adminListGroups(ctx *fiber.Ctx) (any, error) {
	groups, err := c.Catalog.Groups(ctx.UserContext())
	if err != nil {
		return nil, err
	}
	return list[catalog.Group]{full(groups), len(groups), 1, len(groups)}, nil
}

func (c *Console) createGroup(ctx *fiber.Ctx) (any, error) {
	var settings catalog.GroupSettings
	if err := decode(ctx, &settings); err != nil {
		return nil, err
	}
	g, err := c.Catalog.CreateGroup(ctx.UserContext(), principal(ctx).Email, settings)
	if err != nil {
		return nil, err
	}
	return created{g}, nil
}

func (c *Console) orderGroups(ctx *fiber.Ctx) (any, error) {
	var body struct {
		IDs []string `json:"ids"`
	}
	if err := decode(ctx, &body); err != nil {
		return nil, err
	}
	groups, err := c.Catalog.OrderGroups(ctx.UserContext(), principal(ctx).Email, body.IDs)
	if err != nil {
		return nil, err
	}
	return items[catalog.Group]{full(groups)}, nil
}

func (c *Console) adminGetGroup(ctx *fiber.Ctx) (any, error) {
	id, err := identifierParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	return c.Catalog.Group(ctx.UserContext(), id)
}

func (c *Console) updateGroup(ctx *fiber.Ctx) (any, error) {
	id, err := identifierParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	var settings catalog.GroupSettings
	if err := decode(ctx, &settings); err != nil {
		return nil, err
	}
	return c.Catalog.UpdateGroup(ctx.UserContext(), principal(ctx).Email, id, settings)
}

func (c *Console) adminListCapabilities(ctx *fiber.Ctx) (any, error) {
	page, size, err := pageAndSize(ctx)
	if err != nil {
		return nil, err
	}
	found, total, err := c.Catalog.Search(ctx.UserContext(), catalog.Filter{
		GroupID: ctx.Query("groupId"), Status: ctx.Query("status"), Text: strings.TrimSpace(ctx.Query("q")),
		Page: page, Size: size,
	})
	if err != nil {
		return nil, err
	}
	return list[catalog.Details]{full(found), total, page, size}, nil
}

func (c *Console) createCapability(ctx *fiber.Ctx) (any, error) {
	var settings catalog.Settings
	if err := decode(ctx, &settings); err != nil {
		return nil, err
	}
	made, err := c.capabilityChanged(ctx)(c.Catalog.Create(ctx.UserContext(), principal(ctx).Email, settings))
	if err != nil {
		return nil, err
	}
	return created{made}, nil
}

func (c *Console) orderCapabilities(ctx *fiber.Ctx) (any, error) {
	var body struct {
		GroupID string   `json:"groupId"`
		IDs     []string `json:"ids"`
	}
	if err := decode(ctx, &body); err != nil {
		return nil, err
	}
	ordered, err := c.Catalog.Order(ctx.UserContext(), principal(ctx).Email, body.GroupID, body.IDs)
	if err != nil {
		return nil, err
	}
	return items[catalog.Details]{full(ordered)}, nil
}

func (c *Console) checkCapability(ctx *fiber.Ctx) (any, error) {
	var request catalog.CheckRequest
	if err := decode(ctx, &request); err != nil {
		return nil, err
	}
	return c.Catalog.Check(ctx.UserContext(), principal(ctx).Email, request)
}

func (c *Console) adminGetCapability(ctx *fiber.Ctx) (any, error) {
	id, err := identifierParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	return c.Catalog.Details(ctx.UserContext(), id)
}

func (c *Console) updateCapability(ctx *fiber.Ctx) (any, error) {
	id, err := identifierParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	var settings catalog.Settings
	if err := decode(ctx, &settings); err != nil {
		return nil, err
	}
	return c.capabilityChanged(ctx)(c.Catalog.Update(ctx.UserContext(), principal(ctx).Email, id, settings))
}

func (c *Console) setCapabilityStatus(ctx *fiber.Ctx) (any, error) {
	id, err := identifierParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	var body struct {
		Status string `json:"status"`
	}
	if err := decode(ctx, &body); err != nil {
		return nil, err
	}
	return c.capabilityChanged(ctx)(c.Catalog.SetStatus(ctx.UserContext(), principal(ctx).Email, id, body.Status))
}

// capabilityChanged answers with a capability that was changed, and tells the gateways.
func (c *Console) capabilityChanged(ctx *fiber.Ctx) func(catalog.Details, error) (any, error) {
	return func(d catalog.Details, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		c.Announcer.CapabilityChanged(ctx.UserContext(), d.ID)
		return d, nil
	}
}

func (c *Console) listAudit(ctx *fiber.Ctx) (any, error) {
	page, size, err := pageAndSize(ctx)
	if err != nil {
		return nil, err
	}
	rows, total, err := audit.List(ctx.UserContext(), c.Pool, page, size)
	if err != nil {
		return nil, err
	}
	views := make([]auditView, len(rows))
	for i, r := range rows {
		views[i] = auditView{r.ID, beijing.Format(r.At), r.Actor, r.Action, r.TargetType, r.TargetID, r.TargetName, r.Changes}
	}
	return list[auditView]{views, total, page, size}, nil
}
