package leader

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/embedded"
)

const lock = 0x7465737400000001

var errTask = errors.New("the task's own")

func open(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// leads tells whether a process on pool is elected now.
func leads(t *testing.T, pool *pgxpool.Pool) (elected bool) {
	t.Helper()
	if err := Turn(t.Context(), pool, lock, func(context.Context, *pgx.Conn) error {
		elected = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return elected
}

type election func(context.Context, *pgxpool.Pool, func(context.Context, *pgx.Conn) error) error

var elections = map[string]election{
	"turn": func(ctx context.Context, pool *pgxpool.Pool, task func(context.Context, *pgx.Conn) error) error {
		return Turn(ctx, pool, lock, task)
	},
	"lead": func(ctx context.Context, pool *pgxpool.Pool, task func(context.Context, *pgx.Conn) error) error {
		return Lead(ctx, pool, lock, time.Minute, task)
	},
}

func TestOneOfManyIsElectedUntilItsTaskEnds(t *testing.T) {
	for name, elect := range elections {
		t.Run(name, func(t *testing.T) {
			url := embedded.Postgres(t)
			one, other := open(t, url), open(t, url)
			err := elect(t.Context(), one, func(context.Context, *pgx.Conn) error {
				if leads(t, other) {
					t.Error("two are elected")
				}
				return errTask
			})
			if !errors.Is(err, errTask) {
				t.Errorf("the task failed with %v", err)
			}
			if name == "turn" && !leads(t, other) { // the lock is released before Turn returns; a closed connection's a little later
				t.Error("nobody is elected after the turn")
			}
			waitFor(t, func() bool { return leads(t, other) && leads(t, one) })
		})
	}
}

func TestALockIsLostWithItsConnection(t *testing.T) {
	for name, elect := range elections {
		t.Run(name, func(t *testing.T) {
			url := embedded.Postgres(t)
			one, other := open(t, url), open(t, url)
			err := elect(t.Context(), one, func(ctx context.Context, conn *pgx.Conn) error {
				if _, err := other.Exec(ctx, `SELECT pg_terminate_backend($1)`, conn.PgConn().PID()); err != nil {
					t.Error(err)
				}
				waitFor(t, func() bool { return leads(t, other) })
				_, err := conn.Exec(ctx, `SELECT 1`)
				return err
			})
			if err == nil {
				t.Error("who lost the lock could go on writing")
			}
			if !leads(t, one) {
				t.Error("it is never elected again")
			}
		})
	}
}

func TestABrokenOffTaskReleasesTheLock(t *testing.T) {
	for name, elect := range elections {
		t.Run(name, func(t *testing.T) {
			url := embedded.Postgres(t)
			one, other := open(t, url), open(t, url)
			ctx, stop := context.WithCancel(t.Context())
			err := elect(ctx, one, func(ctx context.Context, conn *pgx.Conn) error {
				stop()
				_, err := conn.Exec(ctx, `SELECT pg_sleep(60)`)
				return err
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("broken off with %v", err)
			}
			waitFor(t, func() bool { return leads(t, other) })
		})
	}
}

func waitFor(t *testing.T, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) { // between two looks
		if time.Now().After(deadline) {
			t.Fatal("not within 30 s")
		}
	}
}
