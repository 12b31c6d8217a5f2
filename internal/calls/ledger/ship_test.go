package ledger

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/spool"
)

func ids(all ...uuid.UUID) []uuid.UUID { return all }

func rangeOfToday() beijing.Range { return beijing.LastDays(2, beijing.Today(time.Now())) }

// spooled writes records to a spool directory as a process does that is killed before it ships.
func spooled(t testing.TB, dir string, records ...*calls.Record) {
	t.Helper()
	from := openSpool(t, spool.Config{Dir: dir})
	for _, record := range records {
		from.Add(record)
	}
	from.Drain(t.Context())
	if err := from.Close(); err != nil {
		t.Fatal(err)
	}
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// rename makes the only spool in dir that of id.
func rename(t *testing.T, dir string, id uuid.UUID) {
	t.Helper()
	home := filepath.Dir(segments(t, dir, ".segment")[0])
	if err := os.Rename(home, filepath.Join(dir, id.String())); err != nil {
		t.Fatal(err)
	}
}

func many(n int) []*calls.Record {
	records := make([]*calls.Record, n)
	for i := range records {
		records[i] = callstest.Mixed(time.Now(), i)
	}
	return records
}

func TestASegmentShippedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{0, 2 * time.Hour} {
		t.Run(fmt.Sprint("sealed ", age, " ago"), func(t *testing.T) {
			s := openStores(t)
			dir := t.TempDir()
			spooled(t, dir, many(500)...)
			for range 3 {
				again := copyDir(t, dir)
				for _, name := range segments(t, again, ".segment") {
					then := time.Now().Add(-age)
					if err := os.Chtimes(name, then, then); err != nil {
						t.Fatal(err)
					}
				}
				if err := shut(s.open(t, spool.Config{Dir: again})); err != nil {
					t.Fatal(err)
				}
			}
			if n := s.counted(t); n != 500 {
				t.Errorf("%d calls are counted of 500", n)
			}
			if n := s.number(t, `SELECT toInt64(count()) FROM call_failures`); n != 50 {
				t.Errorf("%d details are kept of 50", n)
			}
			var doubts int
			if err := s.pool.QueryRow(t.Context(), `SELECT count(*) FROM rollup_doubts`).Scan(&doubts); err != nil {
				t.Fatal(err)
			}
			if (doubts > 0) != (age > 0) {
				t.Errorf("%d days are marked for comparison", doubts)
			}
		})
	}
}

func TestBatchesAreCutAlikeByWhoeverReadsTheSegment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	midnight := beijing.Today(time.Now()).Start()
	var records []*calls.Record
	for i := range 300 { // alternating days, the order within a day rising
		records = append(records, callstest.Success(midnight.Add(time.Duration(i%3-1)*24*time.Hour+time.Duration(i)*time.Millisecond)))
	}
	spooled(t, dir, records...)
	adopting := openSpool(t, spool.Config{Dir: dir})
	t.Cleanup(func() { _ = adopting.Close() })
	var g *spool.Segment
	for g = range adopting.Unsent() {
		break
	}
	cut := func() []*batch {
		var read spool.Content
		if err := read.Read(g); err != nil {
			t.Fatal(err)
		}
		return new(shard).batchesOf(g, read.Rows)
	}
	first, second := cut(), cut()
	if len(first) != 3 || len(second) != 3 {
		t.Fatalf("%d and %d batches for three days", len(first), len(second))
	}
	for i, b := range first {
		if b.token != second[i].token || b.token != fmt.Sprintf("%s/%s/0", g.ID, beijing.Today(time.Now())+beijing.Day(i-1)) {
			t.Errorf("tokens %s and %s", b.token, second[i].token)
		}
		for j, r := range b.rows {
			if r.Call != second[i].rows[j].Call || beijing.DayOf(time.UnixMilli(r.Start)) != b.day {
				t.Errorf("row %d of %s differs or is of another day", j, b.token)
			}
			if j > 0 && r.Start <= b.rows[j-1].Start {
				t.Errorf("row %d of %s is not in record order", j, b.token)
			}
		}
	}
}

func TestCallsAroundMidnightCountOnTheirOwnDay(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	r := s.open(t, spool.Config{})
	midnight := beijing.Today(time.Now()).Start()
	r.Add(callstest.Success(midnight.Add(-time.Millisecond)))
	r.Add(callstest.Success(midnight))
	r.Add(callstest.Success(midnight))
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	for day, want := range map[beijing.Day]int64{beijing.Today(time.Now()) - 1: 1, beijing.Today(time.Now()): 2} {
		if n := s.number(t, `SELECT toInt64(sum(calls)) FROM usage_daily WHERE toString(day) = ?`, day.String()); n != want {
			t.Errorf("%s has %d calls, want %d", day, n, want)
		}
	}
	s.counted(t)
}

// overHTTP is the DSN of the same database over ClickHouse's other protocol.
func (s *stores) overHTTP(t *testing.T) string {
	t.Helper()
	port := s.number(t, `SELECT toInt64(getServerPort('http_port'))`)
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Scheme, u.Host = "http", fmt.Sprintf("%s:%d", u.Hostname(), port)
	return u.String()
}

func TestARefusedBatchHoldsBackNoOther(t *testing.T) {
	t.Parallel()
	t.Run("native", func(t *testing.T) { refuse(t, openStores(t)) })
	t.Run("http", func(t *testing.T) {
		s := openStores(t)
		s.url = s.overHTTP(t)
		refuse(t, s)
	})
}

func refuse(t *testing.T, s *stores) {
	t.Helper()
	if err := s.conn.Exec(t.Context(), `ALTER TABLE calls ADD CONSTRAINT healthy CHECK model != 'poison'`); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	poison := callstest.Success(time.Now())
	poison.Model = "poison"
	yesterday := callstest.Success(time.Now().Add(-24 * time.Hour)) // in the same segment, another batch
	spooled(t, dir, poison, yesterday)
	spooled(t, dir, many(100)...)
	r := s.open(t, spool.Config{Dir: dir})
	r.Add(callstest.Success(time.Now()))
	callstest.Eventually(t, 30*time.Second, "all others are counted", func() bool { return s.number(t, `SELECT toInt64(count()) FROM calls`) == 102 })
	if err := s.conn.Exec(t.Context(), `ALTER TABLE calls DROP CONSTRAINT healthy`); err != nil {
		t.Fatal(err)
	}
	if err := shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != 103 {
		t.Errorf("%d calls are counted of 103", n)
	}
}

func TestDamagedRecordsAreCountedAsMissedAndTheRestIsShipped(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	spooled(t, dir, many(100)...)
	path := segments(t, dir, ".segment")[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[10]++           // the header
	data[len(data)/2]++  // one record
	data[len(data)-20]++ // the last record
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // counted once, however often it is found
		if err := shut(s.open(t, spool.Config{Dir: copyDir(t, dir)})); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.counted(t); n != 98 {
		t.Errorf("%d calls are counted of 98 intact ones", n)
	}
	if missed := s.missed(t, ids(callstest.Application), rangeOfToday()); missed != 2 {
		t.Errorf("missed %d", missed)
	}
}

func TestAnUndecodableRecordIsKeptInQuarantineAndCountedAsMissed(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	spooled(t, dir, callstest.Success(time.Now()))
	path := segments(t, dir, ".segment")[0]
	id := segmentID(path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := frameEnds(data)
	data = append(data[:ends[1]], frame(id, 1, "\xffof a later version")...) // in the seal's place
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := shut(s.open(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != 1 {
		t.Errorf("%d calls are counted", n)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "quarantine", id.String()+"-1.payload"))
	if err != nil || string(kept) != "\xffof a later version" {
		t.Errorf("quarantine holds %q, %v", kept, err)
	}
	if missed := s.missed(t, nil, rangeOfToday()); missed != 1 {
		t.Errorf("missed %d", missed)
	}
}
