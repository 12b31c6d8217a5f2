package console

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/beijing"
	"callgate/internal/catalog"
	"callgate/internal/openapi"
)

func (c *Console) listUpstreams(ctx *fiber.Ctx) (any, error) {
	return respond(func(all []catalog.Upstream) openapi.UpstreamItems {
		return openapi.UpstreamItems{Items: openapi.Each(all, upstreamView)}
	})(c.Catalog.Upstreams(ctx.UserContext()))
}

func (c *Console) createUpstream(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.UpstreamDraft](ctx)
	if err != nil {
		return nil, err
	}
	u, err := c.Catalog.CreateUpstream(ctx.UserContext(), principal(ctx).Email, upstreamSettings(body))
	return created{upstreamView(u)}, err
}

func (c *Console) getUpstream(ctx *fiber.Ctx, id string) (any, error) {
	return respond(upstreamView)(c.Catalog.Upstream(ctx.UserContext(), id))
}

func (c *Console) updateUpstream(ctx *fiber.Ctx, id string) (any, error) {
	body, seen, err := editOf[openapi.UpstreamEdit](ctx)
	if err != nil {
		return nil, err
	}
	u, err := c.Catalog.UpdateUpstream(ctx.UserContext(), principal(ctx).Email, id, upstreamSettings(body), seen...)
	return c.upstreamChanged(ctx.UserContext(), u, err)
}

func (c *Console) restoreUpstreamKey(ctx *fiber.Ctx, id string) (any, error) {
	u, err := c.Catalog.RestoreUpstreamKey(ctx.UserContext(), principal(ctx).Email, id)
	return c.upstreamChanged(ctx.UserContext(), u, err)
}

// upstreamChanged answers with an upstream that was changed, and tells the gateways.
func (c *Console) upstreamChanged(ctx context.Context, u catalog.Upstream, err error) (any, error) {
	if err == nil {
		c.Announcer.CapabilityChanged(ctx, u.ID)
	}
	return respond(upstreamView)(u, err)
}

func (c *Console) deleteUpstream(ctx *fiber.Ctx, id string) (any, error) {
	return nil, c.Catalog.DeleteUpstream(ctx.UserContext(), principal(ctx).Email, id)
}

func (c *Console) checkUpstream(ctx *fiber.Ctx, id string) (any, error) {
	body, err := bodyOf[openapi.UpstreamCheck](ctx)
	if err != nil {
		return nil, err
	}
	return respond(checkView)(c.Catalog.CheckUpstream(ctx.UserContext(), principal(ctx).Email, id, catalog.UpstreamSettings{
		Auth: body.Auth, BaseURL: body.BaseURL, CheckModel: body.CheckModel, CheckPath: body.CheckPath, Key: body.Key,
	}))
}

func upstreamSettings(body openapi.UpstreamEdit) catalog.UpstreamSettings {
	return catalog.UpstreamSettings{
		ID: body.ID, Name: body.Name, Auth: body.Auth, BaseURL: body.BaseURL, CheckModel: body.CheckModel, CheckPath: body.CheckPath,
		Key: body.Key, SkipCheck: body.SkipCheck,
	}
}

func upstreamView(u catalog.Upstream) openapi.Upstream {
	return openapi.Upstream{
		ID: u.ID, Name: u.Name, BaseURL: u.BaseURL, Auth: u.Auth, CheckPath: u.CheckPath, CheckModel: u.CheckModel,
		FormerKeyUntil: timeView(u.FormerKeyUntil), CapabilityIDs: u.CapabilityIDs, Health: u.Health,
		Gateways:  openapi.Each(u.Gateways, upstreamReportView),
		CreatedAt: beijing.Format(u.CreatedAt), UpdatedAt: beijing.Format(u.Updated),
	}
}

func upstreamReportView(r catalog.UpstreamReport) openapi.UpstreamReport {
	return openapi.UpstreamReport{
		Host: r.Host, State: r.State, OpenedAt: timeView(r.OpenedAt), Calls: r.Calls, Failures: r.Failures,
		Error: openapi.TextOrNull(r.Error), ErrorAt: timeView(r.ErrorAt), ReportedAt: beijing.Format(r.ReportedAt),
	}
}

// capabilitySettings are the settings of a capability as catalog has them.
func capabilitySettings(body openapi.CapabilityEdit) catalog.Settings {
	settings := catalog.Settings{
		ID: body.ID, Name: body.Name, AllowedMethods: body.AllowedMethods, AllowedPaths: body.AllowedPaths, DefaultPath: body.DefaultPath,
		Description: body.Description, GroupID: body.GroupID, SortOrder: body.SortOrder, Status: body.Status,
		UpstreamAuth: body.UpstreamAuth, UpstreamBaseURL: body.UpstreamBaseURL, UpstreamKey: body.UpstreamKey, UpstreamModel: body.UpstreamModel,
	}
	if body.Upstreams != nil {
		members := openapi.Each(*body.Upstreams, memberOf)
		settings.Upstreams = &members
	}
	return settings
}

func memberOf(draft openapi.CapabilityUpstreamDraft) catalog.Member {
	m := catalog.Member{UpstreamID: draft.UpstreamID, Weight: 1, Status: catalog.Enabled, Health: catalog.HealthUnknown}
	if draft.Weight != nil {
		m.Weight = *draft.Weight
	}
	if draft.Priority != nil {
		m.Priority = *draft.Priority
	}
	if draft.Status != nil {
		m.Status = *draft.Status
	}
	return m
}
