// Command bench measures what a call through the gateway costs beside proxies that do nothing but
// forward: `make bench`. Machines are shared and noisy, so every figure is a ratio between processes
// measured in turns, and the median over the rounds is quoted. The gateway is the real binary on
// real stores with everything on; the upstream is a mock that answers as fast as a server can.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"callgate/internal/embedded"
)

func main() {
	if role := os.Getenv(roleVariable); role != "" {
		fail(play(role))
		return
	}
	e := full
	binary := flag.String("binary", "bin/callgate", "the callgate to measure")
	beside := flag.String("beside", "", "other builds of callgate, separated by commas, of the same schema: measured in turns with it, a column each; PATH+limits calls as an application that has limits")
	only := flag.String("only", "", "one row: "+strings.Join(rowNames, ", "))
	flag.IntVar(&e.starts, "starts", full.starts, "how often the processes that are compared are started; builds are told apart by several starts, for one process may cost some percent more than the next of the same build")
	flag.IntVar(&e.rounds, "rounds", full.rounds, "rounds of every comparison, after each start")
	flag.DurationVar(&e.window, "window", full.window, "how long a turn of a saturated row is; short turns of many rounds tell builds apart on a noisy machine")
	flag.IntVar(&e.held, "held", full.held, "streams held for the memory row; both ends need a file descriptor each")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fail(onEngines(ctx, *binary, func(s stores) error {
		r, err := run(ctx, e, append([]string{*binary}, splitList(*beside)...), *only, s)
		if err != nil {
			return err
		}
		return r.print(os.Stdout, e, splitList(*beside))
	}))
}

func splitList(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// onEngines runs work on throw-away stores that the binary has migrated.
func onEngines(ctx context.Context, binary string, work func(stores) error) (err error) {
	dir, err := os.MkdirTemp("", "callgate-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL runs as another user and passes through
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	engines, err := embedded.Start(ctx, embedded.Options{DataDir: filepath.Join(dir, "engines"), Logger: quiet, Ephemeral: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engines.Close()) }()
	s := stores{engines.DatabaseURL(), engines.ClickHouseURL(), engines.RedisURL()}
	migrate := exec.CommandContext(ctx, binary, "migrate")
	migrate.Env = append(os.Environ(), "DATABASE_URL="+s.postgres, "CLICKHOUSE_URL="+s.clickhouse)
	if out, err := migrate.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate: %w: %s", err, out)
	}
	return work(s)
}

// run measures every row, or only one. binaries are callgate and what is measured beside it.
func run(ctx context.Context, e effort, binaries []string, only string, s stores) (results, error) {
	b, err := newBench(ctx, e, binaries, s)
	if err != nil {
		return nil, err
	}
	defer b.close()
	r := results{}
	flat := func(c contestants) []*subject { return append(c.others, c.bare, c.nginx, c.loop, c.ours) }
	streamed := func(c contestants) []*subject { return append(c.others, c.fiber, c.nginx, c.loop, c.ours) }
	for _, row := range []struct {
		name    string
		measure func(context.Context, results) error
	}{
		{rowMemory, b.memory},
		{rowCall, b.compared(rowCall, e.calls(jsonPath), flat)},
		{rowChunkedCall, b.compared(rowChunkedCall, e.calls(chunkedPath), streamed)},
		{rowPaced, b.compared(rowPaced, e.paced, flat)},
		{rowSecure, b.secureCalls},
		{rowChunk, b.compared(rowChunk, e.chunks, streamed)},
		{rowBurst, b.compared(rowBurst, e.bursts, streamed)},
		{rowLatency, b.compared(rowLatency, e.latency, func(c contestants) []*subject { return append(flat(c), b.upstream) })},
		{rowUsageCall, b.alternately(rowUsageCall, jsonPath, 1)},
		{rowUsageChunk, b.usageChunks},
		{rowUsageBurst, b.alternately(rowUsageBurst, burstPath, burstChunks)},
		{rowUsageOpenAI, b.alternately(rowUsageOpenAI, openAIPath, burstChunks)},
		{rowUsageMemory, b.usageMemory},
	} {
		if only != "" && only != row.name {
			continue
		}
		if err := row.measure(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", row.name, err)
		}
	}
	return r, nil
}
