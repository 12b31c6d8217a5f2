package main

import (
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	_ "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/pressly/goose/v3"

	clickhousemigrations "callgate/clickhouse"
	"callgate/internal/embedded"
	"callgate/internal/openapi"
	"callgate/internal/secret"
	postgresmigrations "callgate/sql"
)

// The schema that the version before this one wrote (PostgreSQL, ClickHouse).
const (
	formerPostgres   = 7
	formerClickHouse = 4
)

// TestDataOfTheVersionBeforeComesUpWithNothingLost fills the stores as the version before left them, brings
// them to this one, and serves on them: the key still calls, every call still counts, details are still told.
func TestDataOfTheVersionBeforeComesUpWithNothingLost(t *testing.T) {
	up := newScripted(t)
	engines := embedded.Own(t)
	environment := formerStores(t, engines)
	key := fillFormer(t, environment, up.URL)
	migrate(t, environment)
	p := start(t, environment, "serve", "--role", "all")

	caller := &journey{process: p, key: key}
	if status, _, body := caller.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
		t.Fatalf("the key of before: %d %s", status, body)
	}
	p.mails = func(email string) (string, error) {
		if caught := engines.Mailbox().Mails(email); len(caught) > 0 {
			return caught[0].Code, nil
		}
		return "", fmt.Errorf("no mail")
	}
	dev := p.developer("owner@example.com")
	eventually(t, time.Minute, "every call counts", func() error {
		overview := do[openapi.Overview](dev, "GET", "/api/statistics/applications/overview", nil)
		if overview.Calls != formerCalls+1 || overview.Failures != formerCalls/10 || overview.Missed != 0 {
			return fmt.Errorf("%d calls, %d failures, %d missed", overview.Calls, overview.Failures, overview.Missed)
		}
		return nil
	})
	log := do[openapi.CallPage](dev, "GET", "/api/statistics/applications/"+formerApplication+"/calls?result=failure", nil)
	if log.Total != formerCalls/10 || len(log.Items) != 10 {
		t.Fatalf("%d failures in the log, %d on the page", log.Total, len(log.Items))
	}
	detail := do[openapi.FailedCall](dev, "GET", "/api/statistics/applications/"+formerApplication+"/calls/"+log.Items[0].CallID.String(), nil)
	if reason := detail.Failure.Reason; reason == nil || reason.Message == nil || *reason.Message != "Slow down." {
		t.Errorf("the detail of before: %+v", detail)
	}
	if revealed := do[openapi.AccessKey](dev, "GET", "/api/applications/"+formerApplication+"/access-key", nil); revealed.AccessKey != key {
		t.Error("the Access Key of before is not revealed")
	}
	keysOfBefore(t, dev, caller)
	verified(t, environment)
}

// keysOfBefore demands that the key of before is the first of the application's keys now, and that another can be added.
func keysOfBefore(t *testing.T, dev client, caller *journey) {
	t.Helper()
	path := "/api/applications/" + formerApplication + "/keys"
	more := do[openapi.NewKey](dev, "POST", path, object{"name": "more"})
	another := &journey{process: caller.process, key: more.AccessKey}
	if status, _, body := another.send("POST", "/v1/json?model=chat", "application/json", []byte(`{}`)); status != 200 {
		t.Errorf("another key: %d %s", status, body)
	}
	eventually(t, time.Minute, "the last use of both keys is told", func() error {
		keys := do[openapi.KeyItems](dev, "GET", path, nil)
		if len(keys.Items) != 2 || !keys.Items[0].First || keys.Items[0].MaskedAccessKey != secret.Mask(caller.key) || keys.Items[0].ExpiresAt != nil ||
			!keys.LastUseKnown || keys.Items[0].LastUsedAt == nil || keys.Items[1].LastUsedAt == nil {
			return fmt.Errorf("%+v", keys)
		}
		return nil
	})
}

const (
	formerApplication = "01920000-0000-7000-8000-00000000000a"
	formerOwner       = "01920000-0000-7000-8000-00000000000b"
	formerCalls       = 1000 // every tenth a failure
)

// formerStores are databases with the schema of before.
func formerStores(t *testing.T, engines *embedded.Engines) map[string]string {
	t.Helper()
	environment := production(t, engines)
	environment["ACCESS_KEY_PEPPER"], environment["ENCRYPTION_KEYS"] = formerPepper, formerKeys
	for driver, variable := range map[string]string{"pgx": "DATABASE_URL", "clickhouse": "CLICKHOUSE_URL"} {
		execute(t, driver, environment[variable], "CREATE DATABASE former")
		u, err := url.Parse(environment[variable])
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/former"
		environment[variable] = u.String()
	}
	migrateTo(t, "pgx", environment["DATABASE_URL"], goose.DialectPostgres, formerPostgres)
	migrateTo(t, "clickhouse", environment["CLICKHOUSE_URL"], goose.DialectClickHouse, formerClickHouse)
	return environment
}

var (
	formerPepper = strings.Repeat("pepper ", 6)
	formerKeys   = "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
)

func migrateTo(t *testing.T, driver, dsn string, dialect goose.Dialect, version int64) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	migrations := postgresmigrations.Migrations
	if driver == "clickhouse" {
		migrations = clickhousemigrations.Migrations
	}
	provider, err := goose.NewProvider(dialect, db, migrations)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

// fillFormer writes an application with its key, bindings and calls as the version before did.
func fillFormer(t *testing.T, environment map[string]string, upstream string) (key string) {
	t.Helper()
	keyring, err := secret.ParseKeyring(formerKeys)
	if err != nil {
		t.Fatal(err)
	}
	pepper := secret.Pepper(formerPepper)
	key = pepper.Mint()
	lookup := pepper.Lookup(key)
	hex := func(b []byte) string { return fmt.Sprintf(`'\x%x'`, b) }
	for _, statement := range []string{
		`INSERT INTO users (id, email) VALUES ('` + formerOwner + `', 'owner@example.com')`,
		`INSERT INTO capability_groups (id, name) VALUES ('g', 'Group')`,
		`INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_key) VALUES ('chat', 'Chat', 'g', '` + upstream + `', ` +
			hex(keyring.Seal([]byte(upstreamKey), secret.UpstreamKeyContext("chat"))) + `)`,
		`INSERT INTO applications (id, owner_id, name) VALUES ('` + formerApplication + `', '` + formerOwner + `', 'Former')`,
		`INSERT INTO access_keys (application_id, lookup, sealed, mask) VALUES ('` + formerApplication + `', ` + hex(lookup[:]) + `, ` +
			hex(keyring.Seal([]byte(key), secret.AccessKeyContext(formerApplication))) + `, '` + secret.Mask(key) + `')`,
		`INSERT INTO application_capabilities (application_id, capability_id) VALUES ('` + formerApplication + `', 'chat')`,
	} {
		execute(t, "pgx", environment["DATABASE_URL"], statement)
	}
	// The call id is the UUIDv7 of the start, by which a detail is found.
	start := time.Now().Add(-time.Hour).UnixMilli()
	var rows, failures []string
	for i := range int64(formerCalls) {
		id := uuid.Must(uuid.NewV7())
		at := start + i
		for octet := range 6 {
			id[octet] = byte(at >> (8 * (5 - octet)))
		}
		success, status, kind, code := "true", 200, "", ""
		if i%10 == 0 {
			success, status, kind, code = "false", 429, "upstream_http_error", "upstream_status"
			failures = append(failures, fmt.Sprintf("('%s', fromUnixTimestamp64Milli(%d), '%s', 'Slow down.', 'POST', '/v1', '{}', '{}', '', 'b')", formerApplication, at, id))
		}
		rows = append(rows, fmt.Sprintf("('%s', fromUnixTimestamp64Milli(%d), '%s', '%s', 'chat', 12, %d, %s, false, 5, 'complete', '%s', '%s', %d, 2, 2, 'b')",
			formerApplication, at, id, formerOwner, status, success, kind, code, status))
	}
	for table, values := range map[string][]string{
		`calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success, streamed, first_byte_ms, ended_by,
			reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id)`: rows,
		`call_failures (application_id, start_time, call_id, message, method, path, request_body, query, body_note, batch_id)`: failures,
	} {
		execute(t, "clickhouse", environment["CLICKHOUSE_URL"], "INSERT INTO "+table+" VALUES "+strings.Join(values, ", "))
	}
	return key
}
