package console

import (
	"context"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/alerts"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
)

// Owners' alerts and administrators' are answered alike: a principal without a user is an administrator.
func alertsOf(ctx *fiber.Ctx) alerts.Who {
	who := principal(ctx)
	return alerts.Who{Owner: who.UserID, Email: who.Email}
}

func (c *Console) listAlerts(ctx *fiber.Ctx) (any, error) {
	rules, most, err := c.Alerts.List(ctx.UserContext(), alertsOf(ctx))
	return openapi.AlertItems{Items: openapi.Each(rules, alertView), Max: int64(most)}, err
}

func (c *Console) createAlert(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.AlertDraft](ctx, "targetId")
	if err != nil {
		return nil, err
	}
	channels, err := channelDrafts(body.Channels)
	if err != nil {
		return nil, err
	}
	r, err := c.Alerts.Create(ctx.UserContext(), alertsOf(ctx), alerts.Draft{
		Name: body.Name, Kind: alerts.Kind(body.Kind), TargetType: alerts.TargetType(body.TargetType), TargetID: body.TargetID,
		Threshold: body.Threshold, ResolveThreshold: body.ResolveThreshold, WindowMinutes: body.WindowMinutes, MinCalls: body.MinCalls,
		Period: body.Period, Currency: body.Currency, Limit: body.Limit, Enabled: body.Enabled, Channels: channels,
	})
	return created{alertView(r)}, err
}

// previewAlert tells when an alert would have fired; nothing is kept of it.
func (c *Console) previewAlert(ctx *fiber.Ctx) (any, error) {
	body, err := bodyOf[openapi.AlertPreviewDraft](ctx, "targetId")
	if err != nil {
		return nil, err
	}
	return respond(previewView)(c.Alerts.Preview(ctx.UserContext(), alertsOf(ctx), alerts.Draft{
		Kind: alerts.Kind(body.Kind), TargetType: alerts.TargetType(body.TargetType), TargetID: body.TargetID,
		Threshold: body.Threshold, ResolveThreshold: body.ResolveThreshold, WindowMinutes: body.WindowMinutes, MinCalls: body.MinCalls,
		Period: body.Period, Currency: body.Currency, Limit: body.Limit,
	}, c.Report.AlertPast()))
}

func previewView(p alerts.Preview) openapi.AlertPreview {
	return openapi.AlertPreview{
		From: beijing.Format(p.From), To: beijing.Format(p.To), Count: p.Count,
		Items: openapi.Each(p.Firings, func(f alerts.Fired) openapi.AlertFiring {
			return openapi.AlertFiring{From: beijing.Format(f.From), To: timeView(f.To), Worst: f.Worst}
		}),
	}
}

func (c *Console) updateAlert(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	body, nulls, err := nullsOf[openapi.AlertEdit](ctx, "silencedUntil")
	if err != nil {
		return nil, err
	}
	seen, err := precondition(ctx)
	if err != nil {
		return nil, err
	}
	if len(nulls) > 0 {
		body.SilencedUntil = new(string)
	}
	edit := alerts.Edit{
		Name: body.Name, Threshold: body.Threshold, ResolveThreshold: body.ResolveThreshold, WindowMinutes: body.WindowMinutes,
		MinCalls: body.MinCalls, Enabled: body.Enabled, SilencedUntil: body.SilencedUntil,
	}
	if body.Channels != nil {
		channels, err := channelDrafts(*body.Channels)
		if err != nil {
			return nil, err
		}
		edit.Channels = &channels
	}
	return respond(alertView)(c.Alerts.Update(ctx.UserContext(), alertsOf(ctx), id, edit, seen...))
}

// channelDrafts reads the ids of channels that there are.
func channelDrafts(drafts []openapi.AlertChannelDraft) ([]alerts.ChannelDraft, error) {
	channels := make([]alerts.ChannelDraft, len(drafts))
	for i, d := range drafts {
		channels[i] = alerts.ChannelDraft{Kind: alerts.ChannelKind(d.Kind), URL: d.URL, To: d.To, Secret: d.Secret}
		if d.ID == nil || *d.ID == "" {
			continue
		}
		id, err := uuid.Parse(*d.ID)
		if err != nil {
			return nil, fault.InvalidFields(map[string]string{"channels": "the id of a channel must be of one that the rule has, of the same kind, and named once"})
		}
		channels[i].ID = &id
	}
	return channels, nil
}

func (c *Console) deleteAlert(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return nil, c.Alerts.Delete(ctx.UserContext(), alertsOf(ctx), id)
}

func (c *Console) testAlert(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return respond(func(deliveries []alerts.Delivery) openapi.AlertDeliveryItems {
		return openapi.AlertDeliveryItems{Items: openapi.Each(deliveries, deliveryView)}
	})(c.Alerts.Test(ctx.UserContext(), alertsOf(ctx), id, c.PublicBaseURL))
}

func (c *Console) listDeliveries(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	who := alertsOf(ctx)
	found, err := pageOf(ctx, deliveryView, func(ctx context.Context, page, size int) ([]alerts.Delivery, int, error) {
		return c.Alerts.Log(ctx, who, id, page, size)
	})
	return openapi.AlertDeliveryPage(found), err
}

func (c *Console) resendDelivery(ctx *fiber.Ctx, id, delivery uuid.UUID) (any, error) {
	return respond(deliveryView)(c.Alerts.Resend(ctx.UserContext(), alertsOf(ctx), id, delivery))
}

func secretView(text string) openapi.WebhookSecret { return openapi.WebhookSecret{Secret: text} }

func (c *Console) revealAlertSecret(ctx *fiber.Ctx, id, channel uuid.UUID) (any, error) {
	return respond(secretView)(c.Alerts.Secret(ctx.UserContext(), alertsOf(ctx), id, channel))
}

func (c *Console) rotateAlertSecret(ctx *fiber.Ctx, id, channel uuid.UUID) (any, error) {
	body, err := optionalBodyOf[openapi.SecretRotation](ctx)
	if err != nil {
		return nil, err
	}
	overlap := 24 * time.Hour
	if hours := body.OverlapHours; hours != nil {
		const most = 72
		if *hours < 0 || *hours > most {
			return nil, fault.InvalidFields(map[string]string{"overlapHours": fmt.Sprintf("must be an integer from %d to %d", 0, most)})
		}
		overlap = time.Duration(*hours) * time.Hour
	}
	return respond(secretView)(c.Alerts.RotateSecret(ctx.UserContext(), alertsOf(ctx), id, channel, overlap))
}

func alertView(r alerts.Rule) openapi.Alert {
	s := r.State
	return openapi.Alert{
		ID: r.ID, Name: r.Name, Kind: string(r.Kind), Target: openapi.AlertTarget{ID: r.Target.ID, Name: r.Target.Name, Type: string(r.Target.Type)},
		Threshold: r.Threshold, ResolveThreshold: r.ResolveThreshold, Unit: r.Unit(), WindowMinutes: numberOrNull(r.WindowMinutes),
		MinCalls: numberOrNull(r.MinCalls), Period: openapi.TextOrNull(r.Period), Currency: openapi.TextOrNull(r.Currency), Limit: openapi.TextOrNull(r.Limit),
		Enabled: r.Enabled, SilencedUntil: timeView(r.SilencedUntil), Channels: openapi.Each(r.Channels, channelView),
		State: openapi.AlertState{
			Value: string(s.Value), Since: timeView(s.Since), Known: s.Unknown == "", UnknownReason: openapi.TextOrNull(s.Unknown),
			EvaluatedAt: timeView(s.EvaluatedAt), Measured: s.Measured, Figures: openapi.AlertFigures(s.Figures),
		},
		Sequence: s.Sequence, Deliveries: openapi.AlertDeliveryCounts{Pending: r.Deliveries.Pending, Failing: r.Deliveries.Failing, GivenUp: r.Deliveries.GivenUp},
		CreatedBy: r.CreatedBy, CreatedAt: beijing.Format(r.CreatedAt), UpdatedAt: beijing.Format(r.UpdatedAt),
	}
}

func channelView(n alerts.Channel) openapi.AlertChannel {
	return openapi.AlertChannel{
		ID: n.ID, Kind: string(n.Kind), Destination: n.Destination, HasSecret: n.HasSecret, FormerSecretUntil: timeView(n.FormerSecretUntil),
	}
}

func deliveryView(d alerts.Delivery) openapi.AlertDelivery {
	return openapi.AlertDelivery{
		ID: d.ID, Event: d.Event, Sequence: d.Sequence, At: beijing.Format(d.At), Measured: d.Measured, Figures: openapi.AlertFigures(d.Figures),
		ChannelID: d.ChannelID, ChannelKind: string(d.ChannelKind), Destination: d.Destination, Status: d.Status, Attempts: d.Attempts,
		LastAttemptAt: timeView(d.LastAttemptAt), LastStatus: d.LastStatus, Error: d.Error, NextAttemptAt: timeView(d.NextAttemptAt),
		DeliveredAt: timeView(d.DeliveredAt),
	}
}

// numberOrNull is null for what is not there.
func numberOrNull(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
