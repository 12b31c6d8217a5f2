package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/application"
	"callgate/internal/catalog"
	"callgate/internal/secret"
)

// stores are the migrated databases the gateway works on.
type stores struct{ postgres, clickhouse, redis string }

// The capabilities lead to the mock, in clear and over TLS.
const (
	capability       = "bench"
	secureCapability = "bench-tls"
)

var (
	pepper = strings.Repeat("bench-pepper ", 4)
	ring   = "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
)

// withLimits may stand behind a binary's name: it is called by an application that has five limits, as has its key, and three
// budgets.
const withLimits = "+limits"

// keys are those of two applications.
type keys struct{ unlimited, limited string }

// furnish makes applications bound to the capabilities that lead to upstream and to secure. The limits of one of them
// are never reached.
func furnish(ctx context.Context, s stores, upstream, secure string) (k keys, err error) {
	pool, err := pgxpool.New(ctx, s.postgres)
	if err != nil {
		return k, err
	}
	defer pool.Close()
	keyring, err := secret.ParseKeyring(ring)
	if err != nil {
		return k, err
	}
	offered := catalog.New(pool, keyring, true)
	const actor = "bench"
	if _, err := offered.CreateGroup(ctx, actor, catalog.GroupSettings{ID: ptr("bench"), Name: ptr("Bench")}); err != nil {
		return k, fmt.Errorf("group: %w", err)
	}
	for id, base := range map[string]string{capability: "http://" + upstream, secureCapability: "https://" + secure} {
		if _, err := offered.Create(ctx, actor, catalog.Settings{
			ID: ptr(id), Name: ptr("Bench"), GroupID: ptr("bench"), UpstreamModel: ptr("bench"), DefaultPath: ptr(jsonPath),
			UpstreamBaseURL: ptr(base), UpstreamKey: ptr("sk-bench-0123456789abcdef0123456789abcdef"),
		}); err != nil {
			return k, fmt.Errorf("capability: %w", err)
		}
	}
	owner := uuid.New()
	if _, err := pool.Exec(ctx, `INSERT INTO users (id, email) VALUES ($1, 'bench@example.com')`, owner); err != nil {
		return k, fmt.Errorf("user: %w", err)
	}
	applications := application.New(pool, keyring, secret.Pepper(pepper))
	draft := application.Draft{Name: "Bench", CapabilityIDs: []string{capability, secureCapability}}
	if _, k.unlimited, err = applications.Create(ctx, owner, draft); err != nil {
		return k, err
	}
	limited, key, err := applications.Create(ctx, owner, draft)
	if err != nil {
		return k, err
	}
	k.limited = key
	_, err = pool.Exec(ctx, `
		WITH key AS (SELECT id FROM access_keys WHERE application_id = $1),
		all_limits AS (INSERT INTO application_limits (application_id, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, tokens_per_day, updated_by)
			VALUES ($1, 1e9, 1e12, 1e6, 1e10, 1e12, 'bench')),
		its_limits AS (INSERT INTO key_limits (key_id, requests_per_minute, tokens_per_minute, concurrency, calls_per_day, tokens_per_day, updated_by)
			SELECT id, 1e9, 1e12, 1e6, 1e10, 1e12, 'bench' FROM key),
		price AS (INSERT INTO prices (id, capability_id, from_day, currency, input, output, created_by, updated_by)
			SELECT gen_random_uuid(), id, '2025-01-01', 'USD', 2, 8, 'bench', 'bench' FROM capabilities)
		INSERT INTO budgets (id, scope, application_id, key_id, period, amount, currency, action, unknown, thresholds, updated_by)
			SELECT gen_random_uuid(), CASE WHEN period = 'week' THEN 'key' ELSE 'application' END, $1, CASE WHEN period = 'week' THEN key.id END,
				period, 1e8, 'USD', 'block', 'allow', '{}', 'bench' FROM key, unnest(ARRAY['day', 'week', 'month']) AS period`, limited.ID)
	return k, err
}

func ptr[T any](v T) *T { return &v }

// launchOurs starts the real binary with everything on, its spool in dir.
func launchOurs(ctx context.Context, name, binary, dir string, s stores, accessKey string) (*subject, error) {
	ours := &subject{
		name: name, address: freeAddress(), private: freeAddress(),
		prefix: "/gateway", query: "?model=" + capability, key: accessKey,
	}
	cmd := exec.Command(binary, "serve", "--role", "gateway")
	cmd.Env = append(os.Environ(), "LISTEN="+ours.address, "METRICS_LISTEN="+ours.private, "SPOOL_DIR="+dir, "UPSTREAM_ALLOW_PRIVATE=true",
		"DATABASE_URL="+s.postgres, "CLICKHOUSE_URL="+s.clickhouse, "REDIS_URL="+s.redis,
		"ACCESS_KEY_PEPPER="+pepper, "ENCRYPTION_KEYS="+ring, "MAX_UPSTREAM_CONNS=32768", "MAX_APPLICATION_SHARE=1", "DRAIN_DELAY=0s", "LOG_LEVEL=warn")
	return launch(ctx, ours, cmd)
}
