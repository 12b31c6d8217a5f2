package application

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// maxCIDRs bounds the networks of one key: they stand in every grant of it.
const maxCIDRs = 50

// lastExpiry is the year that no key lives to see.
const lastExpiry = 2100

// KeyEdit is what a key is to be; a nil field stays as it is.
type KeyEdit struct {
	Name         *string
	AllowedCIDRs *[]string // addresses and CIDRs, the complete list
	ExpiresAt    *string   // RFC 3339; empty: never
	// Limits sets them, in the transaction of the edit, and gives what was changed; whoever keeps limits knows how.
	Limits func(ctx context.Context, tx pgx.Tx, application, key uuid.UUID) (audit.Changes, error)
}

func (e KeyEdit) isEmpty() bool {
	return e.Name == nil && e.AllowedCIDRs == nil && e.ExpiresAt == nil && e.Limits == nil
}

// setLimits does what the edit says of limits.
func (e KeyEdit) setLimits(ctx context.Context, tx pgx.Tx, application, key uuid.UUID) (audit.Changes, error) {
	if e.Limits == nil {
		return nil, nil
	}
	return e.Limits(ctx, tx, application, key)
}

// wanted is an edit that was read: expiresAt and allowed count where the edit has them.
type wanted struct {
	edit      KeyEdit
	name      *string
	expiresAt *time.Time
	allowed   []netip.Prefix
}

// check reads an edit, and tells everything that is wrong with it.
func (e KeyEdit) check(now time.Time) (w wanted, err error) {
	wrong := fault.Fields{}
	w.edit = e
	if e.Name != nil {
		name := strings.TrimSpace(*e.Name)
		wrong.Name("name", name, 1, maxName)
		w.name = &name
	}
	if e.ExpiresAt != nil && *e.ExpiresAt != "" {
		at, err := time.Parse(time.RFC3339, *e.ExpiresAt)
		at = at.Truncate(time.Millisecond)
		switch {
		case err != nil:
			wrong.Add("expiresAt", "must be a time of the form 2026-08-17T14:05:00+08:00")
		case !at.After(now) || at.Year() >= lastExpiry:
			wrong.Add("expiresAt", "must be later than now, and before the year %d", lastExpiry)
		}
		w.expiresAt = &at
	}
	if e.AllowedCIDRs != nil {
		w.allowed = networksOf(*e.AllowedCIDRs, wrong)
	}
	return w, wrong.Err()
}

// networksOf reads addresses and CIDRs; duplicates are folded. More than there may be are not looked at: each is
// compared with all before it.
func networksOf(texts []string, wrong fault.Fields) (networks []netip.Prefix) {
	if len(texts) > maxCIDRs {
		wrong.Add("allowedCidrs", "must be at most %d", maxCIDRs)
		return nil
	}
	for _, text := range texts {
		network, ok := networkOf(strings.TrimSpace(text))
		switch {
		case !ok:
			wrong.Add("allowedCidrs", "must be addresses or CIDRs such as 192.0.2.7 or 2001:db8::/32; this is neither: %s", brief(text))
		case !slices.Contains(networks, network):
			networks = append(networks, network)
		}
	}
	return networks
}

func networkOf(text string) (netip.Prefix, bool) {
	network, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		network = netip.PrefixFrom(addr, addr.BitLen())
	}
	if addr := network.Addr(); addr.Is4In6() { // as addresses are compared
		if network.Bits() < 96 {
			return netip.Prefix{}, false
		}
		network = netip.PrefixFrom(addr.Unmap(), network.Bits()-96)
	}
	return network.Masked(), true
}

// brief is a text as a message repeats it.
func brief(text string) string {
	const most = 64
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most]) + "…"
	}
	return text
}

// applied is the key as the edit leaves it.
func (w wanted) applied(k Key) Key {
	if w.name != nil {
		k.Name = *w.name
	}
	if w.edit.ExpiresAt != nil {
		k.ExpiresAt = w.expiresAt
	}
	if w.edit.AllowedCIDRs != nil {
		k.AllowedCIDRs = w.allowed
	}
	return k
}

// noteKey records what differs between two states of a key, of which one may hold nothing but the id, and what was
// changed beside it.
func noteKey(ctx context.Context, tx pgx.Tx, actor, action string, id uuid.UUID, application string, before, after Key, beside ...audit.Change) error {
	changes := audit.Changes{{Field: "keyId", To: after.ID.String()}}
	changes.Add("keyName", textOrNil(before.Name), textOrNil(after.Name))
	changes.Add("expiresAt", expiry(before), expiry(after))
	changes.Add("allowedCidrs", networks(before), networks(after))
	changes = append(changes, beside...)
	if len(changes) == 1 {
		return nil // nothing is different
	}
	entry := keyEntry(actor, action, id, application)
	entry.Changes = changes
	return audit.Append(ctx, tx, entry)
}

// textOrNil is a text, or nil where there is none.
func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func expiry(k Key) any {
	if k.ExpiresAt == nil {
		return nil
	}
	return beijing.Format(*k.ExpiresAt)
}

func networks(k Key) any {
	texts := make([]string, len(k.AllowedCIDRs))
	for i, network := range k.AllowedCIDRs {
		texts[i] = network.String()
	}
	return textOrNil(strings.Join(texts, ", "))
}
