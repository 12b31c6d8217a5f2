package boot

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	defaultMaxConns = 16
	// A store that hangs must not hang its callers: longer work is a mistake of ours.
	statementTimeout = "15s"
	idleInTxTimeout  = "10s"
	connectTimeout   = 3 * time.Second
)

// watchTLS is told of the TLS configuration that a kind of peer is spoken to with, nil where there is none.
type watchTLS func(peer string, config *tls.Config)

// openPostgres makes the pool; it does not connect. pool_max_conns and session settings in the URL
// win over ours.
func openPostgres(ctx context.Context, url string, watch watchTLS) (*pgxpool.Pool, error) {
	unusable := errors.New("DATABASE_URL cannot be used") // pgx's own words may hold the password
	settings, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, unusable
	}
	if !strings.Contains(url, "pool_max_conns") {
		settings.MaxConns = defaultMaxConns
	}
	if _, given := settings.ConnConfig.RuntimeParams["application_name"]; !given {
		settings.ConnConfig.RuntimeParams["application_name"] = "callgate"
	}
	settings.AfterConnect = limited(settings.ConnConfig.RuntimeParams)
	if !strings.Contains(url, "connect_timeout") {
		settings.ConnConfig.ConnectTimeout = connectTimeout
	}
	if watch != nil {
		watch("postgres", settings.ConnConfig.TLSConfig)
		for _, other := range settings.ConnConfig.Fallbacks {
			watch("postgres", other.TLSConfig)
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, unusable
	}
	return pool, nil
}

// limited takes the time limits out of what a connection begins with, for PgBouncer would refuse them there, and
// sets them once it is made.
func limited(parameters map[string]string) func(context.Context, *pgx.Conn) error {
	limits := map[string]string{"statement_timeout": statementTimeout, "idle_in_transaction_session_timeout": idleInTxTimeout}
	for name := range limits {
		if given, ok := parameters[name]; ok {
			limits[name] = given
			delete(parameters, name)
		}
	}
	return func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT set_config('statement_timeout', $1, false), set_config('idle_in_transaction_session_timeout', $2, false)`,
			pgx.QueryExecModeSimpleProtocol, limits["statement_timeout"], limits["idle_in_transaction_session_timeout"])
		if err != nil {
			return fmt.Errorf("set time limits: %w", err)
		}
		return nil
	}
}

// poolerPatience bounds the look for a pooler. Without an answer nothing is said: stores may be away at a start.
const poolerPatience = 2 * time.Second

var errTransactionPooling = errors.New("DATABASE_URL leads to a pooler in transaction mode: two connections at once had one server process. " +
	"Callgate prepares statements, sets time limits and holds advisory locks on its connections; set pool_mode = session for it in PgBouncer, or name PostgreSQL itself")

// refuseTransactionPooling looks whether connections keep their server process between two transactions. In
// transaction mode the process of an idle connection is the next one's.
func refuseTransactionPooling(ctx context.Context, pool *pgxpool.Pool) error {
	if pool.Config().MaxConns < 2 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, poolerPatience)
	defer cancel()
	var processes [2]uint32
	for i := range processes {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return nil //nolint:nilerr // PostgreSQL is away: that is for others to say
		}
		defer conn.Release()
		err = conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&processes[i])
		if err != nil {
			return nil //nolint:nilerr // as above
		}
	}
	if processes[0] == processes[1] {
		return errTransactionPooling
	}
	return nil
}
