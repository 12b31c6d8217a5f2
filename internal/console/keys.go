package console

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/limits"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

// revealAccessKey answers with no-store, as every management answer does.
func (c *Console) revealAccessKey(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	who := principal(ctx)
	return respond(accessKeyView)(c.Applications.RevealKey(ctx.UserContext(), who.UserID, id, who.Email))
}

// rotateAccessKey takes a body since old keys may stay for a while: without one they do not.
func (c *Console) rotateAccessKey(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	body, err := optionalBodyOf[openapi.KeyRotation](ctx)
	if err != nil {
		return nil, err
	}
	var overlap time.Duration
	if hours := body.OverlapHours; hours != nil {
		if most := int64(application.MaxOverlap / time.Hour); *hours < 0 || *hours > most {
			return nil, fault.InvalidFields(map[string]string{"overlapHours": fmt.Sprintf("must be an integer from %d to %d", 0, most)})
		}
		overlap = time.Duration(*hours) * time.Hour
	}
	who := principal(ctx)
	key, err := c.Applications.RotateKey(ctx.UserContext(), who.UserID, id, who.Email, overlap)
	if err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	return accessKeyView(key), nil
}

// ofKey answers for the key of the application that the path names.
func ofKey(h func(ctx *fiber.Ctx, id, key uuid.UUID) (any, error)) handler { return ofPart("keyId", h) }

func (c *Console) listKeys(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	keys, err := c.Applications.Keys(ctx.UserContext(), principal(ctx).UserID, id)
	if err != nil {
		return nil, err
	}
	of, err := c.aboutKeys(ctx.UserContext(), id)
	if err != nil {
		return nil, err
	}
	of.uses, of.usesKnown = c.lastUses(ctx.UserContext(), id)
	return openapi.KeyItems{LastUseKnown: of.usesKnown, Items: openapi.Each(keys, of.view)}, nil
}

// aboutKeys is what is known of an application's keys beside themselves; without their uses where nobody asked for them.
type aboutKeys struct {
	uses      map[uuid.UUID]string // when each was used last
	usesKnown bool
	limits    map[uuid.UUID]limits.Limits
	used      map[uuid.UUID]limits.Usage // of those that have limits
	now       time.Time
}

func (c *Console) aboutKeys(ctx context.Context, application uuid.UUID) (about aboutKeys, err error) {
	about.now = c.Now()
	if about.limits, err = c.Limits.OfKeys(ctx, application); err != nil {
		return about, err
	}
	if len(about.limits) > 0 && c.LimitsUsage != nil {
		if about.used, err = c.LimitsUsage.Usages(ctx, slices.Collect(maps.Keys(about.limits))...); err != nil {
			c.Logger.LogAttrs(ctx, slog.LevelDebug, "usage of keys' limits is not known", slog.Any("error", err))
		}
	}
	return about, nil
}

// lastUsesWait is how long a list of keys waits for the statistics: they are needed to find an unused key, and must
// not keep anybody from deleting one.
const lastUsesWait = 2 * time.Second

func (c *Console) lastUses(ctx context.Context, application uuid.UUID) (uses map[uuid.UUID]string, known bool) {
	if c.Stats == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, lastUsesWait)
	defer cancel()
	uses, err := c.Stats.LastUses(ctx, application)
	return uses, err == nil
}

// createKey is the one answer about a key with the key in full.
func (c *Console) createKey(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	who := principal(ctx)
	edit, err := keyEdit(ctx, who.Email)
	if err != nil {
		return nil, err
	}
	k, key, err := c.Applications.CreateKey(ctx.UserContext(), who.UserID, id, who.Email, edit)
	if err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	about, err := c.aboutKeys(ctx.UserContext(), id)
	if err != nil { // the key is made, and is told this once
		c.Logger.LogAttrs(ctx.UserContext(), slog.LevelWarn, "limits of a new key are not known", slog.Any("error", err))
	}
	return created{openapi.NewKey{KeyFields: about.fields(k), AccessKeyField: openapi.AccessKeyField{AccessKey: key}}}, nil
}

func (c *Console) updateKey(ctx *fiber.Ctx, id, key uuid.UUID) (any, error) {
	who := principal(ctx)
	edit, err := keyEdit(ctx, who.Email)
	if err != nil {
		return nil, err
	}
	seen, err := precondition(ctx)
	if err != nil {
		return nil, err
	}
	k, err := c.Applications.UpdateKey(ctx.UserContext(), who.UserID, id, key, who.Email, edit, seen...)
	switch {
	case err == nil:
		c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	case fault.KindOf(err) != fault.Changed:
		return nil, err
	}
	about, unknown := c.aboutKeys(ctx.UserContext(), id)
	if unknown != nil {
		return nil, unknown
	}
	about.uses, _ = c.lastUses(ctx.UserContext(), id)
	return respond(about.view)(k, err)
}

func (c *Console) deleteKey(ctx *fiber.Ctx, id, key uuid.UUID) (any, error) {
	who := principal(ctx)
	if err := c.Applications.DeleteKey(ctx.UserContext(), who.UserID, id, key, who.Email); err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	return nil, nil
}

func (c *Console) revealKey(ctx *fiber.Ctx, id, key uuid.UUID) (any, error) {
	who := principal(ctx)
	return respond(accessKeyView)(c.Applications.RevealOneKey(ctx.UserContext(), who.UserID, id, key, who.Email))
}

// keyEdit reads what a key is to be: an end of null is none, and so is a limit.
func keyEdit(ctx *fiber.Ctx, actor string) (edit application.KeyEdit, err error) {
	body, nulls, err := nullsOf[openapi.KeyEdit](ctx, "expiresAt")
	if err != nil {
		return edit, err
	}
	edit = application.KeyEdit{Name: body.Name, AllowedCIDRs: body.AllowedCIDRs, ExpiresAt: body.ExpiresAt}
	if len(nulls) > 0 {
		edit.ExpiresAt = new(string)
	}
	given, err := limitsWithin("limits", body.Limits)
	if len(given) > 0 {
		edit.Limits = limits.SetKey(given, actor)
	}
	return edit, err
}

func (a aboutKeys) view(k application.Key) openapi.Key { return openapi.Key{KeyFields: a.fields(k)} }

func (a aboutKeys) fields(k application.Key) openapi.KeyFields {
	view := openapi.KeyFields{
		ID: k.ID, First: k.First, Name: k.Name, MaskedAccessKey: k.Mask, LastUsedAt: openapi.TextOrNull(a.uses[k.ID]),
		AllowedCIDRs: openapi.Each(k.AllowedCIDRs, netip.Prefix.String),
		CreatedAt:    beijing.Format(k.CreatedAt), UpdatedAt: beijing.Format(k.UpdatedAt),
		Limits: limitsView(a.limits[k.ID]), LimitsUsage: report.KeyUsage(a.limits[k.ID], a.used[k.ID], a.now),
	}
	if k.ExpiresAt != nil {
		view.ExpiresAt = openapi.TextOrNull(beijing.Format(*k.ExpiresAt))
	}
	view.ReplacedAt = timeView(k.ReplacedAt)
	return view
}
