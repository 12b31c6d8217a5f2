package ship_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

// stores are a test's, for which each file has questions of its own.
type stores struct{ *ledgertest.Stores }

func openStores(t testing.TB) *stores { return &stores{ledgertest.Open(t)} }

func connect(t testing.TB, clickhouseURL, databaseURL string) *stores {
	return &stores{ledgertest.Connect(t, clickhouseURL, databaseURL)}
}

func twoShards(t *testing.T) (*stores, *embedded.Engines, []uuid.UUID) {
	s, engines, applications := ledgertest.TwoShards(t)
	return &stores{s}, engines, applications
}

func TestMain(m *testing.M) { ledgertest.Main(m, child) }

// child records numbered calls until it is killed, and prints how many are written.
func child(arguments []string) {
	pool, err := pgxpool.New(context.Background(), arguments[2])
	if err != nil {
		panic(err)
	}
	r, err := spool.Open(context.Background(), spool.Config{Dir: arguments[0], SealAfter: 50 * time.Millisecond}, callstest.Quiet, nil)
	if err != nil {
		panic(err)
	}
	if _, err := ship.Start(context.Background(), ship.Config{}, r, pool, arguments[1], callstest.Quiet, nil); err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		call := callstest.Mixed(time.Now(), i)
		call.RequestBytes = int64(i)
		r.Add(call)
		if i%50 == 49 {
			time.Sleep(2 * time.Millisecond)
			fmt.Println(r.Written())
		}
	}
}
