package calls

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/embedded"
)

var quiet = slog.New(slog.DiscardHandler)

// stores are one test's databases.
type stores struct {
	url  string
	conn driver.Conn
	pool *pgxpool.Pool
}

func openStores(t testing.TB) *stores {
	t.Helper()
	return connect(t, embedded.ClickHouse(t), embedded.Postgres(t))
}

func connect(t testing.TB, clickhouseURL, databaseURL string) *stores {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	options, err := clickhouse.ParseDSN(clickhouseURL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &stores{clickhouseURL, conn, pool}
}

// open starts a recorder; the test closes it.
func (s *stores) open(t testing.TB, config Config) *Recorder {
	t.Helper()
	if config.SpoolDir == "" {
		config.SpoolDir = t.TempDir()
	}
	r, err := Open(t.Context(), config, s.pool, s.url, quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shut(r) })
	return r
}

func shut(r *Recorder) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return r.Close(ctx)
}

// number asks ClickHouse for one number.
func (s *stores) number(t testing.TB, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := s.conn.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// counted is the number of calls, seen in every way that must agree.
func (s *stores) counted(t testing.TB) int64 {
	t.Helper()
	raw := s.number(t, `SELECT toInt64(count()) FROM calls`)
	for _, query := range []string{
		`SELECT toInt64(uniqExact(call_id)) FROM calls`,
		`SELECT toInt64(sum(calls)) FROM usage_daily`,
		`SELECT toInt64(sum(calls)) FROM usage_hourly`,
		`SELECT toInt64(arraySum(sumMap(durations).2)) FROM usage_daily`,
	} {
		if n := s.number(t, query); n != raw {
			t.Errorf("%d rows in calls, but %s gives %d", raw, query, n)
		}
	}
	if failed, details := s.number(t, `SELECT toInt64(countIf(NOT success)) FROM calls`), s.number(t, `SELECT toInt64(count()) FROM call_failures`); details > failed {
		t.Errorf("%d failed calls, but %d details", failed, details)
	}
	return raw
}

// eventually polls until what is true.
func eventually(t testing.TB, within time.Duration, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond) // between two looks, not for something to happen
	}
}

var (
	application = uuid.MustParse("0190a0a0-0000-7000-8000-000000000001")
	owner       = uuid.MustParse("0190a0a0-0000-7000-8000-000000000002")
)

// success is a finished call that started at start.
func success(start time.Time) *Record {
	return &Record{
		ApplicationID: application, UserID: owner, CallID: NewCallID(start), Model: "gpt-4o-mini", Start: start,
		Duration: 1234567 * time.Microsecond, StatusCode: 200, Success: true, FirstByte: 210 * time.Millisecond,
		EndedBy: Complete, UpstreamCode: 200, RequestBytes: 1024, ResponseBytes: 20_480,
	}
}

func failed(start time.Time) *Record {
	r := success(start)
	r.StatusCode, r.Success, r.UpstreamCode = 502, false, 0
	r.FirstByte, r.EndedBy, r.ReasonType, r.ReasonCode = -1, UpstreamAbort, ConnectionFailed, UpstreamUnreachable
	r.Failure = NewFailure(FailureInput{
		Message: "the upstream could not be reached", Method: "POST", Path: "/v1/chat/completions", RawQuery: "model=gpt-4o-mini&a=1",
		Body: []byte(`{"messages":[{"role":"user","content":"hello"}]}`), BodyBytes: 48, FullyRead: true, ContentType: "application/json",
	})
	return r
}

// mixed is the i-th of a row of calls: every tenth fails.
func mixed(start time.Time, i int) *Record {
	if i%10 == 9 {
		return failed(start)
	}
	return success(start)
}

// segments lists the files of a spool directory with a suffix.
func segments(t testing.TB, dir, suffix string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, suffix) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("list segments: %w", err))
	}
	return found
}

// fromEnvironment is a positive number set by the environment, or its default; `make chaos` sets
// the long version of an experiment.
func fromEnvironment(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}
