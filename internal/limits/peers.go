package limits

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Peers is which share of every limit is this gateway's while Redis cannot be asked.
type Peers struct {
	count, rank int
	weight      float64 // of a gateway that has just come, whose share the others have still in their windows: below 1
}

// alone is one gateway that nobody knows.
var alone = Peers{count: 1, weight: 1}

// part is this gateway's part of n.
func (p Peers) part(n int64) int64 {
	if n <= 0 {
		return 0
	}
	part := n / int64(p.count)
	if int64(p.rank) < n%int64(p.count) {
		part++
	}
	if p.weight < 1 {
		return int64(float64(part) * p.weight)
	}
	return part
}

// readPeers reads the gateways that were heard of within a window: what one spent that has just ended is in it.
func readPeers(ctx context.Context, pool *pgxpool.Pool, own uuid.UUID, window time.Duration) (Peers, error) {
	rows, err := pool.Query(ctx, `
		SELECT spool_id, extract(epoch FROM now() - started_at)::float8 FROM gateways
		WHERE seen_at > now() - make_interval(secs => $1) AND role <> 'console'`, (window + 2*time.Second).Seconds())
	if err != nil {
		return alone, fmt.Errorf("read the gateways: %w", err)
	}
	type gateway struct {
		ID  uuid.UUID
		Age float64
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[gateway])
	if err != nil {
		return alone, fmt.Errorf("read the gateways: %w", err)
	}
	slices.SortFunc(all, func(a, b gateway) int { return slices.Compare(a.ID[:], b.ID[:]) })
	rank := slices.IndexFunc(all, func(g gateway) bool { return g.ID == own })
	if rank < 0 {
		return Peers{count: len(all) + 1, rank: len(all)}, nil // not heard of yet: no share
	}
	weight := 1.0
	if len(all) > 1 {
		weight = min(1, all[rank].Age/window.Seconds())
	}
	return Peers{count: len(all), rank: rank, weight: weight}, nil
}
