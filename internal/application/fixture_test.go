package application

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/embedded"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

var pepper = secret.Pepper("a pepper of thirty-two bytes long")

type world struct {
	*Store
	t    *testing.T
	ctx  context.Context
	pool *pgxpool.Pool
}

// newWorld is an empty database with the capabilities a, b, c and off, which is disabled.
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
	w := &world{New(pool, ring, pepper), t, t.Context(), pool}
	w.exec(`INSERT INTO capability_groups (id, name) VALUES ('g', 'Group')`)
	w.exec(`INSERT INTO capabilities (id, name, group_id, status, upstream_base_url, upstream_key)
		SELECT id, id, 'g', CASE id WHEN 'off' THEN 'disabled' ELSE 'enabled' END, 'http://upstream', 'sealed'
		FROM unnest(ARRAY['a', 'b', 'c', 'off']) AS id`)
	return w
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

func (w *world) user() uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	w.exec(`INSERT INTO users (id, email) VALUES ($1, $2)`, id, id.String()+"@example.com")
	return id
}

func (w *world) create(owner uuid.UUID, name string, capabilities ...string) (Application, string) {
	w.t.Helper()
	a, key, err := w.Create(w.ctx, owner, Draft{Name: name, CapabilityIDs: capabilities})
	if err != nil {
		w.t.Fatal(err)
	}
	return a, key
}

func mustFail(t *testing.T, err error, kind fault.Kind, field string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind {
		t.Fatalf("error %v, want kind %d", err, kind)
	}
	if field != "" && f.Fields[field] == "" {
		t.Fatalf("fields %v do not name %s", f.Fields, field)
	}
}

func pointer[T any](v T) *T { return &v }
