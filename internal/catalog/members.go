package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

// Bounds of a capability's list of upstreams.
const (
	maxMembers  = 10
	maxWeight   = 1000
	maxPriority = 100
)

// Member is a named upstream of a capability. A capability with members is called through them only; its own
// address and key serve when it has none.
type Member struct {
	UpstreamID string `json:"upstreamId"`
	Weight     int64  `json:"weight"`   // of calls among those of the same priority, 1 to 1,000
	Priority   int64  `json:"priority"` // the least is tried first, 0 to 100
	Status     string `json:"status"`   // Enabled or Disabled
	Health     string `json:"health"`   // as the gateways see it, see the values of Health
}

// The values of Member.Health and Upstream.Health, over all gateways that report.
const (
	HealthOK       = "ok"       // every breaker is closed
	HealthDegraded = "degraded" // some are open, or are about to close
	HealthDown     = "down"     // all are open
	HealthUnknown  = "unknown"  // no gateway has called it lately
)

// reportedHealth is the health of the upstream whose id the %s names.
const reportedHealth = `(SELECT CASE WHEN count(*) = 0 THEN 'unknown' WHEN bool_and(s.state = 'open') THEN 'down'
	                      WHEN bool_or(s.state <> 'closed') THEN 'degraded' ELSE 'ok' END
	         FROM gateway_upstreams s JOIN gateways g ON g.spool_id = s.spool_id
	         WHERE s.upstream_id = %s AND ` + reportsNow + `)`

// reportsNow holds for a report of a gateway that lives: it tells every few seconds what it sees.
const reportsNow = `g.ended_at IS NULL AND s.reported_at > now() - interval '30 seconds'`

// membersColumn are the members of capability c, in the order in which they are tried.
var membersColumn = `coalesce((SELECT jsonb_agg(jsonb_build_object('upstreamId', m.upstream_id, 'weight', m.weight,
	                'priority', m.priority, 'status', m.status, 'health', ` + fmt.Sprintf(reportedHealth, "m.upstream_id") + `)
	                ORDER BY m.priority, m.weight DESC, m.upstream_id)
	        FROM capability_upstreams m WHERE m.capability_id = c.id), '[]'::jsonb)`

// checkMembers notes what is wrong with the upstreams that are named, and brings them into their order.
func (s *Settings) checkMembers(wrong fault.Fields) {
	if s.Upstreams == nil {
		return
	}
	if len(*s.Upstreams) > maxMembers {
		wrong.Add("upstreams", "must name at most %d", maxMembers)
		return
	}
	members := slices.Clone(*s.Upstreams)
	seen, enabled := map[string]bool{}, 0
	for _, m := range members {
		if !identifier.MatchString(m.UpstreamID) {
			wrong.Add("upstreams", "must name each by upstreamId, its identifier")
		}
		if seen[m.UpstreamID] {
			wrong.Add("upstreams", "must name each only once")
		}
		seen[m.UpstreamID] = true
		if m.Weight < 1 || m.Weight > maxWeight {
			wrong.Add("upstreams", "must have weights from 1 to %d", maxWeight)
		}
		if m.Priority < 0 || m.Priority > maxPriority {
			wrong.Add("upstreams", "must have priorities from 0 to %d", maxPriority)
		}
		if m.Status != Enabled && m.Status != Disabled {
			wrong.Add("upstreams", "must each have the status enabled or disabled")
		}
		if m.Status == Enabled {
			enabled++
		}
	}
	if len(members) > 0 && enabled == 0 {
		wrong.Add("upstreams", "must leave one enabled: with all disabled no call could be made; disable the capability instead")
	}
	slices.SortStableFunc(members, func(a, b Member) int {
		if a.Priority != b.Priority {
			return int(a.Priority - b.Priority)
		}
		if a.Weight != b.Weight {
			return int(b.Weight - a.Weight)
		}
		return strings.Compare(a.UpstreamID, b.UpstreamID)
	})
	*s.Upstreams = members
}

// lockUpstreams demands that the upstreams named exist, and keeps edits of them away until tx ends: the gateways
// are told of an edit through the capabilities that use its upstream. It comes before any lock of a capability,
// as in an edit of an upstream.
func (s *Settings) lockUpstreams(ctx context.Context, tx pgx.Tx) error {
	if s.Upstreams == nil || len(*s.Upstreams) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, `SELECT id FROM upstreams WHERE id = ANY($1) ORDER BY id FOR SHARE`, memberIDs(*s.Upstreams))
	if err != nil {
		return fmt.Errorf("lock upstreams: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("lock upstreams: %w", err)
	}
	for _, m := range *s.Upstreams {
		if !slices.Contains(found, m.UpstreamID) {
			return fault.InvalidFields(map[string]string{"upstreams": "names one that does not exist"})
		}
	}
	return nil
}

// storeMembers makes the members of a capability those of d.
func storeMembers(ctx context.Context, tx pgx.Tx, d *Details) error {
	ids := memberIDs(d.Upstreams)
	if _, err := tx.Exec(ctx, `DELETE FROM capability_upstreams WHERE capability_id = $1 AND upstream_id <> ALL($2)`, d.ID, ids); err != nil {
		return fmt.Errorf("remove upstreams of a capability: %w", err)
	}
	weights, priorities, statuses := make([]int64, len(ids)), make([]int64, len(ids)), make([]string, len(ids))
	for i, m := range d.Upstreams {
		weights[i], priorities[i], statuses[i] = m.Weight, m.Priority, m.Status
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO capability_upstreams (capability_id, upstream_id, weight, priority, status)
		SELECT $1, m.* FROM unnest($2::text[], $3::integer[], $4::integer[], $5::text[]) AS m
		ON CONFLICT (capability_id, upstream_id) DO UPDATE
		SET weight = excluded.weight, priority = excluded.priority, status = excluded.status`, d.ID, ids, weights, priorities, statuses)
	if err != nil {
		return fmt.Errorf("store upstreams of a capability: %w", err)
	}
	return nil
}

func memberIDs(members []Member) []string {
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.UpstreamID
	}
	return ids
}

// described are members in words, for the audit trail and to compare them by.
func described(members []Member) string {
	words := make([]string, len(members))
	for i, m := range members {
		words[i] = fmt.Sprintf("%s (priority %d, weight %d, %s)", m.UpstreamID, m.Priority, m.Weight, m.Status)
	}
	return strings.Join(words, ", ")
}

// checkReachable demands that d has an address: its own, or that of an upstream it names.
func checkReachable(d Details) error {
	if d.UpstreamBaseURL != "" || len(d.Upstreams) > 0 {
		return nil
	}
	return fault.InvalidFields(map[string]string{"upstreamBaseUrl": "is required for a capability that names no upstreams"})
}
