package audit

import (
	"errors"
	"fmt"
	"slices"
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
	if rows, total, err := List(t.Context(), pool, 1, 10); err != nil || total != 0 || len(rows) != 0 {
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
		rows, total, err := List(t.Context(), pool, page, 2)
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
	if rows, total, err := List(t.Context(), pool, 1<<31-1, 100); err != nil || total != 5 || len(rows) != 0 {
		t.Fatalf("past the end: %v, %d, %v", rows, total, err)
	}
}
