package access

import (
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Grant is what an Access Key is allowed: which application it speaks for, whether that one is
// active, and the capabilities bound to it. A grant is shared between calls and never changed.
type Grant struct {
	ApplicationID uuid.UUID
	OwnerID       uuid.UUID
	Active        bool
	Version       int64    // of the application's row; compared with the change feed's floor
	capabilities  []string // sorted
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
	UpstreamAuth    string // bearer, x-api-key or api-key
	UpstreamKey     []byte // sealed; see secret.UpstreamKeyContext
	Version         int64
	Created         time.Time

	// What may be called; an empty list allows everything.
	AllowedMethods []string
	AllowedPaths   []string // beginnings of paths below the base URL, whole segments
}

// ErrUnknownKey says that the Access Key is malformed or names no application: the caller gets 401
// and nothing is recorded.
var ErrUnknownKey = errors.New("unknown access key")

// ErrUnavailable says that the key is not in memory and no store can be asked: the caller gets 503,
// never 401 and never a pass.
var ErrUnavailable = errors.New("access cannot be resolved now")
