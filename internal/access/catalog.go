package access

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// catalogReload is how often the snapshot is read again although no change was told.
const catalogReload = time.Minute

// catalog is a snapshot of all capabilities, replaced as a whole. Only the feed reader writes it.
type catalog struct {
	byID   atomic.Pointer[map[string]*Capability]
	loaded time.Duration // elapsed time of the resolver at the last load
}

func newCatalog() *catalog {
	c := &catalog{}
	c.byID.Store(&map[string]*Capability{})
	return c
}

func (c *catalog) find(id string) *Capability { return (*c.byID.Load())[id] }

// behind tells whether a change of the capability is not yet in the snapshot.
func (c *catalog) behind(id string, version int64) bool {
	known := c.find(id)
	return known == nil || known.Version < version
}

func (c *catalog) load(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `
		SELECT id, status = 'enabled', upstream_base_url, upstream_auth, upstream_key, version,
		       allowed_methods, allowed_paths, created_at
		FROM capabilities`)
	if err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	next := make(map[string]*Capability, len(*c.byID.Load()))
	var row Capability
	_, err = pgx.ForEachRow(rows, []any{&row.ID, &row.Enabled, &row.UpstreamBaseURL, &row.UpstreamAuth,
		&row.UpstreamKey, &row.Version, &row.AllowedMethods, &row.AllowedPaths, &row.Created}, func() error {
		kept := row // its Upstreams follow
		kept.UpstreamKey = append([]byte(nil), row.UpstreamKey...)
		kept.AllowedMethods, kept.AllowedPaths = slices.Clone(row.AllowedMethods), slices.Clone(row.AllowedPaths)
		next[kept.ID] = &kept
		return nil
	})
	if err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	// After the capabilities: a change between the two leaves new upstreams under old versions, which are read
	// again. The other way round an old upstream would pass for one that is known to be new.
	if err := loadMembers(ctx, conn, next); err != nil {
		return err
	}
	c.byID.Store(&next)
	return nil
}

// loadMembers gives capabilities their named upstreams. One whose members are all disabled can call nothing: its own
// address is not what it was told to use.
func loadMembers(ctx context.Context, conn *pgx.Conn, capabilities map[string]*Capability) error {
	rows, err := conn.Query(ctx, `
		SELECT m.capability_id, m.weight, m.priority, m.status = 'enabled', u.id, u.base_url, u.auth, u.sealed_key
		FROM capability_upstreams m JOIN upstreams u ON u.id = m.upstream_id
		ORDER BY m.capability_id, m.priority, m.weight DESC, u.id`)
	if err != nil {
		return fmt.Errorf("read upstreams: %w", err)
	}
	upstreams := map[string]*Upstream{}
	var (
		id      string
		member  Member
		enabled bool
		row     Upstream
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &member.Weight, &member.Priority, &enabled, &row.ID, &row.BaseURL, &row.Auth, &row.Key}, func() error {
		capability := capabilities[id]
		if capability == nil {
			return nil // newer than what was read of the capabilities
		}
		capability.UpstreamBaseURL, capability.UpstreamKey = "", nil
		if !enabled {
			return nil
		}
		shared := upstreams[row.ID]
		if shared == nil {
			shared = &Upstream{ID: row.ID, BaseURL: row.BaseURL, Auth: row.Auth, Key: append([]byte(nil), row.Key...)}
			upstreams[row.ID] = shared
		}
		member.Upstream = shared
		capability.Upstreams = append(capability.Upstreams, member)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read upstreams: %w", err)
	}
	return nil
}

// intern replaces ids by the snapshot's own strings, so that grants in memory share them, and tells
// whether it holds all of them.
func (c *catalog) intern(ids []string) (complete bool) {
	known := *c.byID.Load()
	complete = true
	for i, id := range ids {
		if capability := known[id]; capability != nil {
			ids[i] = capability.ID
		} else {
			complete = false
		}
	}
	return complete
}
