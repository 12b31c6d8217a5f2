package ledger_test

import (
	"testing"
	"time"

	"callgate/internal/calls/ledger"

	"github.com/google/uuid"
)

func TestStatusIsThatOfTheSpoolFurthestBehindAndCountsSilentOnes(t *testing.T) {
	s := openStores(t)
	known := ledger.New(s.Pool)
	status, err := known.Status(t.Context())
	if err != nil || status.Silent != 0 || time.Since(status.Through) > time.Second {
		t.Fatalf("without any spool: %+v, %v", status, err)
	}
	for _, spool := range []struct{ through, updated, retired string }{
		{"1 second", "1 second", "false"}, {"20 minutes", "1 second", "false"}, {"5 minutes", "5 minutes", "false"}, {"2 hours", "2 hours", "true"},
	} {
		id := uuid.New()
		if _, err := s.Pool.Exec(t.Context(), `INSERT INTO spools (id, node, through, updated_at, retired) VALUES ($1, 'a', now() - $2::interval, now() - $3::interval, $4)`,
			id, spool.through, spool.updated, spool.retired == "true"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Pool.Exec(t.Context(), `INSERT INTO gateways (spool_id, host, role, version, started_at, held_bytes) VALUES ($1, 'a', 'gateway', '1', now(), 100)`, id); err != nil {
			t.Fatal(err)
		}
	}
	status, err = known.Status(t.Context())
	if age := time.Since(status.Through); err != nil || status.Silent != 1 || status.Held != 100 || age < 20*time.Minute || age > 21*time.Minute {
		t.Errorf("%+v, %v", status, err)
	}
}
