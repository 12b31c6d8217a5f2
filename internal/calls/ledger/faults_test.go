package ledger

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

func TestKilledClickHouseLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	engines := embedded.Own(t)
	s := connect(t, engines.ClickHouseURL(), engines.DatabaseURL())
	r := s.open(t, spool.Config{SealAfter: 20 * time.Millisecond}) // many inserts, so that kills hit some
	const goroutines, each = 4, 5_000
	var adding sync.WaitGroup
	for range goroutines {
		adding.Go(func() {
			for i := range each {
				r.Add(callstest.Mixed(time.Now(), i))
				if i%10 == 9 {
					pause(nil, 6*time.Millisecond) // a load of some seconds
				}
			}
		})
	}
	for range 3 {
		pause(nil, 700*time.Millisecond)
		if err := engines.Kill(t.Context(), "clickhouse"); err != nil {
			t.Fatal(err)
		}
	}
	adding.Wait()
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != goroutines*each {
		t.Errorf("%d calls are counted of %d", n, goroutines*each)
	}
	if n := s.number(t, `SELECT toInt64(count()) FROM call_failures`); n != goroutines*each/10 {
		t.Errorf("%d details are kept of %d", n, goroutines*each/10)
	}
}

const childVariable = "CALLGATE_CALLS_CHILD"

// TestMain also is the gateway that TestKilledProcess kills.
func TestMain(m *testing.M) {
	if arguments := os.Getenv(childVariable); arguments != "" {
		child(strings.Fields(arguments))
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // these tests wait more than they work
		panic(err)
	}
	os.Exit(m.Run())
}

// child records numbered calls until it is killed, and prints how many are written.
func child(arguments []string) {
	if arguments[0] == "close-days" {
		closeChild(arguments[1:])
		return
	}
	pool, err := pgxpool.New(context.Background(), arguments[2])
	if err != nil {
		panic(err)
	}
	r, err := spool.Open(context.Background(), spool.Config{Dir: arguments[0], SealAfter: 50 * time.Millisecond}, callstest.Quiet, nil)
	if err != nil {
		panic(err)
	}
	if _, err := Ship(context.Background(), Config{}, r, pool, arguments[1], callstest.Quiet, nil); err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		call := callstest.Mixed(time.Now(), i)
		call.RequestBytes = int64(i)
		r.Add(call)
		if i%50 == 49 {
			pause(nil, 2*time.Millisecond)
			fmt.Println(r.Written())
		}
	}
}

func TestKilledProcessLosesNothingThatWasWritten(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	var total int64
	for round := range 3 {
		written := runAndKill(t, fmt.Sprint(dir, " ", s.url, " ", s.pool.Config().ConnString()), 300*time.Millisecond)
		r := s.open(t, spool.Config{Dir: dir})
		if err := shut(r); err != nil {
			t.Fatal(err)
		}
		counted := s.counted(t)
		if counted-total < written {
			t.Errorf("round %d: %d calls were written, %d are counted", round, written, counted-total)
		}
		if n := s.number(t, `SELECT toInt64(max(request_bytes)) + 1 FROM calls`); round == 0 && n != counted {
			t.Errorf("%d calls are counted, the last one is number %d", counted, n)
		}
		t.Logf("round %d: %d written, %d counted", round, written, counted-total)
		total = counted
	}
	spools, err := s.waitedFor(t.Context())
	if err != nil || len(spools) != 0 {
		t.Errorf("adopted spools are not retired: %v, %v", spools, err)
	}
}

// runAndKill lets the child work for a while and kills it; it returns what it said was written.
func runAndKill(t *testing.T, arguments string, after time.Duration) int64 {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+arguments)
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // it records
	kill := time.AfterFunc(after, func() { _ = command.Process.Kill() })
	defer kill.Stop()
	var written int64
	for lines.Scan() {
		if n, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
			written = n
		}
	}
	_ = command.Wait()
	if written == 0 {
		t.Fatal("the child wrote nothing")
	}
	return written
}

func TestOpensWhileBothStoresAreDownAndCatchesUp(t *testing.T) {
	t.Parallel()
	clickhouse, postgres := embedded.NewLink(t, embedded.ClickHouse(t)), embedded.NewLink(t, embedded.Postgres(t))
	s := connect(t, clickhouse.URL(), postgres.URL())
	clickhouse.Cut()
	postgres.Cut()
	dir := t.TempDir()
	r := s.open(t, spool.Config{Dir: dir, SealAfter: 10 * time.Millisecond})
	for i := range 1_000 {
		r.Add(callstest.Mixed(time.Now(), i))
	}
	callstest.Eventually(t, 5*time.Second, "records are on disk", func() bool { return r.Written() == 1_000 && r.Backlog() > 0 })
	clickhouse.Mend()
	postgres.Mend()
	callstest.Eventually(t, 10*time.Second, "the backlog is shipped", func() bool { return r.Backlog() == 0 })
	if n := s.counted(t); n != 1_000 {
		t.Errorf("%d of 1000 calls are counted", n)
	}
	callstest.Eventually(t, 10*time.Second, "the ledger knows the spool", func() bool {
		spools, err := s.waitedFor(t.Context())
		return err == nil && len(spools) == 1
	})
}

func TestWhatCloseCannotShipTheNextProcessDoes(t *testing.T) {
	t.Parallel()
	link := embedded.NewLink(t, embedded.ClickHouse(t))
	s := connect(t, link.URL(), embedded.Postgres(t))
	dir := t.TempDir()
	link.Cut()
	r := s.open(t, spool.Config{Dir: dir})
	for i := range 1_000 {
		r.Add(callstest.Mixed(time.Now(), i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := r.close(ctx); err == nil {
		t.Error("Close says nothing of what it left")
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Close took %s beyond its time", took)
	}
	spools, err := s.waitedFor(t.Context())
	if err != nil || len(spools) != 1 {
		t.Fatalf("the spool does not hold dataThrough back: %v %v", spools, err)
	}
	link.Mend()
	if err := shut(s.open(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != 1_000 {
		t.Errorf("%d of 1000 calls are counted", n)
	}
	if spools, err = s.waitedFor(t.Context()); err != nil || len(spools) != 0 {
		t.Errorf("spools are not retired: %v %v", spools, err)
	}
}
