// Package databasetest is what the tests of packages on PostgreSQL share: a database of their own, a keyring
// and the demand for a certain fault.
package databasetest

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/embedded"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

// Database is an empty database and a keyring; both end with the test.
type Database struct {
	T    *testing.T
	Ctx  context.Context
	Pool *pgxpool.Pool
	Ring *secret.Keyring
}

// New makes one.
func New(t *testing.T) Database {
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
	return Database{t, t.Context(), pool, ring}
}

// Exec runs a statement.
func (r Database) Exec(sql string, args ...any) {
	r.T.Helper()
	if _, err := r.Pool.Exec(r.Ctx, sql, args...); err != nil {
		r.T.Fatalf("%s: %v", sql, err)
	}
}

// Count asks for one number.
func (r Database) Count(sql string, args ...any) (n int) {
	r.T.Helper()
	if err := r.Pool.QueryRow(r.Ctx, sql, args...).Scan(&n); err != nil {
		r.T.Fatalf("%s: %v", sql, err)
	}
	return n
}

// MustFail demands a fault of a kind that names exactly these fields.
func MustFail(t *testing.T, err error, kind fault.Kind, fields ...string) {
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
