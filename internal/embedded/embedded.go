// Package embedded runs the stores Callgate needs, PostgreSQL, ClickHouse and Redis, and beside
// them a mail catcher and a demo upstream, on loopback, for `callgate dev` and for every test.
//
// The hard decision: these are the real engines and not stand-ins. What Callgate promises
// (nothing lost, nothing counted twice, revoked in two seconds) rests on what the engines do with
// deduplication tokens, locks and kill -9, and only they can show it. Without containers that
// means child processes, so most of this package is about a child never being left behind, never
// being started twice on the same data, and coming back by itself: the kernel ends the children
// with their parent, a lock guards DATA_DIR, a supervisor restarts what dies.
//
// Tests use Stores, Postgres, ClickHouse and Redis for isolated databases on engines shared by the
// test run, and Own for engines they may kill.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/alicebob/miniredis/v2"

	"callgate/internal/demo"
	"callgate/internal/progress"
)

// Options say where the engines live.
type Options struct {
	// DataDir holds everything the engines keep; it is made if absent.
	DataDir string
	// Logger receives what happens to the children; nil is slog.Default().
	Logger *slog.Logger
	// Ephemeral gives up durability against a power cut for speed: for data that is thrown away.
	Ephemeral bool
	// Shards is the number of ClickHouse engines, 1 if 0. Several know each other as the cluster of that name.
	Shards int
	// Progress tells how far a first start is: what is fetched, and which engines answer.
	Progress progress.Output

	replicas int // of each shard, see replicas.go; 1 if 0
}

// Engines are the running stores, mail catcher and demo upstream of one DATA_DIR.
type Engines struct {
	dir      string
	logger   *slog.Logger
	state    *state
	lock     *os.File
	spawner  *spawner
	pg       *postgres
	ch       *clickHouse
	others   []*clickHouse // shards but the first
	mail     *demo.Mailbox
	upstream *demo.Upstream
	memory   *miniredis.Miniredis // nil when redis is a child
	children []*child             // in the order of their start
	outcome  func() error         // Close, once

	publish   sync.Mutex // guards published and the writing of connections.env
	published bool
}

// Start starts everything and returns when all of it answers. It fails if another process uses
// DataDir. The first start in a directory initialises the databases, empty but for a database
// named callgate; migrations are the caller's. Everything ends with Close or with this process,
// however it ends.
func Start(ctx context.Context, options Options) (_ *Engines, err error) {
	e := &Engines{logger: options.Logger}
	if e.logger == nil {
		e.logger = slog.Default()
	}
	e.outcome = sync.OnceValue(e.shutDown)
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	if e.dir, err = filepath.Abs(options.DataDir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if e.lock, err = claim(e.dir); err != nil {
		return nil, err
	}
	if e.state, err = loadState(e.dir); err != nil {
		return nil, err
	}
	found, err := install(ctx, e.dir, options.Progress, e.logger)
	if err != nil {
		return nil, err
	}
	if err := e.place(found, options); err != nil {
		return nil, err
	}
	if err := stopLeftover(filepath.Join(e.pg.dir, "data")); err != nil {
		return nil, err
	}
	parts := []string{"postgres", "redis", "smtp", "upstream"}
	for _, c := range e.shards() {
		parts = append(parts, c.name, c.name+"_http")
	}
	if err := e.state.ports.settle(parts...); err != nil {
		return nil, err
	}
	if err := e.startAll(ctx, options.Progress); err != nil {
		return nil, err
	}
	return e, errors.Join(e.state.save(), e.announce())
}

// place decides where each engine lives and as whom PostgreSQL runs.
func (e *Engines) place(found binaries, options Options) error {
	dir := e.state.postgresDir()
	runAs, err := unprivileged(dir)
	if err != nil {
		return err
	}
	native := found.postgres
	if runAs != nil {
		if native, err = reachableBuild(found); err != nil {
			return err
		}
		if e.state.PostgresDir == "" && !reachable(dir) {
			dir = filepath.Join(outside, e.state.Instance)
		}
	}
	if err := e.state.keepPostgresDir(dir); err != nil {
		return err
	}
	e.pg = &postgres{
		native: native, dir: dir, log: filepath.Join(e.dir, "postgres.log"), password: e.state.PostgresPassword,
		ephemeral: options.Ephemeral, ports: e.state.ports, runAs: runAs,
	}
	e.placeShards(found, options)
	return nil
}

// startAll starts PostgreSQL and ClickHouse side by side, then the light parts.
func (e *Engines) startAll(ctx context.Context, display progress.Output) error {
	e.spawner = newSpawner()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := e.startKeeper(ctx); err != nil {
		return err
	}
	var starting sync.WaitGroup
	shards := e.shards()
	meter := display.Begin("database engines started", int64(1+len(shards)))
	defer meter.End()
	children, faults := make([]*child, 1+len(shards)), make([]error, 1+len(shards))
	starting.Go(func() {
		if faults[0] = e.pg.prepare(ctx, e.spawner); faults[0] == nil {
			children[0], faults[0] = startChild(ctx, e.pg.engine(), e.spawner, e.logger, e.republish)
		}
		if faults[0] != nil {
			cancel()
		}
		meter.Add(1)
	})
	for i, shard := range shards {
		starting.Go(func() {
			children[1+i], faults[1+i] = startChild(ctx, shard.engine(), e.spawner, e.logger, e.republish)
			if faults[1+i] != nil {
				cancel()
			}
			meter.Add(1)
		})
	}
	starting.Wait()
	for _, started := range children {
		if started != nil {
			e.children = append(e.children, started)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return errors.Join(e.startRedis(ctx), e.startMail(), e.startUpstream())
}

func (e *Engines) startRedis(ctx context.Context) error {
	asServer, err := realRedis()
	if err != nil {
		return err
	}
	if asServer {
		server := &redisServer{dir: filepath.Join(e.dir, "redis"), password: e.state.RedisPassword, ports: e.state.ports}
		started, err := startChild(ctx, server.engine(), e.spawner, e.logger, e.republish)
		if err != nil {
			return err
		}
		e.children = append(e.children, started)
		return nil
	}
	return e.listen("redis", func(at string) (err error) {
		e.memory, err = startMiniredis(at, e.state.RedisPassword)
		return err
	})
}

func (e *Engines) startMail() error {
	return e.listen("smtp", func(at string) (err error) {
		e.mail, err = demo.StartMailbox(at)
		return err
	})
}

func (e *Engines) startUpstream() error {
	return e.listen("upstream", func(at string) (err error) {
		e.upstream, err = demo.StartUpstream(at, e.state.UpstreamKey)
		return err
	})
}

// listen starts a part in this process, on another port if somebody took its own meanwhile.
func (e *Engines) listen(part string, start func(address string) error) error {
	err := start(address(e.state.ports.of(part)))
	for range startAttempts - 1 {
		if err == nil {
			return nil
		}
		if picked := e.state.ports.repick(part); picked != nil {
			return errors.Join(err, picked)
		}
		err = start(address(e.state.ports.of(part)))
	}
	return err
}

// Close stops everything in order, what others use last, and waits for it. Data stays.
func (e *Engines) Close() error { return e.outcome() }

func (e *Engines) shutDown() error {
	var faults []error
	if e.upstream != nil {
		faults = append(faults, e.upstream.Close())
	}
	if e.mail != nil {
		faults = append(faults, e.mail.Close())
	}
	if e.memory != nil {
		e.memory.Close()
	}
	for i := len(e.children) - 1; i >= 0; i-- {
		faults = append(faults, e.children[i].close())
	}
	if e.spawner != nil {
		e.spawner.close()
	}
	if e.lock != nil {
		faults = append(faults, e.lock.Close())
	}
	return errors.Join(faults...)
}

// DatabaseURL is the DSN of the PostgreSQL database callgate.
func (e *Engines) DatabaseURL() string { return e.pg.url(account) }

// RedisURL is the DSN of Redis database 0.
func (e *Engines) RedisURL() string {
	return redisURL(address(e.state.ports.of("redis")), e.state.RedisPassword, 0)
}

// Mailbox is the mail catcher.
func (e *Engines) Mailbox() *demo.Mailbox { return e.mail }

// Upstream is the demo upstream.
func (e *Engines) Upstream() *demo.Upstream { return e.upstream }

// PIDs returns the process id of every child by its name: postgres, clickhouse and, if it is one, redis.
func (e *Engines) PIDs() map[string]int {
	pids := make(map[string]int, len(e.children))
	for _, c := range e.children {
		pids[c.name] = c.pid()
	}
	return pids
}

// Down kills a child (a name of PIDs) with SIGKILL and keeps it down until up is called, which
// returns when the engine answers again, on the same port and with its data.
func (e *Engines) Down(name string) (up func(context.Context) error, err error) {
	for _, c := range e.children {
		if c.name == name {
			return c.down()
		}
	}
	return nil, fmt.Errorf("no embedded engine is named %q", name)
}

// Kill kills a child with SIGKILL and returns when the supervisor has brought it back.
func (e *Engines) Kill(ctx context.Context, name string) error {
	up, err := e.Down(name)
	if err != nil {
		return err
	}
	return up(ctx)
}
