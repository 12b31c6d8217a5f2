package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// LeftOut is the upstream that has been left out of the choice for longest of those that something may be served by.
type LeftOut struct {
	Capability string // its name; empty: none is left out
	Upstream   string // its name, which is for administrators only
	For        time.Duration
}

// LeftOutBy is by what upstreams are asked for that are left out.
type LeftOutBy string

// Applications are served by the capabilities they may use, these by their upstreams.
const (
	LeftOutByApplication LeftOutBy = "a.application_id::text"
	LeftOutByCapability  LeftOutBy = "c.id"
	LeftOutByUpstream    LeftOutBy = "u.id"
)

// LeftOut tells of every id which upstream any gateway that lives keeps calls from for longest; of disabled upstreams and
// capabilities nothing is told. Without a gateway nothing is known, and the answer is nil.
func (s *Store) LeftOut(ctx context.Context, by LeftOutBy, ids []string) (map[string]LeftOut, error) {
	bindings := ""
	if by == LeftOutByApplication {
		bindings = `JOIN application_capabilities a ON a.capability_id = c.id`
	}
	rows, err := s.pool.Query(ctx, fmt.Sprintf(`
		WITH asked AS (
			SELECT id FROM unnest($1::text[]) AS id
			WHERE EXISTS (SELECT FROM gateways WHERE ended_at IS NULL AND seen_at > now() - interval '30 seconds')
		), longest AS (
			SELECT DISTINCT ON (%[1]s) %[1]s AS id, c.name AS capability, u.name AS upstream,
			       greatest(0, extract(epoch FROM now() - s.opened_at))::float8 AS seconds
			FROM gateway_upstreams s JOIN gateways g ON g.spool_id = s.spool_id
			JOIN upstreams u ON u.id = s.upstream_id
			JOIN capability_upstreams m ON m.upstream_id = u.id AND m.status = 'enabled'
			JOIN capabilities c ON c.id = m.capability_id AND c.status = 'enabled' %[2]s
			WHERE %[1]s = ANY($1) AND s.state <> 'closed' AND s.opened_at IS NOT NULL AND `+reportsNow+`
			ORDER BY %[1]s, s.opened_at, c.id, u.id
		)
		SELECT asked.id, coalesce(capability, ''), coalesce(upstream, ''), coalesce(seconds, 0) FROM asked LEFT JOIN longest ON longest.id = asked.id`,
		by, bindings), ids)
	if err != nil {
		return nil, fmt.Errorf("upstreams left out: %w", err)
	}
	var found map[string]LeftOut
	var id string
	var one LeftOut
	var seconds float64
	_, err = pgx.ForEachRow(rows, []any{&id, &one.Capability, &one.Upstream, &seconds}, func() error {
		if found == nil {
			found = map[string]LeftOut{}
		}
		one.For = time.Duration(seconds * float64(time.Second))
		found[id] = one
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("upstreams left out: %w", err)
	}
	return found, nil
}
