package limits

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/embedded"
)

// TestSharesOfAllGatewaysAreTheLimit: of those that were heard of within a window, a gateway that has just ended or come
// included, so that what one spent that is no longer there is not spent again.
func TestSharesOfAllGatewaysAreTheLimit(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ids := make([]uuid.UUID, 5)
	for i, row := range []struct{ role, started, seen, ended string }{
		{"gateway", "1 hour", "0", ""},
		{"all", "30 seconds", "0", ""},                    // has just come
		{"gateway", "1 hour", "40 seconds", "40 seconds"}, // has just ended
		{"gateway", "1 hour", "70 seconds", ""},           // was killed long ago
		{"console", "1 hour", "0", ""},
	} {
		ids[i] = uuid.New()
		_, err := pool.Exec(t.Context(), `INSERT INTO gateways (spool_id, host, role, version, started_at, seen_at, ended_at)
			VALUES ($1, 'h', $2, 'v', now() - $3::interval, now() - $4::interval, now() - nullif($5, '')::interval)`,
			ids[i], row.role, row.started, row.seen, row.ended)
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(id uuid.UUID) Peers {
		p, err := readPeers(t.Context(), pool, id, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	total := int64(0)
	for _, id := range ids[:3] {
		p := read(id)
		if p.count != 3 {
			t.Errorf("%d gateways share", p.count)
		}
		total += Peers{p.count, p.rank, 1}.part(100)
	}
	if total != 100 {
		t.Errorf("their parts of 100 are %d", total)
	}
	if p := read(ids[1]); p.weight < 0.49 || p.weight > 0.55 {
		t.Errorf("a gateway that came half a window ago weighs %f", p.weight)
	}
	if p := read(uuid.New()); p.count != 4 || p.rank != 3 {
		t.Errorf("a gateway that nobody knows yet: %+v", p)
	}
}
