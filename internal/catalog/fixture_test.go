package catalog

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/audit"
	"callgate/internal/embedded"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

const admin = "admin@example.com"

type world struct {
	*Store
	t    *testing.T
	ctx  context.Context
	pool *pgxpool.Pool
	ring *secret.Keyring
}

func newWorld(t *testing.T) *world {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	ring, err := secret.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return &world{New(pool, ring, true), t, t.Context(), pool, ring}
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.pool.Exec(w.ctx, sql, args...); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) count(sql string, args ...any) (n int) {
	w.t.Helper()
	if err := w.pool.QueryRow(w.ctx, sql, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (w *world) group(id string, order int64) {
	w.t.Helper()
	if _, err := w.CreateGroup(w.ctx, admin, GroupSettings{ID: &id, Name: pointer("Group " + id), SortOrder: &order}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) capability(id, group string, order int64) Details {
	w.t.Helper()
	d, err := w.Create(w.ctx, admin, Settings{ID: &id, Name: pointer("Name of " + id), GroupID: &group, SortOrder: &order,
		UpstreamBaseURL: pointer("https://upstream.example/v1"), UpstreamKey: pointer("sk-canary-" + id)})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// storedKey opens the upstream key as the gateway does.
func (w *world) storedKey(id string) string {
	w.t.Helper()
	var sealed []byte
	if err := w.pool.QueryRow(w.ctx, `SELECT upstream_key FROM capabilities WHERE id = $1`, id).Scan(&sealed); err != nil {
		w.t.Fatal(err)
	}
	plain, err := w.ring.Open(sealed, secret.UpstreamKeyContext(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(plain)
}

// lastEntry is the newest entry of the audit log, and how many there are.
func (w *world) lastEntry() (audit.Row, int) {
	w.t.Helper()
	rows, total, err := audit.List(w.ctx, w.pool, 1, 1)
	if err != nil || len(rows) != 1 {
		w.t.Fatalf("audit: %v, %v", rows, err)
	}
	return rows[0], total
}

func mustFail(t *testing.T, err error, kind fault.Kind, fields ...string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind || len(f.Fields) != len(fields) {
		t.Fatalf("error %#v, want kind %d and fields %v", err, kind, fields)
	}
	for _, field := range fields {
		if f.Fields[field] == "" {
			t.Fatalf("fields %v do not name %s", f.Fields, field)
		}
	}
}

func pointer[T any](v T) *T { return &v }
