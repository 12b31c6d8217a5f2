package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"callgate/internal/embedded"
)

func TestEveryTestHasItsOwnMigratedStores(t *testing.T) {
	began := time.Now()
	one := embedded.Stores(t)
	t.Logf("first stores after %v", time.Since(began))
	began = time.Now()
	two := embedded.Stores(t)
	t.Logf("second stores after %v", time.Since(began))
	ctx := t.Context()

	if got := applications(ctx, t, one.DatabaseURL, "CREATE TABLE mine (id int)"); got != 0 {
		t.Errorf("a fresh database holds %d applications", got)
	}
	if got := applications(ctx, t, two.DatabaseURL, "CREATE TABLE mine (id int)"); got != 0 {
		t.Errorf("a fresh database holds %d applications", got)
	}
	for _, dsn := range []string{one.ClickHouseURL, two.ClickHouseURL} {
		clickHouseExec(ctx, t, dsn, "SELECT count() FROM calls")
		clickHouseExec(ctx, t, dsn, "CREATE TABLE mine (id UInt8) ENGINE = MergeTree ORDER BY id")
	}
	first, second := redisClient(t, one.RedisURL), redisClient(t, two.RedisURL)
	if err := first.Set(ctx, "key", "one", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := second.Exists(ctx, "key").Result(); err != nil || n != 0 {
		t.Errorf("another test's key is visible: %d, %v", n, err)
	}
}

func TestTestProcessesShareOneSetOfEngines(t *testing.T) {
	began := time.Now()
	err := embedded.RunWithEngines(t.Context(), slog.New(slog.DiscardHandler), func(environment []string) error {
		var processes errgroup.Group
		for range 3 { // side by side, so that they race for the template database
			processes.Go(func() error {
				cmd := exec.Command(os.Args[0], "-test.run=^TestEveryTestHasItsOwnMigratedStores$", "-test.v")
				cmd.Env = append(os.Environ(), environment...)
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "--- PASS") {
					return fmt.Errorf("%w: %s", err, out)
				}
				return nil
			})
		}
		return processes.Wait()
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("three processes on one set of engines took %v", time.Since(began))
}

func TestACutLinkIsAnOutageAndAMendedOneIsNot(t *testing.T) {
	link := embedded.NewLink(t, embedded.Redis(t))
	client := redisClient(t, link.URL())
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	link.Cut()
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("a store answers through a cut link")
	}
	link.Mend()
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Errorf("a mended link does not work: %v", err)
	}
}

func TestALinkLosesWhatIsNotToPassAndNothingElse(t *testing.T) {
	dsn := embedded.Redis(t)
	link := embedded.NewLink(t, dsn)
	link.Inspect(
		func(asked []byte) bool { return !bytes.Contains(asked, []byte("unheard")) },
		func(answered []byte) bool { return !bytes.Contains(answered, []byte("unseen")) },
	)
	direct, client := redisClient(t, dsn), redisClient(t, link.URL())
	if err := client.Set(t.Context(), "first", "unseen", 0).Err(); err != nil {
		t.Errorf("a request that may pass fails: %v", err)
	}
	if answer, err := client.Get(t.Context(), "first").Result(); err == nil {
		t.Errorf("an answer that is lost arrives: %q", answer)
	}
	if err := client.Set(t.Context(), "second", "unheard", 0).Err(); err == nil {
		t.Error("a request that is lost is answered")
	}
	if keys, err := direct.Keys(t.Context(), "*").Result(); err != nil || len(keys) != 1 || keys[0] != "first" {
		t.Errorf("the store has %q, %v", keys, err)
	}
}

func applications(ctx context.Context, t *testing.T, dsn, before string) (count int) {
	t.Helper()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, before); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM applications").Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

func clickHouseExec(ctx context.Context, t *testing.T, dsn, statement string) {
	t.Helper()
	options, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	db := driver.OpenDB(options)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		t.Fatal(err)
	}
}

func redisClient(t *testing.T, dsn string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(dsn)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
