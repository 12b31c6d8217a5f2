// Package ledgertest is what the tests of the ledger and of the packages below it share: stores of real engines, processes that
// record and ship, and what must agree in the end.
package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// Stores are one test's databases.
type Stores struct {
	URL  string // of ClickHouse
	Conn driver.Conn
	Pool *pgxpool.Pool
}

// Open opens stores of a test.
func Open(t testing.TB) *Stores {
	t.Helper()
	return Connect(t, embedded.ClickHouse(t), embedded.Postgres(t))
}

// Connect opens those at some addresses.
func Connect(t testing.TB, clickhouseURL, databaseURL string) *Stores {
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
	return &Stores{clickhouseURL, conn, pool}
}

// ChildStores are those of a process that is killed.
func ChildStores(clickhouseURL, databaseURL string) *Stores {
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
	return &Stores{clickhouseURL, conn, pool}
}

// Recorder is a spool and what ships it.
type Recorder struct {
	*spool.Spool
	Shipper *ship.Shipper
}

// Record starts a recorder; the test closes it.
func (s *Stores) Record(t testing.TB, config spool.Config) *Recorder {
	t.Helper()
	return s.RecordRetaining(t, config, 0)
}

// RecordRetaining starts one that keeps confirmed segments for so long.
func (s *Stores) RecordRetaining(t testing.TB, config spool.Config, retain time.Duration) *Recorder {
	t.Helper()
	from := OpenSpool(t, config)
	shipper, err := ship.Start(t.Context(), ship.Config{Retain: retain}, from, s.Pool, s.URL, callstest.Quiet, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{from, shipper}
	t.Cleanup(func() { _ = Shut(r) })
	return r
}

// OpenSpool opens a spool, in a directory of its own unless config names one.
func OpenSpool(t testing.TB, config spool.Config) *spool.Spool {
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

// Shut ships everything that waits, and ends.
func Shut(r *Recorder) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return r.End(ctx)
}

// End does so for as long as ctx lasts.
func (r *Recorder) End(ctx context.Context) error {
	r.Drain(ctx)
	return errors.Join(r.Shipper.Close(ctx), r.Close())
}

// Number asks ClickHouse for one number.
func (s *Stores) Number(t testing.TB, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := s.Conn.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Counted is the number of calls, seen in every way that must agree.
func (s *Stores) Counted(t testing.TB) int64 {
	t.Helper()
	raw := s.Number(t, `SELECT toInt64(count()) FROM calls`)
	for _, query := range []string{
		`SELECT toInt64(uniqExact(call_id)) FROM calls`,
		`SELECT toInt64(sum(calls)) FROM usage_daily`,
		`SELECT toInt64(sum(calls)) FROM usage_hourly`,
		`SELECT toInt64(arraySum(sumMap(durations).2)) FROM usage_daily`,
		`SELECT toInt64(sum(calls)) + (SELECT toInt64(countIf(success)) FROM calls) FROM failures_daily`,
	} {
		if n := s.Number(t, query); n != raw {
			t.Errorf("%d rows in calls, but %s gives %d", raw, query, n)
		}
	}
	for ofCalls, ofRollup := range map[string]string{
		"count()": "sum(reported)", "countIf(streamed)": "sum(streamed)", "count(cached_tokens)": "sum(cached_calls)", "count(reasoning_tokens)": "sum(reasoning_calls)",
		"sum(ifNull(input_tokens, 0))": "sum(input)", "sum(ifNull(output_tokens, 0))": "sum(output)", "sum(ifNull(cached_tokens, 0))": "sum(cached)",
	} {
		want := s.Number(t, `SELECT toInt64(`+ofCalls+`) FROM calls WHERE usage_state = 'reported'`)
		if n := s.Number(t, `SELECT toInt64(`+ofRollup+`) FROM tokens_daily`); n != want {
			t.Errorf("%s of calls is %d, but %s of tokens_daily %d", ofCalls, want, ofRollup, n)
		}
	}
	for _, table := range []string{"meters_daily", "meters_hourly"} {
		ofCalls := s.Number(t, `SELECT toInt64(sum(cityHash64(application_id, model, m, tier, band, meter, amount))) FROM
			(SELECT application_id, toString(model) AS model, toString(m) AS m, toString(tier) AS tier, band, toString(meter) AS meter, toInt64(sum(amount)) AS amount
				FROM calls ARRAY JOIN used.model AS m, used.tier AS tier, used.band AS band, used.meter AS meter, used.amount AS amount WHERE tier != '' GROUP BY ALL)`)
		n := s.Number(t, `SELECT toInt64(sum(cityHash64(application_id, model, m, tier, band, meter, amount))) FROM
			(SELECT application_id, toString(model) AS model, toString(upstream_model) AS m, toString(tier) AS tier, band, toString(meter) AS meter, sum(amount) AS amount
				FROM `+table+` WHERE tier != '' AND meter NOT IN ('calls', 'calls_beside') GROUP BY ALL HAVING amount != 0)`)
		if n != ofCalls {
			t.Errorf("lines of calls come to %d, those of %s to %d", ofCalls, table, n)
		}
		lined := s.Number(t, `SELECT toInt64(countIf(notEmpty(used.meter))) FROM calls`)
		if first, beside := s.Number(t, `SELECT sumIf(amount, meter = 'calls' AND tier = 'priority') FROM `+table), s.Number(t, `SELECT sumIf(amount, meter = 'calls_beside') FROM `+table); first != lined || beside != lined {
			t.Errorf("%d calls have two lines each, %s has %d first and %d others", lined, table, first, beside)
		}
		if moved := s.Number(t, `SELECT toInt64(count()) FROM (SELECT 1 FROM `+table+` WHERE meter IN ('calls', 'input', 'output', 'cached_input', 'cache_write', 'reasoning')
				GROUP BY application_id, model, meter HAVING sum(amount) != 0)`); moved != 0 {
			t.Errorf("%s adds to %d sums of tokens instead of moving them to their lines", table, moved)
		}
	}
	for meter, ofCalls := range map[string]string{"total": "count()", "failed": "countIf(NOT success)"} {
		want := s.Number(t, `SELECT toInt64(`+ofCalls+`) FROM calls WHERE key_id != toUUID('00000000-0000-0000-0000-000000000000')`)
		if n := s.Number(t, `SELECT sumIf(amount, meter = '`+meter+`') FROM keys_daily`); n != want {
			t.Errorf("%s of calls with a key is %d, of keys_daily %d", ofCalls, want, n)
		}
	}
	if keyed := s.Number(t, `SELECT sumIf(amount, meter = 'total') FROM keys_daily`); keyed == raw {
		const used = `SELECT toInt64(sum(cityHash64(formatRow('TSV', *)))) FROM (SELECT application_id, day, model, upstream_model, tier, band, meter, sum(amount) AS n FROM `
		all, byKey := s.Number(t, used+`live_meters_daily GROUP BY ALL HAVING n != 0)`), s.Number(t, used+`live_keys_daily WHERE meter NOT IN ('total', 'failed') GROUP BY ALL HAVING n != 0)`)
		if all != byKey {
			t.Errorf("what calls used by key comes to %d, all of it to %d", byKey, all)
		}
	}
	if failed, details := s.Number(t, `SELECT toInt64(countIf(NOT success)) FROM calls`), s.Number(t, `SELECT toInt64(count()) FROM call_failures`); details > failed {
		t.Errorf("%d failed calls, but %d details", failed, details)
	}
	return raw
}

// Segments lists the files of a spool directory with a suffix.
func Segments(t testing.TB, dir, suffix string) []string {
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

// Execute has PostgreSQL execute a statement.
func (s *Stores) Execute(t testing.TB, statement string, args ...any) {
	t.Helper()
	if _, err := s.Pool.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Shipped brings records into ClickHouse the way of every record.
func (s *Stores) Shipped(t testing.TB, records ...*calls.Record) {
	t.Helper()
	r := s.Record(t, spool.Config{})
	for _, record := range records {
		r.Add(record)
	}
	if err := Shut(r); err != nil {
		t.Fatal(err)
	}
}

// WaitedFor are the spools that hold Through back.
func (s *Stores) WaitedFor(ctx context.Context) (waited []ledger.Spool, err error) {
	all, _, err := ledger.New(s.Pool).Spools(ctx, 1, 100)
	for _, one := range all {
		if one.State != ledger.GivenUp {
			waited = append(waited, one)
		}
	}
	return waited, err
}

// Through is that of the ledger.
func (s *Stores) Through(t *testing.T) time.Time {
	t.Helper()
	through, err := ledger.New(s.Pool).Through(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return through
}

// Coverage is that of the ledger.
func (s *Stores) Coverage(t *testing.T, applications []uuid.UUID, r beijing.Range) ledger.Coverage {
	t.Helper()
	c, err := ledger.New(s.Pool).Coverage(t.Context(), applications, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Missed is how many calls the ledger says are missing.
func (s *Stores) Missed(t *testing.T, applications []uuid.UUID, r beijing.Range) int64 {
	t.Helper()
	return s.Coverage(t, applications, r).Missed
}

// RangeOfToday is today and yesterday.
func RangeOfToday() beijing.Range { return beijing.LastDays(2, beijing.Today(time.Now())) }

// Spooled writes records to a spool directory as a process does that is killed before it ships.
func Spooled(t testing.TB, dir string, records ...*calls.Record) {
	t.Helper()
	from := OpenSpool(t, spool.Config{Dir: dir})
	for _, record := range records {
		from.Add(record)
	}
	from.Drain(t.Context())
	if err := from.Close(); err != nil {
		t.Fatal(err)
	}
}

// Rename makes the only spool in dir that of id.
func Rename(t *testing.T, dir string, id uuid.UUID) {
	t.Helper()
	home := filepath.Dir(Segments(t, dir, ".segment")[0])
	if err := os.Rename(home, filepath.Join(dir, id.String())); err != nil {
		t.Fatal(err)
	}
}

// Many are n calls of now.
func Many(n int) []*calls.Record {
	records := make([]*calls.Record, n)
	for i := range records {
		records[i] = callstest.Mixed(time.Now(), i)
	}
	return records
}

// OfBothShards are applications of which each of two shards has some.
func OfBothShards() (applications []uuid.UUID) {
	for _, shard := range []int{0, 1, 0, 1, 0, 1} {
		id := uuid.New()
		for cluster.Of(id, 2) != shard {
			id = uuid.New()
		}
		applications = append(applications, id)
	}
	return applications
}

// By makes the i-th record one of the applications.
func By(applications []uuid.UUID, record *calls.Record, i int) *calls.Record {
	record.ApplicationID = applications[i%len(applications)]
	return record
}

// TwoShards is a store of two real engines, and applications of both.
func TwoShards(t *testing.T) (*Stores, *embedded.Engines, []uuid.UUID) {
	t.Helper()
	engines := embedded.OwnCluster(t, 2)
	return Connect(t, engines.ClickHouseURL(), engines.DatabaseURL()), engines, OfBothShards()
}

// PerShard counts the calls that lie on each shard, and demands that they are of its applications.
func (s *Stores) PerShard(t *testing.T) (counts []int64) {
	t.Helper()
	to, err := shards.Open(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	err = to.Each(t.Context(), func(ctx context.Context, on *shards.Shard) error {
		var rows, foreign int64
		err := on.Conn().QueryRow(ctx, `SELECT toInt64(count()), toInt64(countIf(`+cluster.Key(on.Of)+` != $1)) FROM calls`, on.Number-1).Scan(&rows, &foreign)
		if foreign > 0 {
			t.Errorf("shard %d holds %d calls of applications of others", on.Number, foreign)
		}
		counts = append(counts, rows)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// Doubts is how many days are to be compared.
func (s *Stores) Doubts(t *testing.T) (days int) {
	t.Helper()
	if err := s.Pool.QueryRow(t.Context(), `SELECT count(*) FROM rollup_doubts`).Scan(&days); err != nil {
		t.Fatal(err)
	}
	return days
}

// dataPaths are the directories of tables that an insert of calls writes to.
func (s *Stores) dataPaths(t *testing.T, tables ...string) []string {
	t.Helper()
	var paths []string
	err := s.Conn.QueryRow(t.Context(), `SELECT groupArrayArray(data_paths) FROM system.tables
		WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name IN ($1)`, tables).Scan(&paths)
	if err != nil || len(paths) != len(tables) {
		t.Fatalf("data paths %v: %v", paths, err)
	}
	return paths
}

// FailPower does what a power failure does: parts that were never synced are gone, the log of
// tokens is not.
func (s *Stores) FailPower(t *testing.T, engines *embedded.Engines, tables ...string) {
	t.Helper()
	s.FailPowerOf(t, engines, "clickhouse", tables...)
}

// FailPowerOf is failPower of one of several engines; s must be connected to it.
func (s *Stores) FailPowerOf(t *testing.T, engines *embedded.Engines, name string, tables ...string) {
	t.Helper()
	paths := s.dataPaths(t, tables...)
	up, err := engines.Down(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		parts, err := filepath.Glob(filepath.Join(path, "*_*_*_*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if err := os.RemoveAll(part); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Retained is a store whose last hundred calls are confirmed and still kept in the spool.
func Retained(t *testing.T) (s *Stores, engines *embedded.Engines, dir string) {
	t.Helper()
	engines = embedded.Own(t)
	s = Connect(t, engines.ClickHouseURL(), engines.DatabaseURL())
	dir = t.TempDir()
	r := s.RecordRetaining(t, spool.Config{Dir: dir}, 3*time.Second)
	for i := range 100 {
		r.Add(callstest.Mixed(time.Now(), i))
	}
	callstest.Eventually(t, "the calls are confirmed", func() bool { return len(Segments(t, dir, ".sent")) == 1 })
	return s, engines, dir
}

// AwaitDeleted waits until no segment is left.
func AwaitDeleted(t *testing.T, dir string) {
	t.Helper()
	callstest.Eventually(t, "the segment is deleted", func() bool {
		return len(Segments(t, dir, ".sent")) == 0 && len(Segments(t, dir, ".segment")) == 0
	})
}

// RunAndKill lets the child work for a while and kills it; it returns what it said was written.
func RunAndKill(t *testing.T, arguments string, after time.Duration) int64 {
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

// Statement has ClickHouse execute a statement.
func (s *Stores) Statement(t *testing.T, statement string) {
	t.Helper()
	if err := s.Conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Tables are all that an insert of calls writes to, or that hold an application's calls.
var Tables = []string{"calls", "call_failures", "usage_daily", "usage_hourly", "tokens_daily", "tokens_hourly", "meters_daily", "meters_hourly", "keys_daily", "failures_daily", "app_models", "app_keys", "days_closed"}

const childVariable = "CALLGATE_CALLS_CHILD"

// Main runs the tests of a package. It also is the process that RunAndKill kills: child is given its arguments.
func Main(m *testing.M, child func(arguments []string)) {
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
