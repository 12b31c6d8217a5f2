package boot

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"time"

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
	for name, value := range map[string]string{
		"application_name": "callgate", "statement_timeout": statementTimeout, "idle_in_transaction_session_timeout": idleInTxTimeout,
	} {
		if _, given := settings.ConnConfig.RuntimeParams[name]; !given {
			settings.ConnConfig.RuntimeParams[name] = value
		}
	}
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
