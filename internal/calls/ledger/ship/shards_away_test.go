package ship_test

import (
	"context"
	"net/url"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// TestAShardThatIsAwayOrHangsHoldsUpItsOwnCallsAlone: those of the other are there as soon as ever, and its own
// when it is back.
func TestAShardThatIsAwayOrHangsHoldsUpItsOwnCallsAlone(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"away", "hangs"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s, engines, applications := twoShards(t)
			other := connect(t, embedded.WithSettings(s.URL, "?optimize_skip_unused_shards=1"), engines.DatabaseURL())
			r := s.Record(t, spool.Config{})
			r.Add(ledgertest.By(applications, callstest.Success(time.Now()), 0))
			r.Add(ledgertest.By(applications, callstest.Success(time.Now()), 1))
			callstest.Eventually(t, 20*time.Second, "both shards have a call", func() bool { return r.Pending().Oldest == spool.Never })
			back := stopShard(t, engines, state)
			for i := range 20 {
				r.Add(ledgertest.By(applications, callstest.Mixed(time.Now(), i/2), i))
			}
			callstest.Eventually(t, 10*time.Second, "the calls of the live shard are there", func() bool {
				n := other.Number(t, `SELECT toInt64(count()) FROM calls WHERE application_id IN ($1)`, []uuid.UUID{applications[0], applications[2], applications[4]})
				return n == 11
			})
			if r.Pending().Oldest == spool.Never {
				t.Error("the calls of the shard that is not there are confirmed")
			}
			back()
			callstest.Eventually(t, 2*time.Minute, "everything is confirmed", func() bool { return r.Pending().Oldest == spool.Never })
			if n := s.Counted(t); n != 22 {
				t.Errorf("%d calls are counted of 22", n)
			}
		})
	}
}

// stopShard makes the second shard one that is away or hangs.
func stopShard(t *testing.T, engines *embedded.Engines, state string) (back func()) {
	t.Helper()
	if state == "hangs" {
		pid := engines.PIDs()["clickhouse2"]
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		back = sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
		t.Cleanup(back)
		return back
	}
	up, err := engines.Down("clickhouse2")
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAClusterThatIsAwayWhenAGatewayStartsGetsItsCallsWhenItComes: its shards are not known before.
func TestAClusterThatIsAwayWhenAGatewayStartsGetsItsCallsWhenItComes(t *testing.T) {
	t.Parallel()
	s, engines, applications := twoShards(t)
	var ups []func(context.Context) error
	for _, name := range []string{"clickhouse", "clickhouse2"} {
		up, err := engines.Down(name)
		if err != nil {
			t.Fatal(err)
		}
		ups = append(ups, up)
	}
	r := s.Record(t, spool.Config{})
	for i := range 10 {
		r.Add(ledgertest.By(applications, callstest.Success(time.Now()), i))
	}
	callstest.Eventually(t, 5*time.Second, "they are on disk", func() bool { return r.Written() == 10 })
	time.Sleep(time.Second) // it looks for the shards meanwhile
	for _, up := range ups {
		if err := up(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	callstest.Eventually(t, 20*time.Second, "everything is confirmed", func() bool { return r.Pending().Oldest == spool.Never })
	if n := s.Counted(t); n != 10 {
		t.Errorf("%d calls are counted of 10", n)
	}
}

// TestConfirmedCallsThatOneRestartedShardLostAreSentToItAgain: the other keeps its own, once.
func TestConfirmedCallsThatOneRestartedShardLostAreSentToItAgain(t *testing.T) {
	t.Parallel()
	s, engines, applications := twoShards(t)
	dir := t.TempDir()
	r := s.RecordRetaining(t, spool.Config{Dir: dir}, 3*time.Second)
	for i := range 120 {
		r.Add(ledgertest.By(applications, callstest.Mixed(time.Now(), i/len(applications)), i))
	}
	callstest.Eventually(t, 30*time.Second, "the calls are confirmed", func() bool { return len(ledgertest.Segments(t, dir, ".sent")) == 1 })
	shard := connect(t, onlyNode(t, s.URL, 1), engines.DatabaseURL())
	shard.FailPowerOf(t, engines, "clickhouse2", ledgertest.Tables...)
	callstest.Eventually(t, time.Minute, "the calls are counted again", func() bool {
		var n uint64
		return s.Conn.QueryRow(t.Context(), `SELECT count() FROM calls`).Scan(&n) == nil && n == 120
	})
	ledgertest.AwaitDeleted(t, dir)
	if n := s.Counted(t); n != 120 {
		t.Errorf("%d calls are counted of 120", n)
	}
}

// onlyNode is the address of the rows of one shard.
func onlyNode(t *testing.T, address string, node int) string {
	t.Helper()
	options, _, err := cluster.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "clickhouse", User: url.UserPassword(options.Auth.Username, options.Auth.Password), Host: options.Addr[node],
		Path: "/" + cluster.ShardDatabase(options.Auth.Database)}
	return u.String()
}
