package upkeep

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/retention"
)

// settled reconciles until no day is due.
func (s *stores) settled(t testing.TB, m *Maintenance) {
	t.Helper()
	callstest.Eventually(t, "every due day is compared", func() bool {
		if err := m.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		var doubts, days int
		err := s.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM rollup_doubts), (SELECT count(*) FROM day_checks)`).Scan(&doubts, &days)
		if err != nil {
			t.Fatal(err)
		}
		return doubts == 0 && days == 3
	})
}

// threeDays is a store that began to collect three days ago, with calls on each.
func threeDays(t testing.TB) (*stores, *Maintenance, beijing.Day) {
	t.Helper()
	s := openStores(t)
	m := s.maintenance(t)
	today := beijing.Today(time.Now())
	m.now = func() time.Time { return today.Start().Add(2 * time.Hour) } // the last day is closed
	s.Execute(t, `UPDATE collection SET started_at = $1`, (today - 3).Start())
	other := uuid.Must(uuid.NewV7())
	var records []*calls.Record
	for i := range 120 {
		r := callstest.Mixed((today - 3).Start().Add(time.Duration(i)*36*time.Minute), i)
		r.Duration = time.Duration(1<<(i%20)) * time.Millisecond
		r.Model = []string{"a", "b", ""}[i%3]
		if i%7 == 0 {
			r.ApplicationID = other
		}
		records = append(records, r)
	}
	s.Shipped(t, records...)
	if n := s.Counted(t); n != 120 {
		t.Fatalf("%d calls", n)
	}
	return s, m, today - 3
}

// agrees compares rollups and calls in every figure.
func (s *stores) agrees(t testing.TB, m *Maintenance, first beijing.Day) {
	t.Helper()
	for day := first; day < first+3; day++ {
		for _, r := range rollups {
			err := m.servers.Each(t.Context(), func(ctx context.Context, on *shards.Shard) error {
				return differences(ctx, on.Conn(), r, day, func(d *difference) error {
					t.Errorf("%s of %s: %+v", r.table, day, d)
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRollupsThatDisagreeWithTheirCallsAreRepaired(t *testing.T) {
	for name, planted := range map[string][]string{
		"nothing": nil,
		"some rows lost": {`DELETE FROM usage_daily WHERE day = (SELECT min(day) FROM usage_daily)`,
			`DELETE FROM usage_hourly WHERE toHour(hour) BETWEEN 3 AND 9`, `DELETE FROM tokens_daily WHERE day = (SELECT max(day) FROM tokens_daily)`, `DELETE FROM tokens_hourly WHERE toHour(hour) BETWEEN 5 AND 12`,
			`DELETE FROM meters_daily WHERE day = (SELECT max(day) FROM meters_daily)`, `DELETE FROM meters_hourly WHERE tier = '' AND toHour(hour) > 6`,
			`DELETE FROM failures_daily WHERE day = (SELECT max(day) FROM failures_daily)`, `DELETE FROM keys_daily WHERE meter IN ('failed', 'input') AND day = (SELECT max(day) FROM keys_daily)`},
		"everything lost": {`TRUNCATE TABLE usage_daily`, `TRUNCATE TABLE usage_hourly`, `TRUNCATE TABLE tokens_daily`, `TRUNCATE TABLE tokens_hourly`, `TRUNCATE TABLE failures_daily`,
			`TRUNCATE TABLE meters_daily`, `TRUNCATE TABLE meters_hourly`, `TRUNCATE TABLE keys_daily`},
		"everything doubled": {`INSERT INTO usage_daily SELECT * FROM usage_daily`, `INSERT INTO usage_hourly SELECT * FROM usage_hourly`,
			`INSERT INTO tokens_daily SELECT * FROM tokens_daily`, `INSERT INTO failures_daily SELECT * FROM failures_daily`,
			`INSERT INTO tokens_hourly SELECT * FROM tokens_hourly`, `INSERT INTO meters_daily SELECT * FROM meters_daily`, `INSERT INTO meters_hourly SELECT * FROM meters_hourly`,
			`INSERT INTO keys_daily SELECT * FROM keys_daily`},
		"wrong rows": {
			`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms, durations)
				SELECT application_id, day, 'ghost', 3, 2, 10, ([1, 4, 5], [1, 1, 1]) FROM usage_daily`,
			`INSERT INTO usage_hourly (application_id, hour, model, calls, successes, duration_ms, durations)
				SELECT application_id, hour, model, 0, 0, 0, ([1, 2], [-1, 1]) FROM usage_hourly`,
			`INSERT INTO usage_daily (application_id, day, model, calls, successes, duration_ms)
				SELECT application_id, day, model, 0, 0, 1 FROM usage_daily`,
			`INSERT INTO tokens_daily (application_id, day, model, upstream_model, input, cached_calls, cache_write)
				SELECT application_id, day, model, 'ghost', 5, -2, 7 FROM tokens_daily`,
			`INSERT INTO tokens_hourly (application_id, hour, model, upstream_model, input, cached) SELECT application_id, hour, model, 'ghost', 5, -2 FROM tokens_hourly`,
			`INSERT INTO meters_daily (application_id, day, model, upstream_model, tier, band, meter, amount) SELECT application_id, day, model, upstream_model, tier, 1000000, 'pages', -3 FROM meters_daily`,
			`INSERT INTO meters_hourly (application_id, hour, model, upstream_model, tier, meter, amount) SELECT application_id, hour, 'ghost', 'x', 'flex', 'input', 5 FROM usage_hourly`,
			`INSERT INTO keys_daily (application_id, key_id, day, model, upstream_model, tier, band, meter, amount) SELECT application_id, generateUUIDv4(), day, model, 'ghost', tier, 1000000, 'pages', -3 FROM keys_daily`,
			`INSERT INTO failures_daily (application_id, day, model, status_code, reason_type, reason_code, upstream_status, calls, first_seen, last_seen)
				SELECT application_id, day, model, 503, 'overloaded', 'overloaded', 0, 3, now64(3), now64(3) FROM usage_daily`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, m, first := threeDays(t)
			for _, statement := range planted {
				if err := server(t, m.servers).Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			s.settled(t, m)
			s.agrees(t, m, first)
			if n := s.Counted(t); n != 120 {
				t.Errorf("%d calls after the repair", n)
			}
			var calls, duplicates int
			if err := s.Pool.QueryRow(t.Context(), `SELECT sum(calls), sum(duplicates) FROM day_checks`).Scan(&calls, &duplicates); err != nil || calls != 120 || duplicates != 0 {
				t.Errorf("%d calls noted, %d duplicates, %v", calls, duplicates, err)
			}
		})
	}
}

func TestADayOfDoubtIsComparedAgainEvenIfItWasChecked(t *testing.T) {
	t.Parallel()
	s, m, first := threeDays(t)
	s.settled(t, m)
	if err := server(t, m.servers).Exec(t.Context(), `TRUNCATE TABLE usage_hourly`); err != nil {
		t.Fatal(err)
	}
	for day := first; day < first+3; day++ {
		s.Execute(t, `INSERT INTO rollup_doubts (day, noted_at) VALUES ($1, now() - interval '1 second')`, day.UTC())
	}
	s.Execute(t, `INSERT INTO rollup_doubts (day) VALUES ('2001-01-01')`) // expired
	s.settled(t, m)
	s.agrees(t, m, first)
}

func TestADayWhoseCallsCameLateIsComparedAgain(t *testing.T) {
	t.Parallel()
	s, m, first := threeDays(t)
	s.settled(t, m)
	checked := func() (calls int64) {
		if err := s.Pool.QueryRow(t.Context(), `SELECT calls FROM day_checks WHERE day = $1`, (first + 1).UTC()).Scan(&calls); err != nil {
			t.Fatal(err)
		}
		return calls
	}
	before := checked()
	s.Shipped(t, callstest.Success((first + 1).Start().Add(time.Hour)), callstest.Success(time.Now()))
	var doubts []time.Time
	if err := s.Pool.QueryRow(t.Context(), `SELECT array_agg(day) FROM rollup_doubts`).Scan(&doubts); err != nil || len(doubts) != 1 || !doubts[0].Equal((first + 1).UTC()) {
		t.Errorf("days to compare: %v, %v", doubts, err)
	}
	s.settled(t, m)
	if after := checked(); after != before+1 {
		t.Errorf("%d calls were noted, then %d", before, after)
	}
}

func TestNoDayIsClosedBeforeTheLedgerIsPastIt(t *testing.T) {
	t.Parallel()
	s, m, first := threeDays(t)
	s.Execute(t, `INSERT INTO spools (id, node, through) VALUES ($1, 'behind', $2)`, uuid.New(), (first + 1).Start().Add(12*time.Hour))
	for range 8 { // three days of doubt, then those that are due
		if err := m.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var days []time.Time
	if err := s.Pool.QueryRow(t.Context(), `SELECT array_agg(day) FROM day_checks`).Scan(&days); err != nil || len(days) != 1 || !days[0].Equal(first.UTC()) {
		t.Errorf("days closed: %v, %v", days, err)
	}
}

func TestNoDayIsRepairedWhileASpoolMayStillHoldItsCalls(t *testing.T) {
	t.Parallel()
	s, m, first := threeDays(t)
	if err := server(t, m.servers).Exec(t.Context(), `TRUNCATE TABLE usage_daily`); err != nil {
		t.Fatal(err)
	}
	s.Execute(t, `INSERT INTO spools (id, node, through) VALUES ($1, 'behind', now() - interval '1 hour')`, uuid.New())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := m.repair(ctx, first); err == nil {
		t.Error("the differences were taken for certain")
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM usage_daily`); n != 0 {
		t.Errorf("%d rows were added", n)
	}
}

func TestCallsStoredTwiceAreReportedNotRemoved(t *testing.T) {
	t.Parallel()
	s, m, first := threeDays(t)
	if err := server(t, m.servers).Exec(t.Context(), `INSERT INTO calls SELECT * FROM calls WHERE toHour(start_time) = 12`); err != nil {
		t.Fatal(err)
	}
	rows := s.Number(t, `SELECT toInt64(count()) FROM calls`)
	s.settled(t, m)
	s.agrees(t, m, first)
	var duplicates int64
	if err := s.Pool.QueryRow(t.Context(), `SELECT sum(duplicates) FROM day_checks`).Scan(&duplicates); err != nil || duplicates != rows-120 || duplicates == 0 {
		t.Errorf("%d duplicates noted of %d, %v", duplicates, rows-120, err)
	}
	if n := s.Number(t, `SELECT toInt64(count()) FROM calls`); n != rows {
		t.Errorf("%d rows, %d before", n, rows)
	}
}

func TestSeveralNodesTakeTurnsAtMaintenance(t *testing.T) {
	t.Parallel()
	s, one, first := threeDays(t)
	if err := server(t, one.servers).Exec(t.Context(), `TRUNCATE TABLE usage_daily`); err != nil {
		t.Fatal(err)
	}
	gone := uuid.Must(uuid.NewV7())
	s.Execute(t, tombstone, gone, callstest.Owner, time.Now())
	var nodes []*Maintenance
	for range 3 {
		m, err := Start(s.Pool, s.URL, retention.Default, time.Minute, callstest.Quiet, nil)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, m)
	}
	callstest.Eventually(t, "two closed days and a deleted application are done", func() bool {
		var days, swept int
		err := s.Pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM day_checks), (SELECT count(*) FROM deleted_applications WHERE swept_at IS NOT NULL)`).Scan(&days, &swept)
		return err == nil && days >= 2 && swept == 1
	})
	for _, m := range nodes {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := s.Number(t, `SELECT toInt64(sum(calls)) FROM usage_daily WHERE day < toDate(toInt32($1))`, int32(first+2)); n != 80 {
		t.Errorf("%d calls in the rollups of two days, 80 there", n)
	}
}
