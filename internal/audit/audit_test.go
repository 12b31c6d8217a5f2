package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/embedded"
)

func newPool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func TestADeedUndoneLeavesNoEntry(t *testing.T) {
	pool := newPool(t)
	undone := errors.New("undone")
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if err := Append(t.Context(), tx, Entry{Actor: "a@example.com", Action: "group.create"}); err != nil {
			return err
		}
		return undone
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if rows, total, err := List(t.Context(), pool, Filter{}, 1, 10); err != nil || total != 0 || len(rows) != 0 {
		t.Fatalf("%v, %d, %v", rows, total, err)
	}
}

func TestEntriesAreKeptAsGivenAndListedNewestFirst(t *testing.T) {
	pool := newPool(t)
	var changes Changes
	changes.Add("same", 1, 1)
	changes.Add("name", "old", "new")
	changes.Add("sortOrder", nil, 3)
	for i := range 5 {
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			return Append(t.Context(), tx, Entry{"a@example.com", "group.update", "group", fmt.Sprint("g", i), "Group", changes})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for page := 1; page <= 3; page++ {
		rows, total, err := List(t.Context(), pool, Filter{}, page, 2)
		if err != nil || total != 5 {
			t.Fatalf("page %d: total %d, %v", page, total, err)
		}
		for _, r := range rows {
			ids = append(ids, r.TargetID)
			if r.Actor != "a@example.com" || r.Action != "group.update" || r.TargetType != "group" || r.TargetName != "Group" ||
				time.Since(r.At) > time.Minute || fmt.Sprint(r.Changes) != "[{name old new} {sortOrder <nil> 3}]" {
				t.Fatalf("kept %+v", r)
			}
		}
	}
	if !slices.Equal(ids, []string{"g4", "g3", "g2", "g1", "g0"}) {
		t.Fatalf("listed %v", ids)
	}
	if rows, total, err := List(t.Context(), pool, Filter{}, 1<<31-1, 100); err != nil || total != 5 || len(rows) != 0 {
		t.Fatalf("past the end: %v, %d, %v", rows, total, err)
	}
}

// at writes an entry as of then.
func at(t *testing.T, pool *pgxpool.Pool, when time.Time, e Entry) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if err := Append(t.Context(), tx, e); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `UPDATE audit_log SET at = $1 WHERE id = (SELECT max(id) FROM audit_log)`, when)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheTrailIsFilteredByWhoWhatWhereAndWhen(t *testing.T) {
	pool := newPool(t)
	noon := time.Date(2026, 8, 17, 12, 0, 0, 0, time.UTC)
	at(t, pool, noon, Entry{Actor: "ada@example.com", Action: "capability.create", TargetType: "capability", TargetID: "gpt_5", TargetName: "GPT 5"})
	at(t, pool, noon.Add(time.Hour), Entry{Actor: "ada@example.com", Action: "capability.update", TargetType: "capability", TargetID: "gptx5", TargetName: "Other"})
	at(t, pool, noon.Add(2*time.Hour), Entry{Actor: "adam@example.com", Action: "group.update", TargetType: "group", TargetID: "g", TargetName: "gpt_5 and more"})
	point := func(hours int) *time.Time { moment := noon.Add(time.Duration(hours) * time.Hour); return &moment }
	for _, c := range []struct {
		filter Filter
		want   []string
	}{
		{Filter{}, []string{"g", "gptx5", "gpt_5"}},
		{Filter{Actor: "ada@"}, []string{"gptx5", "gpt_5"}},
		{Filter{Actor: "ada"}, []string{"g", "gptx5", "gpt_5"}},
		{Filter{Actor: "%"}, nil},
		{Filter{Action: "capability."}, []string{"gptx5", "gpt_5"}},
		{Filter{Action: "capability.create"}, []string{"gpt_5"}},
		{Filter{Target: "gpt_5"}, []string{"g", "gpt_5"}}, // by name, by id; _ stands for itself
		{Filter{Target: "GPT "}, []string{"gpt_5"}},
		{Filter{Target: `\`}, nil},
		{Filter{From: point(1)}, []string{"g", "gptx5"}},
		{Filter{To: point(1)}, []string{"gpt_5"}},
		{Filter{From: point(1), To: point(2)}, []string{"gptx5"}},
		{Filter{Actor: "ada@", Action: "group."}, nil},
	} {
		var listed, walked []string
		rows, total, err := List(t.Context(), pool, c.filter, 1, 10)
		if err != nil || total != len(c.want) {
			t.Errorf("%+v: %d, %v", c.filter, total, err)
		}
		for _, r := range rows {
			listed = append(listed, r.TargetID)
		}
		for before := int64(math.MaxInt64); ; {
			block, err := Before(t.Context(), pool, c.filter, before, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(block) == 0 {
				break
			}
			before, walked = block[0].ID, append(walked, block[0].TargetID)
		}
		if !slices.Equal(listed, c.want) || !slices.Equal(walked, c.want) {
			t.Errorf("%+v: listed %v, walked %v, want %v", c.filter, listed, walked, c.want)
		}
	}
}

// TestAFilterOfALongTrailReadsAnIndex: 200,000 entries, of which each filter wants few.
func TestAFilterOfALongTrailReadsAnIndex(t *testing.T) {
	pool := newPool(t)
	_, err := pool.Exec(t.Context(), `INSERT INTO audit_log (at, actor, action, target_type, target_id, target_name)
		SELECT now() - n * interval '1 minute', 'user' || n % 1000 || '@example.com', 'noun' || n % 100 || '.update', 'application', 'id-' || n, 'Name ' || n
		FROM generate_series(1, 200000) AS n`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `ANALYZE audit_log`); err != nil {
		t.Fatal(err)
	}
	from := time.Now().Add(-time.Hour)
	for _, f := range []Filter{{Actor: "user77@"}, {Action: "noun77."}, {Target: "id-777"}, {Target: "name 777"}, {From: &from}} {
		rows, err := pool.Query(t.Context(), `EXPLAIN SELECT count(*) FROM audit_log`+conditions, f.arguments()...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || strings.Contains(strings.Join(plan, "\n"), "Seq Scan") {
			t.Errorf("%+v: %v\n%s", f, err, strings.Join(plan, "\n"))
		}
		began := time.Now()
		_, total, err := List(t.Context(), pool, f, 1, 10)
		t.Logf("%+v: %d of 200,000 entries in %s", f, total, time.Since(began))
		if err != nil || total == 0 {
			t.Errorf("%+v: %d, %v", f, total, err)
		}
	}
}
