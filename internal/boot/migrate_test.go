package boot

import (
	"log/slog"
	"strings"
	"testing"

	"callgate/clickhouse"
	"callgate/internal/config"
	"callgate/internal/embedded"
	"callgate/internal/progress"
	"callgate/internal/retention"
)

// TestMigrateKeepsCallsAsLongAsTheEnvironmentSays: in times to live, in the ledger and in what verify compares, shorter and
// longer again.
func TestMigrateKeepsCallsAsLongAsTheEnvironmentSays(t *testing.T) {
	stores := embedded.Stores(t)
	migrate := func(settings ...string) config.Config {
		t.Helper()
		c, err := config.LoadMigration(append(settings, "DATABASE_URL="+stores.DatabaseURL, "CLICKHOUSE_URL="+stores.ClickHouseURL))
		if err != nil {
			t.Fatal(err)
		}
		if err := Migrate(t.Context(), c, progress.Output{}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	lived := func(want retention.Days) {
		t.Helper()
		if got, err := clickhouse.Lived(t.Context(), stores.ClickHouseURL); err != nil || got != want.Lives() {
			t.Errorf("rows live %+v, %v; want %+v", got, err, want.Lives())
		}
	}
	migrate()
	embedded.OnShards(t, stores.ClickHouseURL, `INSERT INTO calls (start_time) VALUES (now())`)
	embedded.OnShards(t, stores.ClickHouseURL, `INSERT INTO call_failures (start_time) VALUES (now())`)
	lived(retention.Default)
	c := migrate("STATISTICS_RETENTION_DAYS=100", "CALL_RETENTION_DAYS=20", "FAILURE_RETENTION_DAYS=7")
	lived(retention.Days{Statistics: 100, Calls: 20, Failures: 7})
	var out strings.Builder
	if err := Verify(t.Context(), c, "2001-01-01", "2001-01-02", "", &out, progress.Output{}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "CALL_RETENTION_DAYS") {
		t.Errorf("verify of days whose calls are gone: %v", err)
	}
	migrate("STATISTICS_RETENTION_DAYS=800")
	lived(retention.Days{Statistics: 800, Calls: 800, Failures: 30})
}
