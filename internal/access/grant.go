package access

import (
	"errors"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Grant is what an Access Key is allowed: which application it speaks for, whether that one is
// active, the capabilities bound to it, and what the key itself is limited to. A grant is shared between calls and never changed.
type Grant struct {
	ApplicationID uuid.UUID
	OwnerID       uuid.UUID
	KeyID         uuid.UUID // of the application's keys, the one that was shown
	Active        bool
	Version       int64          // of the application's row; compared with the change feed's floor
	capabilities  []string       // sorted
	expires       int64          // Unix milliseconds from which on the key is refused; 0: never
	allowed       []netip.Prefix // where the key may be used from; empty: anywhere
}

// NewGrant returns a grant bound to the capabilities named, in any order.
func NewGrant(applicationID, ownerID uuid.UUID, active bool, version int64, capabilities ...string) *Grant {
	bound := slices.Clone(capabilities)
	slices.Sort(bound)
	return &Grant{
		ApplicationID: applicationID,
		OwnerID:       ownerID,
		Active:        active,
		Version:       version,
		capabilities:  slices.Compact(bound),
	}
}

// OfKey is the grant as a key of the application has it: refused from expires on (the zero Time: never), and from
// everywhere but the networks allowed, if there are any.
func (g *Grant) OfKey(id uuid.UUID, expires time.Time, allowed ...netip.Prefix) *Grant {
	own := *g
	own.KeyID, own.allowed, own.expires = id, allowed, 0
	if !expires.IsZero() {
		own.expires = expires.UnixMilli()
	}
	return &own
}

// Expired tells whether the key may not be used any more at an instant. It stands in the grant, so that no store is
// needed to keep to it.
func (g *Grant) Expired(at time.Time) bool { return g.expires != 0 && at.UnixMilli() >= g.expires }

// Restricted tells whether it matters where a call comes from.
func (g *Grant) Restricted() bool { return len(g.allowed) > 0 }

// AllowsFrom tells whether a restricted key may be used from an address; the zero Addr is none.
func (g *Grant) AllowsFrom(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(g.allowed, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// Bound tells whether the capability is bound to the application.
func (g *Grant) Bound(capability string) bool {
	_, bound := slices.BinarySearch(g.capabilities, capability)
	return bound
}

// Capabilities are the identifiers bound to the application, sorted.
func (g *Grant) Capabilities() iter.Seq[string] { return slices.Values(g.capabilities) }

// Capability is the part of a capability that a call needs. Shared, never changed.
type Capability struct {
	ID              string
	Enabled         bool
	UpstreamBaseURL string
	UpstreamAuth    string // bearer, x-api-key, api-key or x-goog-api-key
	UpstreamKey     []byte // sealed; see secret.UpstreamKeyContext
	Version         int64
	Created         time.Time

	// What may be called; an empty list allows everything.
	AllowedMethods []string
	AllowedPaths   []string // beginnings of paths below the base URL, whole segments

	// Upstreams are the named ones that calls may go to, least priority first. With none, they go to the
	// capability's own, which is UpstreamBaseURL with UpstreamAuth and UpstreamKey.
	Upstreams []Member
}

// Member is an upstream of a capability.
type Member struct {
	*Upstream
	Weight   int // of calls, among members of the same priority; from 1
	Priority int
}

// Upstream is an address and a key that capabilities share. Shared, never changed.
type Upstream struct {
	ID      string
	BaseURL string
	Auth    string // bearer, x-api-key, api-key or x-goog-api-key
	Key     []byte // sealed; see secret.SharedUpstreamKeyContext
}

// ErrUnknownKey says that the Access Key is malformed or names no application: the caller gets 401
// and nothing is recorded.
var ErrUnknownKey = errors.New("unknown access key")

// ErrUnavailable says that the key is not in memory and no store can be asked: the caller gets 503,
// never 401 and never a pass.
var ErrUnavailable = errors.New("access cannot be resolved now")
