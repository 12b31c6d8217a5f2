//go:build replicas

package ship_test

import (
	"context"
	"net"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// through opens servers whose connections to replicas lead over links.
func through(t *testing.T, r *ledgertest.Replicated, of func(engine string) (asked, answered func([]byte) bool)) *shards.Servers {
	t.Helper()
	links := map[string]string{}
	for shard := range r.Shards {
		for replica := range 2 {
			engine := r.EngineOf(shard, replica)
			link := embedded.NewLink(t, r.Engines.ClickHouseDSNOf(engine, "default"))
			link.Inspect(of(engine))
			direct, _, err := cluster.Parse(r.Engines.ClickHouseDSNOf(engine, "default"))
			if err != nil {
				t.Fatal(err)
			}
			via, _, err := cluster.Parse(link.URL())
			if err != nil {
				t.Fatal(err)
			}
			links[direct.Addr[0]] = via.Addr[0]
		}
	}
	to, err := shards.Open(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	to.Options().DialContext = func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", links[address])
	}
	return to
}

// TestAnInsertWhoseAnswerIsLostIsRetriedThroughTheOtherReplicaAndCountsOnce: REPLICA_CUTS times on each kind
// of cluster. On a busy machine a retry may fail too, and the next one come through the first replica again: such cuts
// are made besides.
func TestAnInsertWhoseAnswerIsLostIsRetriedThroughTheOtherReplicaAndCountsOnce(t *testing.T) {
	cuts := callstest.FromEnvironment("REPLICA_CUTS", 10)
	ledgertest.OnReplicas(t, func(t *testing.T, r *ledgertest.Replicated) {
		c := newReplicaCutter(t, r)
		from := ledgertest.OpenSpool(t, spool.Config{SealAfter: 5 * time.Millisecond})
		recorder := &ledgertest.Recorder{Spool: from, Shipper: ship.StartTo(through(t, r, c.inspect), ship.DedupWindow, from, r.Pool, callstest.Quiet)}
		waves := 0
		for ; c.state().throughOther < cuts; waves++ {
			c.plan(waves)
			for i := range wave {
				recorder.Add(ledgertest.By(r.Applications, callstest.Mixed(time.Now(), i), i))
			}
			callstest.Eventually(t, time.Minute, "the wave is shipped", func() bool {
				return recorder.Written() == uint64(waves*wave+wave) && recorder.Pending().Oldest == spool.Never
			})
		}
		if err := ledgertest.Shut(recorder); err != nil {
			t.Fatal(err)
		}
		r.Alike(t, int64(waves*wave))
		if n := r.Number(t, `SELECT toInt64(count()) FROM call_failures`); n != int64(waves*wave/10) {
			t.Errorf("%d details are kept of %d", n, waves*wave/10)
		}
		s := c.state()
		t.Logf("%d answers lost in %d waves of %d calls, %d after the insert was applied; %d retried through the other replica", s.cut, waves, wave, s.applied, s.throughOther)
	})
}
