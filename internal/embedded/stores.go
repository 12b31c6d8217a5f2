package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"callgate/clickhouse"
	"callgate/sql"

	"callgate/internal/demo"
)

// TB is the part of testing.TB used here; naming it keeps package testing out of the binary.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, arguments ...any)
	Logf(format string, arguments ...any)
}

// setupTimeout bounds the making of one test's database.
const setupTimeout = 2 * time.Minute

// StoreURLs are the DSNs of one test's own databases, as configuration takes them.
type StoreURLs struct {
	DatabaseURL   string // PostgreSQL, migrated
	ClickHouseURL string // native protocol, migrated
	RedisURL      string // empty
}

// Stores gives a test its own database in each of the three stores. They vanish with the test.
func Stores(t TB) StoreURLs {
	t.Helper()
	return StoreURLs{DatabaseURL: Postgres(t), ClickHouseURL: ClickHouse(t), RedisURL: Redis(t)}
}

// Postgres gives a test its own migrated PostgreSQL database, a copy of a template made once.
func Postgres(t TB) string {
	t.Helper()
	admin := connection(t, "DATABASE_URL")
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	template, err := templateDatabase(ctx, admin)
	if err != nil {
		t.Fatalf("%v", err)
	}
	name := "test_" + randomHex(8)
	if err := execPostgres(ctx, admin, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatalf("create the test's database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
		defer cancel()
		if err := execPostgres(ctx, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
			t.Logf("drop the test's database: %v", err)
		}
	})
	return withDatabase(admin, name)
}

// Redis gives a test its own empty Redis: one in this process, or, with EMBEDDED_REDIS=server, a
// numbered database of the shared redis-server (channels are shared there, as Redis has it).
func Redis(t TB) string {
	t.Helper()
	asServer, err := realRedis()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !asServer {
		server, err := startMiniredis("127.0.0.1:0", "")
		if err != nil {
			t.Fatalf("%v", err)
		}
		t.Cleanup(server.Close)
		return redisURL(server.Addr(), "", 0)
	}
	dsn, err := numberedDatabase(connection(t, "REDIS_URL"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		err := onRedis(dsn, func(client *redis.Client) error { return client.FlushDB(context.Background()).Err() })
		if err != nil {
			t.Logf("empty the test's redis database: %v", err)
		}
	})
	return dsn
}

// numberedDatabase hands out the databases 1, 2, … of a shared server; database 0 keeps the count.
func numberedDatabase(server string) (string, error) {
	var number int64
	err := onRedis(server, func(client *redis.Client) (err error) {
		number, err = client.Incr(context.Background(), "callgate:tests").Result()
		return err
	})
	return withDatabase(server, fmt.Sprint(1+number%(redisDatabases-1))), err
}

// Mails gives a test its own mail catcher.
func Mails(t TB) *demo.Mailbox {
	t.Helper()
	box, err := demo.StartMailbox("127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = box.Close() })
	return box
}

// DemoUpstream gives a test its own demo upstream.
func DemoUpstream(t TB) *demo.Upstream {
	t.Helper()
	upstream, err := demo.StartUpstream("127.0.0.1:0", "sk-demo-"+randomHex(16))
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = upstream.Close() })
	return upstream
}

// Own gives a test engines of its own, with the databases callgate migrated, which it may kill.
// They take about two seconds to start; tests that kill nothing use Stores.
func Own(t TB) *Engines {
	t.Helper()
	return own(t, Options{Shards: shardsOfTests()})
}

func own(t TB, options Options) *Engines {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hostTimeout)
	defer cancel()
	dir, err := temporaryDir()
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	options.DataDir, options.Logger, options.Ephemeral = dir, slog.New(slog.DiscardHandler), true
	engines, err := Start(ctx, options)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := errors.Join(engines.Close(), engines.removeOutside()); err != nil {
			t.Logf("close the engines: %v", err)
		}
	})
	if err := errors.Join(sql.Up(ctx, engines.DatabaseURL()), clickhouse.Up(ctx, engines.ClickHouseURL())); err != nil {
		t.Fatalf("%v", err)
	}
	return engines
}

func connection(t TB, name string) string {
	t.Helper()
	found, err := shared()
	if err != nil {
		t.Fatalf("%v", err)
	}
	if found[name] == "" {
		t.Fatalf("the engines of this test run have no %s", name)
	}
	return found[name]
}

// withDatabase replaces the database in a DSN.
func withDatabase(dsn, database string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	u.Path = "/" + database
	return u.String()
}

// templateLock is the advisory lock under which test processes make the template.
const templateLock = 0x63616c6c67617465

var templates sync.Map // admin DSN -> func() (string, error)

// templateDatabase returns the name of a migrated database to copy, making it once per set of engines.
func templateDatabase(ctx context.Context, admin string) (string, error) {
	once, _ := templates.LoadOrStore(admin, sync.OnceValues(func() (string, error) { return makeTemplate(ctx, admin) }))
	return once.(func() (string, error))()
}

func makeTemplate(ctx context.Context, admin string) (string, error) {
	version, err := migrationsHash(sql.Migrations)
	if err != nil {
		return "", err
	}
	name := "template_" + version
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", fmt.Errorf("connect to postgres: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // releases the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(templateLock)); err != nil {
		return "", fmt.Errorf("lock the template database: %w", err)
	}
	var complete bool // a template is marked as one when it is complete
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1 AND datistemplate)", name).Scan(&complete)
	if err != nil {
		return "", fmt.Errorf("look for the template database: %w", err)
	}
	if complete {
		return name, nil
	}
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "CREATE DATABASE " + name} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return "", fmt.Errorf("make the template database: %w", err)
		}
	}
	if err := sql.Up(ctx, withDatabase(admin, name)); err != nil {
		return "", fmt.Errorf("migrate the template database: %w", err)
	}
	if _, err := conn.Exec(ctx, "ALTER DATABASE "+name+" IS_TEMPLATE true"); err != nil {
		return "", fmt.Errorf("mark the template database: %w", err)
	}
	return name, nil
}

// migrationsHash changes when any migration does.
func migrationsHash(migrations fs.FS) (string, error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return "", fmt.Errorf("migrations: %w", err)
	}
	sum := sha256.New()
	for _, name := range names {
		raw, err := fs.ReadFile(migrations, name)
		if err != nil {
			return "", fmt.Errorf("migrations: %w", err)
		}
		fmt.Fprintf(sum, "%s %d %s", name, len(raw), strings.TrimSpace(string(raw)))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
