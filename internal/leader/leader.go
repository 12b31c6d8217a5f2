// Package leader elects one process of many for what only one may do at a time: whoever holds an advisory lock of
// PostgreSQL. The lock belongs to a connection, which the task is given: what it writes there is written by who holds
// the lock, for a lock that is lost is lost with its connection.
//
// Where processes wait for each other instead (migrations, resealing, claims of deliveries), they take such a lock
// themselves: there is nobody to be elected.
package leader

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// releaseTimeout bounds what is done with a connection once its task has ended.
const releaseTimeout = 5 * time.Second

// Turn runs a task under a lock unless another process holds it, and releases the lock when the task has ended. It is
// for work that is done piece by piece, by whoever comes first. The connection may be idle for as long as the task
// likes.
func Turn(ctx context.Context, pool *pgxpool.Pool, lock int64, task func(context.Context, *pgx.Conn) error) error {
	conn, err := acquire(ctx, pool, lock)
	if err != nil || conn == nil {
		return err
	}
	defer conn.Release()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, lock); err != nil {
			_ = conn.Conn().Close(ctx) // the lock goes with its connection
		}
	}()
	return task(ctx, conn.Conn())
}

// Lead runs a task under a lock unless another process holds it. It is for a task that goes on until it fails, with
// state of its own, and uses its connection at least every half minute: a leader whose host is gone, or that hangs, is
// noticed by the server, which ends the connection and with it the lock. within bounds the election.
func Lead(ctx context.Context, pool *pgxpool.Pool, lock int64, within time.Duration, task func(context.Context, *pgx.Conn) error) error {
	election, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	held, err := acquire(election, pool, lock)
	if err != nil || held == nil {
		return err
	}
	conn := held.Hijack() // not the pool's any more: nobody else is to have these settings
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // the lock goes with it
	}()
	_, err = conn.Exec(election, `SET idle_session_timeout = '30s'; SET idle_in_transaction_session_timeout = '15s';
		SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 12000`)
	if err != nil {
		return fmt.Errorf("set up the leader's connection: %w", err)
	}
	return task(ctx, conn)
}

// acquire gives a connection that holds a lock, or nil while another one does.
func acquire(ctx context.Context, pool *pgxpool.Pool, lock int64) (*pgxpool.Conn, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	var ours bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lock).Scan(&ours); err != nil {
		conn.Release()
		return nil, fmt.Errorf("take the lock: %w", err)
	}
	if !ours {
		conn.Release()
		return nil, nil
	}
	return conn, nil
}
