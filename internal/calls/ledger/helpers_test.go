package ledger_test

import (
	"testing"

	"callgate/internal/calls/ledger/ledgertest"
)

// stores are a test's, for which each file has questions of its own.
type stores struct{ *ledgertest.Stores }

func openStores(t testing.TB) *stores { return &stores{ledgertest.Open(t)} }

func connect(t testing.TB, clickhouseURL, databaseURL string) *stores {
	return &stores{ledgertest.Connect(t, clickhouseURL, databaseURL)}
}

func TestMain(m *testing.M) { ledgertest.Main(m, nil) }
