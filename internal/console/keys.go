package console

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
)

// revealAccessKey answers with no-store, as every management answer does.
func (c *Console) revealAccessKey(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	who := principal(ctx)
	return shown(accessKeyView)(c.Applications.RevealKey(ctx.UserContext(), who.UserID, id, who.Email))
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
	uses, known := c.lastUses(ctx.UserContext(), id)
	return openapi.KeyItems{LastUseKnown: known, Items: openapi.Each(keys, keyView(uses))}, nil
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
	edit, err := keyEdit(ctx)
	if err != nil {
		return nil, err
	}
	who := principal(ctx)
	k, key, err := c.Applications.CreateKey(ctx.UserContext(), who.UserID, id, who.Email, edit)
	if err != nil {
		return nil, err
	}
	c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	return created{openapi.NewKey{KeyFields: keyFields(k, nil), AccessKeyField: openapi.AccessKeyField{AccessKey: key}}}, nil
}

func (c *Console) updateKey(ctx *fiber.Ctx, id, key uuid.UUID) (any, error) {
	edit, err := keyEdit(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := precondition(ctx)
	if err != nil {
		return nil, err
	}
	who := principal(ctx)
	k, err := c.Applications.UpdateKey(ctx.UserContext(), who.UserID, id, key, who.Email, edit, seen...)
	switch {
	case err == nil:
		c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	case fault.KindOf(err) != fault.Changed:
		return nil, err
	}
	uses, _ := c.lastUses(ctx.UserContext(), id)
	return shown(keyView(uses))(k, err)
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
	return shown(accessKeyView)(c.Applications.RevealOneKey(ctx.UserContext(), who.UserID, id, key, who.Email))
}

// keyEdit reads what a key is to be: an end of null is none.
func keyEdit(ctx *fiber.Ctx) (application.KeyEdit, error) {
	body, nulls, err := nullsOf[openapi.KeyEdit](ctx, "expiresAt")
	if len(nulls) > 0 {
		body.ExpiresAt = new(string)
	}
	return application.KeyEdit(body), err
}

// keyView shows keys with when they were used last.
func keyView(uses map[uuid.UUID]string) func(application.Key) openapi.Key {
	return func(k application.Key) openapi.Key { return openapi.Key{KeyFields: keyFields(k, uses)} }
}

func keyFields(k application.Key, uses map[uuid.UUID]string) openapi.KeyFields {
	view := openapi.KeyFields{
		ID: k.ID, First: k.First, Name: k.Name, MaskedAccessKey: k.Mask, LastUsedAt: openapi.TextOrNull(uses[k.ID]),
		AllowedCIDRs: openapi.Each(k.AllowedCIDRs, netip.Prefix.String),
		CreatedAt:    beijing.Format(k.CreatedAt), UpdatedAt: beijing.Format(k.UpdatedAt),
	}
	if k.ExpiresAt != nil {
		view.ExpiresAt = openapi.TextOrNull(beijing.Format(*k.ExpiresAt))
	}
	view.ReplacedAt = timeView(k.ReplacedAt)
	return view
}
