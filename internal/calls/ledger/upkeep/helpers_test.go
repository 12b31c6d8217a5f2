package upkeep

import (
	"context"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/embedded"
)

// stores are a test's, for which each file has questions of its own.
type stores struct{ *ledgertest.Stores }

func openStores(t testing.TB) *stores { return &stores{ledgertest.Open(t)} }

func twoShards(t *testing.T) (*stores, *embedded.Engines, []uuid.UUID) {
	s, engines, applications := ledgertest.TwoShards(t)
	return &stores{s}, engines, applications
}

// server is the connection to a single server.
func server(t testing.TB, of *shards.Servers) driver.Conn {
	t.Helper()
	found, err := of.Shards(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return found[0].Conn()
}

func TestMain(m *testing.M) { ledgertest.Main(m, nil) }
