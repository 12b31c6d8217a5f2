package days

import (
	"testing"

	"github.com/google/uuid"

	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/embedded"
)

// stores are a test's, for which each file has questions of its own.
type stores struct{ *ledgertest.Stores }

func openStores(t testing.TB) *stores { return &stores{ledgertest.Open(t)} }

func twoShards(t *testing.T) (*stores, *embedded.Engines, []uuid.UUID) {
	s, engines, applications := ledgertest.TwoShards(t)
	return &stores{s}, engines, applications
}

func TestMain(m *testing.M) { ledgertest.Main(m, closeChild) }
