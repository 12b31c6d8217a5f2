package ship_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/spool"
)

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestASegmentShippedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{0, 2 * time.Hour} {
		t.Run(fmt.Sprint("sealed ", age, " ago"), func(t *testing.T) {
			s := openStores(t)
			dir := t.TempDir()
			ledgertest.Spooled(t, dir, ledgertest.Many(500)...)
			for range 3 {
				again := copyDir(t, dir)
				for _, name := range ledgertest.Segments(t, again, ".segment") {
					then := time.Now().Add(-age)
					if err := os.Chtimes(name, then, then); err != nil {
						t.Fatal(err)
					}
				}
				if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: again})); err != nil {
					t.Fatal(err)
				}
			}
			if n := s.Counted(t); n != 500 {
				t.Errorf("%d calls are counted of 500", n)
			}
			if n := s.Number(t, `SELECT toInt64(count()) FROM call_failures`); n != 50 {
				t.Errorf("%d details are kept of 50", n)
			}
			var doubts int
			if err := s.Pool.QueryRow(t.Context(), `SELECT count(*) FROM rollup_doubts`).Scan(&doubts); err != nil {
				t.Fatal(err)
			}
			if (doubts > 0) != (age > 0) {
				t.Errorf("%d days are marked for comparison", doubts)
			}
		})
	}
}

func TestCallsAroundMidnightCountOnTheirOwnDay(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	r := s.Record(t, spool.Config{})
	midnight := beijing.Today(time.Now()).Start()
	r.Add(callstest.Success(midnight.Add(-time.Millisecond)))
	r.Add(callstest.Success(midnight))
	r.Add(callstest.Success(midnight))
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	for day, want := range map[beijing.Day]int64{beijing.Today(time.Now()) - 1: 1, beijing.Today(time.Now()): 2} {
		if n := s.Number(t, `SELECT toInt64(sum(calls)) FROM usage_daily WHERE toString(day) = ?`, day.String()); n != want {
			t.Errorf("%s has %d calls, want %d", day, n, want)
		}
	}
	s.Counted(t)
}

// overHTTP is the DSN of the same database over ClickHouse's other protocol.
func (s *stores) overHTTP(t *testing.T) string {
	t.Helper()
	port := s.Number(t, `SELECT toInt64(getServerPort('http_port'))`)
	u, err := url.Parse(s.URL)
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
		s.URL = s.overHTTP(t)
		refuse(t, s)
	})
}

func refuse(t *testing.T, s *stores) {
	t.Helper()
	if err := s.Conn.Exec(t.Context(), `ALTER TABLE calls ADD CONSTRAINT healthy CHECK model != 'poison'`); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	poison := callstest.Success(time.Now())
	poison.Model = "poison"
	yesterday := callstest.Success(time.Now().Add(-24 * time.Hour)) // in the same segment, another batch
	ledgertest.Spooled(t, dir, poison, yesterday)
	ledgertest.Spooled(t, dir, ledgertest.Many(100)...)
	r := s.Record(t, spool.Config{Dir: dir})
	r.Add(callstest.Success(time.Now()))
	callstest.Eventually(t, 30*time.Second, "all others are counted", func() bool { return s.Number(t, `SELECT toInt64(count()) FROM calls`) == 102 })
	if err := s.Conn.Exec(t.Context(), `ALTER TABLE calls DROP CONSTRAINT healthy`); err != nil {
		t.Fatal(err)
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != 103 {
		t.Errorf("%d calls are counted of 103", n)
	}
}

func TestDamagedRecordsAreCountedAsMissedAndTheRestIsShipped(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	ledgertest.Spooled(t, dir, ledgertest.Many(100)...)
	path := ledgertest.Segments(t, dir, ".segment")[0]
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
		if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: copyDir(t, dir)})); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Counted(t); n != 98 {
		t.Errorf("%d calls are counted of 98 intact ones", n)
	}
	if missed := s.Missed(t, []uuid.UUID{callstest.Application}, ledgertest.RangeOfToday()); missed != 2 {
		t.Errorf("missed %d", missed)
	}
}

func TestAnUndecodableRecordIsKeptInQuarantineAndCountedAsMissed(t *testing.T) {
	t.Parallel()
	s := openStores(t)
	dir := t.TempDir()
	ledgertest.Spooled(t, dir, callstest.Success(time.Now()))
	path := ledgertest.Segments(t, dir, ".segment")[0]
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
	if err := ledgertest.Shut(s.Record(t, spool.Config{Dir: dir})); err != nil {
		t.Fatal(err)
	}
	if n := s.Counted(t); n != 1 {
		t.Errorf("%d calls are counted", n)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "quarantine", id.String()+"-1.payload"))
	if err != nil || string(kept) != "\xffof a later version" {
		t.Errorf("quarantine holds %q, %v", kept, err)
	}
	if missed := s.Missed(t, nil, ledgertest.RangeOfToday()); missed != 1 {
		t.Errorf("missed %d", missed)
	}
}
