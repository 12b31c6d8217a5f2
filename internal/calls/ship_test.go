package calls

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
)

func ids(all ...uuid.UUID) []uuid.UUID { return all }

func rangeOfToday() beijing.Range { return beijing.LastDays(2, beijing.Today(time.Now())) }

// spooled writes records to a spool directory as a process does that is killed before it ships.
func spooled(t *testing.T, dir string, records ...*Record) {
	t.Helper()
	spool, err := openSpool(t.Context(), dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	r := assemble(Config{}.withDefaults(), spool, nil, nil, quiet)
	for _, record := range records {
		r.Add(record)
	}
	close(r.writer.stop)
	r.writer.sync.start(quiet)
	r.writer.run(nil)
	if err := spool.lock.Close(); err != nil {
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
	home := filepath.Dir(segments(t, dir, unsentSuffix)[0])
	if err := os.Rename(home, filepath.Join(dir, id.String())); err != nil {
		t.Fatal(err)
	}
}

func many(n int) []*Record {
	records := make([]*Record, n)
	for i := range records {
		records[i] = mixed(time.Now(), i)
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
				for _, name := range segments(t, again, unsentSuffix) {
					then := time.Now().Add(-age)
					if err := os.Chtimes(name, then, then); err != nil {
						t.Fatal(err)
					}
				}
				if err := shut(s.open(t, Config{SpoolDir: again})); err != nil {
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
	var records []*Record
	for i := range 300 { // alternating days, the order within a day rising
		records = append(records, success(midnight.Add(time.Duration(i%3-1)*24*time.Hour+time.Duration(i)*time.Millisecond)))
	}
	spooled(t, dir, records...)
	path := segments(t, dir, unsentSuffix)[0]
	g, err := openSegment(path, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	var first, second content
	if err := first.read(g); err != nil {
		t.Fatal(err)
	}
	if err := second.read(g); err != nil {
		t.Fatal(err)
	}
	if len(first.batches) != 3 || len(second.batches) != 3 {
		t.Fatalf("%d and %d batches for three days", len(first.batches), len(second.batches))
	}
	for i, b := range first.batches {
		if b.token != second.batches[i].token || b.token != fmt.Sprintf("%s/%s/0", g.id, beijing.Today(time.Now())+beijing.Day(i-1)) {
			t.Errorf("tokens %s and %s", b.token, second.batches[i].token)
		}
		for j, r := range b.rows {
			if r.call != second.batches[i].rows[j].call || beijing.DayOf(time.UnixMilli(r.start)) != b.day {
				t.Errorf("row %d of %s differs or is of another day", j, b.token)
			}
			if j > 0 && r.start <= b.rows[j-1].start {
				t.Errorf("row %d of %s is not in record order", j, b.token)
			}
		}
	}
}

func TestCallsAroundMidnightCountOnTheirOwnDay(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	r := s.open(t, Config{})
	midnight := beijing.Today(time.Now()).Start()
	r.Add(success(midnight.Add(-time.Millisecond)))
	r.Add(success(midnight))
	r.Add(success(midnight))
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
	poison := success(time.Now())
	poison.Model = "poison"
	yesterday := success(time.Now().Add(-24 * time.Hour)) // in the same segment, another batch
	spooled(t, dir, poison, yesterday)
	spooled(t, dir, many(100)...)
	r := s.open(t, Config{SpoolDir: dir})
	r.Add(success(time.Now()))
	eventually(t, 30*time.Second, "all others are counted", func() bool { return s.number(t, `SELECT toInt64(count()) FROM calls`) == 102 })
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
	path := segments(t, dir, unsentSuffix)[0]
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
		if err := shut(s.open(t, Config{SpoolDir: copyDir(t, dir)})); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.counted(t); n != 98 {
		t.Errorf("%d calls are counted of 98 intact ones", n)
	}
	if missed := s.missed(t, ids(application), rangeOfToday()); missed != 2 {
		t.Errorf("missed %d", missed)
	}
}

func TestAnUndecodableRecordIsKeptInQuarantineAndCountedAsMissed(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	spooled(t, dir, many(3)...)
	path := segments(t, dir, unsentSuffix)[0]
	g, err := openSegment(path, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	data := g.header()
	for i, payload := range []string{string(appendPayload(nil, success(time.Now()))), "\xffof a later version"} {
		at := len(data)
		data = append(beginFrame(data), payload...)
		endFrame(data, at, g.id[:], uint32(i))
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := shut(s.open(t, Config{SpoolDir: dir})); err != nil {
		t.Fatal(err)
	}
	if n := s.counted(t); n != 1 {
		t.Errorf("%d calls are counted", n)
	}
	kept, err := os.ReadFile(filepath.Join(dir, quarantineDir, g.id.String()+"-1.payload"))
	if err != nil || string(kept) != "\xffof a later version" {
		t.Errorf("quarantine holds %q, %v", kept, err)
	}
	if missed := s.missed(t, nil, rangeOfToday()); missed != 1 {
		t.Errorf("missed %d", missed)
	}
}
