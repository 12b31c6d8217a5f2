package verify

import (
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/catalog"
	"callgate/internal/cluster"
	"callgate/internal/databasetest"
	"callgate/internal/embedded"
	"callgate/internal/pricing"
	"callgate/internal/report"
	"callgate/internal/secret"
	"callgate/internal/stats"
)

// world is the stores with accounts in them, and what a verification of them asks.
type world struct {
	databasetest.Database
	clickhouse *sql.DB
	url        string
	deps       Deps
}

func newWorld(t *testing.T) *world {
	t.Helper()
	database := databasetest.New(t)
	url := embedded.ClickHouse(t)
	options, _, err := cluster.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	db := clickhouse.OpenDB(options)
	t.Cleanup(func() { _ = db.Close() })
	reader, err := stats.Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	deps := Deps{
		Applications: application.New(database.Pool, database.Ring, secret.Pepper("a pepper of thirty-two bytes long")),
		Catalog:      catalog.New(database.Pool, database.Ring, true), Pricing: pricing.New(database.Pool), Stats: reader, Ledger: ledger.New(database.Pool), Days: days.New(database.Pool),
	}
	deps.Answers = report.New(report.Deps{
		Applications: deps.Applications, Catalog: deps.Catalog, Pricing: deps.Pricing, Stats: reader, Ledger: deps.Ledger,
	})
	return &world{database, db, url, deps}
}

// verify runs a verification of the last 30 days without its long patience.
func (w *world) verify() (Result, string) {
	w.T.Helper()
	return w.verifyDays(30)
}

// verifyDays is verify of as many days.
func (w *world) verifyDays(number int) (Result, string) {
	w.T.Helper()
	var out strings.Builder
	w.deps.Everyone = true
	v := &verifier{Deps: w.deps, out: &out, attempts: 3, pause: 20 * time.Millisecond, confirm: 4 * time.Second}
	owners, err := w.deps.Applications.Owners(w.Ctx)
	if err != nil {
		w.T.Fatal(err)
	}
	if err := v.run(w.Ctx, owners, beijing.LastDays(number, beijing.Today(time.Now()))); err != nil {
		w.T.Fatalf("%v\n%s", err, out.String())
	}
	return v.result, out.String()
}

func (w *world) exec(statement string, arguments ...any) {
	w.T.Helper()
	if _, err := w.clickhouse.ExecContext(w.Ctx, statement, arguments...); err != nil {
		w.T.Fatalf("%s: %v", statement, err)
	}
}

func (w *world) owner(name string) (id uuid.UUID) {
	w.T.Helper()
	id = uuid.New()
	w.Exec(`INSERT INTO users (id, email) VALUES ($1, $2)`, id, name+"@example.com")
	return id
}

func (w *world) application(owner uuid.UUID, name string) uuid.UUID {
	w.T.Helper()
	made, _, err := w.deps.Applications.Create(w.Ctx, owner, application.Draft{Name: name})
	if err != nil {
		w.T.Fatal(err)
	}
	return made.ID
}

// capability has a name of its own beside its id.
func (w *world) capability(id string) {
	w.T.Helper()
	group, name, url := "group-of-"+id, "Name of "+id, "https://upstream.example/v1"
	if _, err := w.deps.Catalog.CreateGroup(w.Ctx, "root@example.com", catalog.GroupSettings{ID: &group, Name: &group}); err != nil {
		w.T.Fatal(err)
	}
	_, err := w.deps.Catalog.Create(w.Ctx, "root@example.com", catalog.Settings{
		ID: &id, Name: &name, GroupID: &group, UpstreamBaseURL: &url, UpstreamKey: &group,
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

// succeeded stores one call of an hour ago.
func (w *world) succeeded(application uuid.UUID, model string) {
	w.T.Helper()
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by)
		SELECT $1, now64(3) - INTERVAL 1 HOUR, generateUUIDv7(), $2, 77, 200, true, 'complete'`, application, model)
}

// price is one from a day on, counted from today, for a million tokens: of output a digit more than of input.
func (w *world) price(capability, upstreamModel string, from int, currency, input string) {
	w.T.Helper()
	draft := pricing.Draft{CapabilityID: capability, From: (beijing.Today(time.Now()) + beijing.Day(from)).String(), Currency: currency,
		Input: input, Output: input + "7"}
	if upstreamModel != "" {
		draft.UpstreamModel = &upstreamModel
	}
	if _, err := w.deps.Pricing.Put(w.Ctx, "root@example.com", draft); err != nil {
		w.T.Fatal(err)
	}
}

// populated is two accounts with calls, and the application that most of them are of.
func populated(t *testing.T) (w *world, busy uuid.UUID) {
	t.Helper()
	w = newWorld(t)
	w.capability("gpt")
	w.capability("claude")
	ada, eve := w.owner("ada"), w.owner("eve")
	busy = w.application(ada, "busy")
	w.application(ada, "never called")
	theirs := w.application(eve, "theirs")
	gone := w.application(eve, "deleted")
	w.exec(`INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, reason_type, reason_code, upstream_status,
			usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, key_id)
		SELECT $1, fromUnixTimestamp64Milli($2 - number * number * 600000) AS start,
			toUUID(format('{}-{}-7000-8000-{}', left(leftPad(hex(toUInt64($2 - number * number * 600000)), 12, '0') AS ms, 8), right(ms, 4), leftPad(hex(number), 12, '0'))), ['gpt', 'claude', ''][number % 3 + 1],
			pow(2, number % 18) + number, if(number % 4 = 3, 502, 200) AS status, status = 200, 'complete',
			if(status = 200, '', 'upstream_http_error'), if(status = 200, '', 'upstream_status'), status,
			if(status = 200, ['reported', 'absent', 'partial', ''][number % 5 % 4 + 1], 'none') AS state, if(number % 7 = 0, 'gpt-x', ''),
			if(state IN ('reported', 'partial'), number * 100 + 7, NULL), if(state = 'reported', number, NULL), if(state = 'reported' AND number % 2 = 0, 5, NULL),
			toUUID('00000000-0000-0000-0000-00000000000' || toString(number % 3))
		FROM numbers(57)`, busy, time.Now().UnixMilli()) // 22 days, most of them today
	w.price("gpt", "", -30, "USD", "2.5")
	w.price("gpt", "gpt-x", -3, "CNY", "0.11100000001")
	if _, err := w.deps.Pricing.PutExchange(w.Ctx, "root@example.com", pricing.ExchangeDraft{Currency: "USD", ToCurrency: "CNY", From: (beijing.Today(time.Now()) - 5).String(), Rate: "7.1"}); err != nil {
		t.Fatal(err)
	}
	w.succeeded(theirs, "gpt")
	w.succeeded(gone, "gpt")
	if err := w.deps.Applications.Delete(w.Ctx, eve, gone); err != nil {
		t.Fatal(err)
	}
	return w, busy
}

// lined stores twenty calls of an application that have lines: of two models, a tier, a band, and with pages, which have no price.
func (w *world) lined(application uuid.UUID) {
	w.T.Helper()
	w.exec("INSERT INTO calls (application_id, start_time, call_id, model, duration_ms, status_code, success, ended_by, usage_state, upstream_model, input_tokens, output_tokens, cache_write_tokens, key_id, "+
		"`used.model`, `used.tier`, `used.band`, `used.meter`, `used.amount`) "+`
		WITH number % 4 AS kind, 300000 + number AS input
		SELECT $1, fromUnixTimestamp64Milli($2 - number * 20000000) AS start, generateUUIDv7(number), if(number < 16, 'gpt', 'claude'), 9, 200, true, 'complete', 'reported', 'gpt-x',
			if(kind = 3, NULL, if(kind = 2, input + 40, input)), if(kind = 3, NULL, 7), if(kind = 1, 90, NULL), toUUID('00000000-0000-0000-0000-000000000002'),
			[['gpt-x', 'gpt-x'], ['gpt-x', 'gpt-x', 'gpt-x', 'gpt-x'], ['gpt-x', 'gpt-x', 'gpt-y'], ['gpt-x']][kind + 1],
			[['flex', 'flex'], ['', '', '', ''], ['', '', ''], ['']][kind + 1],
			[[272000, 272000], [272000, 272000, 272000, 272000], [272000, 272000, 0], [0]][kind + 1],
			[['input', 'output'], ['input', 'cache_write', 'cache_write_1h', 'output'], ['input', 'output', 'input'], ['pages']][kind + 1],
			[[input, 7], [input, 90, 60, 7], [input, 7, 40], [3]][kind + 1]
		FROM numbers(20)`, application, time.Now().UnixMilli())
}
