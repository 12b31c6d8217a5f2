// Command statistics measures what the console's statistics cost with a hundred million calls and
// more: `make bench-stats ROWS=100000000`. It writes the calls into a real ClickHouse, where the
// real views fill the rollups, and asks the real console over HTTP. A second ledger holds a tenth of
// the rows; each kind of question is asked of the one and then of the other, so that the growth is
// seen under equal conditions. With -shards the rows lie on a cluster of so many, and the second ledger is a single
// server with as many rows as each shard.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/embedded"
)

// effort is how much is written and asked.
type effort struct {
	rows         int64
	shards       int // of the ledger with all rows; 1: a single server
	applications int // of accounts with accountSize each
	days         int
	questions    int // of each kind
	warmRounds   int
	coldKinds    int    // kinds before which the engine starts anew
	only         string // kinds whose names begin so; empty: all
	verified     int    // accounts that `callgate verify` recounts over all days afterwards; 0: none
}

// accountSize is the number of applications of every account.
const accountSize = 50

var full = effort{rows: 100_000_000, shards: 1, applications: 5_000, days: beijing.MaxDays, questions: 200, warmRounds: 3, coldKinds: 100, verified: 2}

func main() {
	e := full
	binary := flag.String("binary", "bin/callgate", "the callgate to measure")
	flag.Int64Var(&e.rows, "rows", full.rows, "calls in the ledger")
	flag.IntVar(&e.shards, "shards", full.shards, "shards to spread the calls over; the second ledger then has as many as one of them")
	flag.IntVar(&e.days, "days", full.days, "days over which the calls are spread, the last of them today; as many calls on fewer make each day as full as of a larger ledger")
	flag.IntVar(&e.applications, "applications", full.applications, "applications that make them, of accounts with 50 each")
	flag.IntVar(&e.questions, "questions", full.questions, "distinct questions of each kind")
	flag.IntVar(&e.coldKinds, "cold", full.coldKinds, "kinds of questions before which the engine starts anew")
	flag.IntVar(&e.warmRounds, "rounds", full.warmRounds, "warm rounds of all questions")
	flag.IntVar(&e.verified, "verify", full.verified, "accounts that callgate verify recounts over all days afterwards; 0: none")
	flag.StringVar(&e.only, "only", "", "only the questions whose names begin so, without a proof of the rollups")
	kept := flag.String("data", "", "directory that keeps the rows; a second run measures the same ones again")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := onEngines(ctx, *kept, e.shards, func(dir string, engines *embedded.Engines) error {
		return run(ctx, e, *binary, dir, engines, os.Stdout)
	}); err != nil {
		fmt.Fprintln(os.Stderr, "bench-stats:", err)
		os.Exit(1)
	}
}

// onEngines runs work on stores with their data in dir, which is thrown away unless it is named.
func onEngines(ctx context.Context, dir string, shards int, work func(dir string, engines *embedded.Engines) error) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "callgate-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL runs as another user and passes through
			return err
		}
	}
	engines, err := embedded.Start(ctx, embedded.Options{DataDir: filepath.Join(dir, "engines"), Logger: slog.New(slog.DiscardHandler), Ephemeral: true, Shards: shards})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engines.Close()) }()
	return work(dir, engines)
}

// run writes the ledgers, measures them, prints the table and proves the rollups. Rows that an
// earlier run in the same directory has written are not written again.
func run(ctx context.Context, e effort, binary, dir string, engines *embedded.Engines, out io.Writer) error {
	b := &bench{effort: e, binary: binary, dir: dir, engines: engines, out: out}
	if err := b.open(ctx); err != nil {
		return err
	}
	for _, l := range b.ledgers {
		began := time.Now()
		if err := b.write(ctx, l); err != nil {
			return err
		}
		b.say("%d rows after %s", l.Written, time.Since(began).Round(time.Second))
		if err := b.save(); err != nil {
			return err
		}
	}
	if err := b.settle(ctx); err != nil {
		return err
	}
	measured, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if err := printTable(out, b, measured); err != nil {
		return err
	}
	if b.only != "" {
		return nil
	}
	return b.prove(ctx)
}

// bench is one run.
type bench struct {
	effort
	binary  string
	dir     string
	engines *embedded.Engines
	ledgers [2]*ledger // with a tenth of the rows, or a shard's, and with all
	out     io.Writer
	state
}

// The places of the ledgers.
const (
	part = iota
	whole
)

// ledger is a ClickHouse database of calls.
type ledger struct {
	clickhouse
	url  string // of its native interface
	rows int64
	*content
}

// content is what a ledger holds.
type content struct {
	Written int64
	InHour  [2]int64 // calls written into the two crowded hours
}

// state is what a second run on the same rows must know.
type state struct {
	Today    beijing.Day
	Accounts []account
	Owned    []owned // by rank, the most called first
	Contents [2]content
}

// open makes or finds the accounts, the applications and the ledgers.
func (b *bench) open(ctx context.Context) error {
	rows, names := [2]int64{b.rows / 10, b.rows}, [2]string{"bench_tenth", "bench_whole"}
	if b.shards > 1 {
		rows[part], names[part] = b.rows/int64(b.shards), "bench_server"
	}
	for i := range b.ledgers {
		l := &ledger{rows: rows[i], content: &b.Contents[i]}
		for dsn, to := range map[string]*string{b.engines.ClickHouseDSN(): &l.url, b.engines.ClickHouseHTTPURL(): &l.dsn} {
			u, err := url.Parse(dsn)
			if err != nil {
				return fmt.Errorf("clickhouse address: %w", err)
			}
			if u.Path = "/" + names[i]; i == part {
				u.Host, _, _ = strings.Cut(u.Host, ",")
			}
			*to = u.String()
		}
		if i == whole {
			l.cluster = b.engines.ClickHouseCluster()
		}
		b.ledgers[i] = l
		if err := b.callgate(ctx, l, "migrate"); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(b.stateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return b.furnish(ctx)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, &b.state)
}

func (b *bench) stateFile() string { return filepath.Join(b.dir, "bench.json") }

func (b *bench) save() error {
	text, err := json.Marshal(b.state)
	if err != nil {
		return err
	}
	return os.WriteFile(b.stateFile(), text, 0o600)
}

func (b *bench) say(format string, values ...any) { fmt.Fprintf(b.out, format+"\n", values...) }

func (b *bench) environment(l *ledger) []string {
	return append(os.Environ(), "DATABASE_URL="+b.engines.DatabaseURL(), "CLICKHOUSE_URL="+l.url,
		"CLICKHOUSE_CLUSTER="+l.cluster, "REDIS_URL="+b.engines.RedisURL())
}

// callgate runs a command of the binary on a ledger to its end.
func (b *bench) callgate(ctx context.Context, l *ledger, arguments ...string) error {
	cmd := exec.CommandContext(ctx, b.binary, arguments...)
	cmd.Env = b.environment(l)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("callgate %s: %w: %s", arguments[0], err, said)
	}
	if len(said) > 0 {
		b.say("callgate %s: %s", arguments[0], said)
	}
	return nil
}
