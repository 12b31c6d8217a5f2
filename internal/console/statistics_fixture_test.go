package console

import (
	"database/sql"
	"encoding/base64"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"callgate/internal/access"
	"callgate/internal/alerts"
	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/calls"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/catalog"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/saved"
	"callgate/internal/secret"
	"callgate/internal/stats"
)

// watcher is a manager whose console also answers statistics.
type watcher struct {
	*manager
	console       *Console
	clickhouse    *sql.DB
	clickhouseURL string
	now           time.Time
	redis         *redis.Client
}

func newWatcher(t *testing.T, changes ...func(*identity.Config)) *watcher {
	t.Helper()
	m := newManager(t, changes...)
	url := embedded.ClickHouse(t)
	at, _, err := cluster.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	db := clickhouse.OpenDB(at)
	t.Cleanup(func() { _ = db.Close() })
	log := slog.New(slog.DiscardHandler)
	reader, err := stats.Open(t.Context(), url, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	options, err := redis.ParseURL(embedded.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	ring, err := secret.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	served := New(reporting(Deps{
		Identity:     m.identity,
		Applications: application.New(m.pool, ring, secret.Pepper("a pepper of thirty-two bytes long")),
		Catalog:      catalog.New(m.pool, ring, true),
		Pricing:      pricing.New(m.pool),
		Limits:       limits.New(m.pool),
		Budgets:      budget.New(m.pool),
		Saved:        saved.New(m.pool),
		LimitsUsage:  limits.NewReader(rdb),
		Alerts:       alerts.New(m.pool, ring, true, m.identity.Administrator),
		Pool:         m.pool,
		Stats:        reader,
		Ledger:       ledger.New(m.pool),
		Days:         days.New(m.pool),
		Announcer:    access.NewAnnouncer(m.pool, rdb, log),
		Logger:       log,
	}))
	m.listen(served, log)
	return &watcher{m, served, db, url, time.Now(), rdb}
}

// called stores one call that started ago before now, and gives its id. The flag stamped has it noted when.
func (w *watcher) called(app, model string, ago time.Duration, durationMs, status int, flags ...string) uuid.UUID {
	w.t.Helper()
	start := w.now.Add(-ago)
	id, reason, code := calls.NewCallID(start), "", ""
	if status != 200 {
		reason, code = "upstream_http_error", "upstream_status"
	}
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, reason_type, reason_code, upstream_status, stamped)
		VALUES ($1, fromUnixTimestamp64Milli($2), $3, $4, $5, $6, $7, 'complete', $8, $9, $6, $10)`,
		app, start.UnixMilli(), id.String(), model, durationMs, status, status == 200, reason, code, slices.Contains(flags, "stamped"))
	return id
}

func (w *watcher) exec(statement string, arguments ...any) {
	w.t.Helper()
	if _, err := w.clickhouse.ExecContext(w.t.Context(), statement, arguments...); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

func (w *watcher) application(c *client, name string) string {
	w.t.Helper()
	created := c.must(201, "POST", "/api/applications", fmt.Sprintf(`{"name":%q}`, name))
	return field[string](w.t, created, "id")
}

// sameDay keeps "a minute ago" and "today" on one day, whenever the test runs.
func sameDay(t *testing.T, w *watcher) {
	t.Helper()
	if start := beijing.Today(w.now).Start(); w.now.Sub(start) < time.Hour {
		w.now = start.Add(time.Hour)
	}
}
