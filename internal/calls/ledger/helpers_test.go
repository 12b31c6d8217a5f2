package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

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
	options, _, err := cluster.Parse(clickhouseURL)
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

// childStores are those of a process that is killed.
func childStores(clickhouseURL, databaseURL string) *stores {
	pool, err := pgxpool.New(context.Background(), databaseURL)
	if err != nil {
		panic(err)
	}
	options, _, err := cluster.Parse(clickhouseURL)
	if err != nil {
		panic(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		panic(err)
	}
	return &stores{clickhouseURL, conn, pool}
}

// recorder is a spool and what ships it.
type recorder struct {
	*spool.Spool
	shipper *Shipper
}

// open starts a recorder; the test closes it.
func (s *stores) open(t testing.TB, config spool.Config) *recorder {
	t.Helper()
	return s.openRetaining(t, config, 0)
}

// openRetaining starts one that keeps confirmed segments for so long.
func (s *stores) openRetaining(t testing.TB, config spool.Config, retain time.Duration) *recorder {
	t.Helper()
	from := openSpool(t, config)
	shipper, err := Ship(t.Context(), Config{Retain: retain}, from, s.pool, s.url, callstest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{from, shipper}
	t.Cleanup(func() { _ = shut(r) })
	return r
}

func openSpool(t testing.TB, config spool.Config) *spool.Spool {
	t.Helper()
	if config.Dir == "" {
		config.Dir = t.TempDir()
	}
	opened, err := spool.Open(t.Context(), config, callstest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func shut(r *recorder) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return r.close(ctx)
}

func (r *recorder) close(ctx context.Context) error {
	r.Drain(ctx)
	return errors.Join(r.shipper.Close(ctx), r.Close())
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
		`SELECT toInt64(sum(calls)) + (SELECT toInt64(countIf(success)) FROM calls) FROM failures_daily`,
	} {
		if n := s.number(t, query); n != raw {
			t.Errorf("%d rows in calls, but %s gives %d", raw, query, n)
		}
	}
	for ofCalls, ofRollup := range map[string]string{
		"count()": "sum(reported)", "countIf(streamed)": "sum(streamed)", "count(cached_tokens)": "sum(cached_calls)", "count(reasoning_tokens)": "sum(reasoning_calls)",
		"sum(ifNull(input_tokens, 0))": "sum(input)", "sum(ifNull(output_tokens, 0))": "sum(output)", "sum(ifNull(cached_tokens, 0))": "sum(cached)",
	} {
		want := s.number(t, `SELECT toInt64(`+ofCalls+`) FROM calls WHERE usage_state = 'reported'`)
		if n := s.number(t, `SELECT toInt64(`+ofRollup+`) FROM tokens_daily`); n != want {
			t.Errorf("%s of calls is %d, but %s of tokens_daily %d", ofCalls, want, ofRollup, n)
		}
	}
	for _, table := range []string{"meters_daily", "meters_hourly"} {
		ofCalls := s.number(t, `SELECT toInt64(sum(cityHash64(application_id, model, m, tier, band, meter, amount))) FROM
			(SELECT application_id, toString(model) AS model, toString(m) AS m, toString(tier) AS tier, band, toString(meter) AS meter, toInt64(sum(amount)) AS amount
				FROM calls ARRAY JOIN used.model AS m, used.tier AS tier, used.band AS band, used.meter AS meter, used.amount AS amount WHERE tier != '' GROUP BY ALL)`)
		n := s.number(t, `SELECT toInt64(sum(cityHash64(application_id, model, m, tier, band, meter, amount))) FROM
			(SELECT application_id, toString(model) AS model, toString(upstream_model) AS m, toString(tier) AS tier, band, toString(meter) AS meter, sum(amount) AS amount
				FROM `+table+` WHERE tier != '' AND meter NOT IN ('calls', 'calls_beside') GROUP BY ALL HAVING amount != 0)`)
		if n != ofCalls {
			t.Errorf("lines of calls come to %d, those of %s to %d", ofCalls, table, n)
		}
		lined := s.number(t, `SELECT toInt64(countIf(notEmpty(used.meter))) FROM calls`)
		if first, beside := s.number(t, `SELECT sumIf(amount, meter = 'calls' AND tier = 'priority') FROM `+table), s.number(t, `SELECT sumIf(amount, meter = 'calls_beside') FROM `+table); first != lined || beside != lined {
			t.Errorf("%d calls have two lines each, %s has %d first and %d others", lined, table, first, beside)
		}
		if moved := s.number(t, `SELECT toInt64(count()) FROM (SELECT 1 FROM `+table+` WHERE meter IN ('calls', 'input', 'output', 'cached_input', 'cache_write', 'reasoning')
				GROUP BY application_id, model, meter HAVING sum(amount) != 0)`); moved != 0 {
			t.Errorf("%s adds to %d sums of tokens instead of moving them to their lines", table, moved)
		}
	}
	if failed, details := s.number(t, `SELECT toInt64(countIf(NOT success)) FROM calls`), s.number(t, `SELECT toInt64(count()) FROM call_failures`); details > failed {
		t.Errorf("%d failed calls, but %d details", failed, details)
	}
	return raw
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
