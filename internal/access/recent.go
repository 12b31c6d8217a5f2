package access

import (
	"context"
	"crypto/subtle"
)

// Recent is the key that a connection showed last, and what memory had for it: programs show the same key
// with every call. The zero value is ready; one goroutine at a time may use it.
type Recent struct {
	key     string
	entry   *entry
	changes uint64 // of memory, when entry was found
}

// GrantFor is Grant for the connection that recent belongs to. What it remembers is used under the conditions
// under which memory is: while the change feed is read, and no floor or newer grant stands against it.
func (r *Resolver) GrantFor(ctx context.Context, recent *Recent, accessKey []byte) (*Grant, error) {
	// A balancer's connection carries the calls of many, who must not learn each other's keys from the clock.
	same := len(accessKey) == len(recent.key) && subtle.ConstantTimeCompare(accessKey, []byte(recent.key)) == 1
	if same && recent.entry != nil && recent.changes == r.memory.changes.Load() && r.usable(recent.entry, recent.key, r.elapsed()) {
		return recent.entry.grant, nil
	}
	if !same {
		recent.key = string(accessKey)
	}
	recent.entry, recent.changes = nil, r.memory.changes.Load() // before memory is asked: a change after it counts
	id := fingerprintOf(recent.key)
	grant, err := r.grant(ctx, id, recent.key)
	if err == nil {
		recent.entry, _ = r.memory.grants.GetIfPresent(id)
	}
	return grant, err
}
