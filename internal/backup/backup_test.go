package backup_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/jackc/pgx/v5"

	"callgate/internal/backup"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
	"callgate/internal/progress"
	"callgate/internal/retention"
	"callgate/internal/secret"
)

// site is an installation's stores, and secrets that open them.
type site struct {
	t *testing.T
	backup.Installation
	pg *pgx.Conn
	ch driver.Conn
}

const pepper = "a pepper of thirty-two bytes long"

func ringOf(t *testing.T, letter string) *secret.Keyring {
	t.Helper()
	ring, err := secret.ParseKeyring("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, 32))))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newSite(t *testing.T) *site { return siteOn(t, embedded.Postgres(t), embedded.ClickHouse(t)) }

func siteOn(t *testing.T, databaseURL, clickhouseURL string) *site {
	t.Helper()
	s := &site{t: t, Installation: backup.Installation{
		DatabaseURL: databaseURL, ClickHouseURL: clickhouseURL, SpoolDir: filepath.Join(t.TempDir(), "spool"), Retention: retention.Default,
		Secrets: backup.Secrets{Keyring: ringOf(t, "k"), Pepper: secret.Pepper(pepper)}, Version: "test",
	}}
	if err := os.Mkdir(s.SpoolDir, 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.pg, err = pgx.Connect(t.Context(), databaseURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.pg.Close(context.Background()) })
	options, _, err := cluster.Parse(clickhouseURL)
	if err != nil {
		t.Fatal(err)
	}
	if s.ch, err = clickhouse.Open(options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.ch.Close() })
	return s
}

func (s *site) exec(statement string, arguments ...any) {
	s.t.Helper()
	if _, err := s.pg.Exec(s.t.Context(), statement, arguments...); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

func (s *site) insert(statement string) {
	s.t.Helper()
	ctx := clickhouse.Context(s.t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0, "distributed_foreground_insert": 1}))
	if err := s.ch.Exec(ctx, statement); err != nil {
		s.t.Fatalf("%s: %v", statement, err)
	}
}

// fill puts something into every table: calls of 26 days, of which the oldest are of rollups alone.
func (s *site) fill() {
	s.t.Helper()
	key := s.Secrets.Pepper.Mint()
	lookup := s.Secrets.Pepper.Lookup(key)
	const app = "01920000-0000-7000-8000-00000000000a"
	s.exec(`INSERT INTO users (id, email) VALUES ('01920000-0000-7000-8000-00000000000b', 'o''wner@example.com')`)
	s.exec(`INSERT INTO applications (id, owner_id, name, description) VALUES ($1, '01920000-0000-7000-8000-00000000000b', $2, '')`, app, "tab\t back\\slash \n\"quoted\" 中文 \\N")
	s.exec(`INSERT INTO access_keys (application_id, lookup, sealed, mask) VALUES ($1, $2, $3, 'cg-…')`, app, lookup[:], s.Secrets.Keyring.Seal([]byte(key), secret.AccessKeyContext(app)))
	more := s.Secrets.Pepper.Mint()
	lookup = s.Secrets.Pepper.Lookup(more)
	const id = "01920000-0000-7000-8000-00000000010a"
	s.exec(`INSERT INTO additional_access_keys (id, application_id, name, lookup, sealed, mask, expires_at, allowed_cidrs)
		VALUES ($1, $2, 'second', $3, $4, 'cg-…', '2030-01-01', '{10.0.0.0/8,2001:db8::/32}')`, id, app, lookup[:], s.Secrets.Keyring.Seal([]byte(more), secret.AdditionalKeyContext(id)))
	s.exec(`INSERT INTO applications (id, owner_id, name) SELECT gen_random_uuid(), '01920000-0000-7000-8000-00000000000b', 'gone ' || g FROM generate_series(1, 3) g`)
	s.exec(`DELETE FROM applications WHERE name LIKE 'gone%'`)
	s.exec(`INSERT INTO audit_log (actor, action, target_type, target_id, changes) SELECT 'a', 'b', 'c', g::text, '[{"field":"x","to":null}]' FROM generate_series(1, 1000) g`)
	s.exec(`UPDATE collection SET started_at = now() - interval '600 days'`)
	s.insert(`INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success, streamed, first_byte_ms, ended_by,
			reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id, stamped, trace_id, usage_state, upstream_model, input_tokens, key_id,
			used.model, used.tier, used.band, used.meter, used.amount)
		SELECT if(number % 3 = 0, toUUID('` + app + `'), toUUID('01920000-0000-7000-8000-0000000000' || leftPad(toString(number % 17), 2, '0'))), now64(3) - toIntervalMillisecond(number * 561600), generateUUIDv4(number), generateUUIDv4(),
			['a', '', 'ü'][1 + number % 3], number * 37 % 100000, 200 + number % 300, number % 4 != 0, number % 2, if(number % 5 = 0, NULL, number), 'complete',
			'', '', 0, number, number * 1000, 'batch/' || toString(number % 100), number % 2, if(number % 7 = 0, repeat('ab', 16), ''),
			['reported', 'absent', 'none', ''][1 + number % 4], 'gpt', if(number % 4 = 0, number, NULL),
			toUUID('01920000-0000-7000-8000-00000000010' || toString(number % 3)),
			if(number % 8 = 0, ['gpt'], []), if(number % 8 = 0, ['flex'], []), if(number % 8 = 0, [toUInt32(200000)], []), if(number % 8 = 0, ['input'], []), if(number % 8 = 0, [number], []) FROM numbers(4000)`)
	s.insert(`INSERT INTO days_closed (application_id, day, revision, calls, currencies, amounts) SELECT application_id, toDate(start_time), 1, count(), ['USD'], [toDecimal128(count(), 10)] FROM calls GROUP BY 1, 2`)
	s.insert(`INSERT INTO call_failures SELECT application_id, start_time, call_id, 'm', 'POST', '/v1', repeat('x', 3000), '{}', '', batch_id FROM calls WHERE NOT success`)
}

// contents are a number for the rows of every table, whatever their order and however they are merged.
func (s *site) contents(since string) map[string]string {
	s.t.Helper()
	found := map[string]string{}
	for table, query := range map[string]string{
		"calls":         `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM calls WHERE toDate(start_time) >= '` + since + `'`,
		"call_failures": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM call_failures WHERE start_time > now() - INTERVAL 20 DAY`,
		"usage_daily": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, day, model, sum(calls), sum(successes), sum(duration_ms), sumMap(durations.1, durations.2) FROM usage_daily GROUP BY ALL)`,
		"usage_hourly": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, hour, model, sum(calls), sum(successes), sum(duration_ms), sumMap(durations.1, durations.2) FROM usage_hourly GROUP BY ALL)`,
		"tokens_daily": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, day, model, upstream_model, sum(reported), sum(absent), sum(input), sum(input_calls) FROM tokens_daily GROUP BY ALL)`,
		"tokens_hourly": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, hour, model, upstream_model, sum(reported), sum(absent), sum(input), sum(output) FROM tokens_hourly GROUP BY ALL)`,
		"meters_daily": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, day, model, upstream_model, tier, band, extras, meter, sum(amount) FROM meters_daily GROUP BY ALL)`,
		"meters_hourly": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, hour, model, upstream_model, tier, band, extras, meter, sum(amount) FROM meters_hourly GROUP BY ALL)`,
		"keys_daily": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, key_id, day, model, upstream_model, tier, band, extras, meter, sum(amount) FROM keys_daily GROUP BY ALL)`,
		"days_closed": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM days_closed FINAL`,
		"failures_daily": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM
			(SELECT application_id, day, model, status_code, reason_type, reason_code, upstream_status, sum(calls) FROM failures_daily GROUP BY ALL)`,
		"app_models": `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM (SELECT application_id, model, min(first_used), max(last_used) FROM app_models GROUP BY ALL)`,
		"app_keys":   `SELECT toString(sum(cityHash64(formatRow('TSV', *)))) || '/' || toString(count()) FROM (SELECT application_id, key_id, min(first_used), max(last_used) FROM app_keys GROUP BY ALL)`,
	} {
		var number string
		if err := s.ch.QueryRow(s.t.Context(), query).Scan(&number); err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
		found[table] = number
	}
	for _, table := range []string{"users", "applications", "access_keys", "additional_access_keys", "audit_log", "deleted_applications", "collection", "spools"} {
		var number string
		columns := map[string]string{"applications": "id, owner_id, name, description, status, created_at, updated_at", "deleted_applications": "id, owner_id, name, deleted_at, swept_at",
			"collection": "started_at"}[table]
		if columns == "" {
			columns = "t"
		}
		if err := s.pg.QueryRow(s.t.Context(), `SELECT count(*) || '/' || coalesce(md5(string_agg(md5((`+columns+`)::text), '' ORDER BY md5((`+columns+`)::text))), '') FROM `+table+` t`).Scan(&number); err != nil {
			s.t.Fatalf("%s: %v", table, err)
		}
		found[table] = number
	}
	return found
}

func (s *site) write(dir string) string {
	s.t.Helper()
	var out strings.Builder
	if err := backup.Write(s.t.Context(), s.Installation, dir, &out, progress.Output{}); err != nil {
		s.t.Fatal(err)
	}
	return out.String()
}

func (s *site) restore(dir string, overwrite bool) error {
	var out strings.Builder
	return backup.Restore(s.t.Context(), s.Installation, dir, overwrite, &out, progress.Output{})
}

// same demands that two sites hold the same.
func same(t *testing.T, of, as map[string]string) {
	t.Helper()
	for table, want := range as {
		if of[table] != want {
			t.Errorf("%s: %s, want %s", table, of[table], want)
		}
	}
}

func TestARestoredInstallationHoldsWhatWasBackedUpInEveryTable(t *testing.T) {
	from, to := newSite(t), newSite(t)
	from.fill()
	from.Retention.Calls, to.Retention.Calls = 20, 20 // rollups of the days before have no calls any more
	m := written(t, from)
	since := m.manifest.ClickHouse.CallsFrom
	want := from.contents(since)
	if err := to.restore(m.dir, false); err != nil {
		t.Fatal(err)
	}
	same(t, to.contents(since), want)
	if tables := number(to, `SELECT count() FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name NOT LIKE 'goose%' AND name != 'deleted_applications'`); tables != 13 {
		t.Errorf("%d tables hold rows: contents compares twelve", tables)
	}
	if older := number(to, `SELECT count() FROM calls WHERE toDate(start_time) < '`+since+`'`); older != 0 {
		t.Errorf("%d calls that had expired", older)
	}
	var calls, version, next int64
	var kept string
	if err := to.pg.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM access_changes), (SELECT min(version) FROM applications), (SELECT last_value FROM access_version), calls_from::text FROM collection`).Scan(&calls, &version, &next, &kept); err != nil {
		t.Fatal(err)
	}
	if version < 1_000_000_000 || next < version || calls == 0 || kept != since {
		t.Errorf("%d changes told, version %d of %d, calls kept from %s", calls, version, next, kept)
	}
	to.exec(`INSERT INTO audit_log (actor, action, target_type, target_id) VALUES ('a', 'b', 'c', 'after')`) // by its sequence
	if err := to.restore(m.dir, false); err == nil || !strings.Contains(err.Error(), "--overwrite") {
		t.Errorf("over data that is there: %v", err)
	}
	if err := to.restore(m.dir, true); err != nil {
		t.Fatal(err)
	}
	same(t, to.contents(since), want)
}

func number(s *site, query string) (n uint64) {
	s.t.Helper()
	if err := s.ch.QueryRow(s.t.Context(), query).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return n
}

type made struct {
	dir      string
	manifest *backup.Manifest
	said     string
}

func written(t *testing.T, s *site) made {
	t.Helper()
	m := made{dir: filepath.Join(t.TempDir(), "backup")}
	m.said = s.write(m.dir)
	var err error
	if m.manifest, err = backup.ReadManifest(m.dir); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAnInterruptedRestoreIsRepeated breaks one off at its first rows, in the middle and where ClickHouse has all of them.
func TestAnInterruptedRestoreIsRepeated(t *testing.T) {
	from, to := newSite(t), newSite(t)
	from.fill()
	m := written(t, from)
	since := m.manifest.ClickHouse.CallsFrom
	all := number(from, `SELECT count() FROM calls`)
	ended := false
	for _, rows := range []uint64{1, all / 2, all} {
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan error)
		go func() {
			stopped <- backup.Restore(ctx, to.Installation, m.dir, false, &strings.Builder{}, progress.Output{})
		}()
		until := time.Now().Add(time.Minute)
		for there := uint64(0); there < rows && time.Now().Before(until); {
			_ = to.ch.QueryRow(t.Context(), `SELECT count() FROM calls`).Scan(&there)
		}
		cancel()
		err := <-stopped
		if ended = err == nil; !ended && !errors.Is(err, context.Canceled) {
			t.Fatalf("broken off at %d rows: %v", rows, err)
		}
	}
	if err := to.restore(m.dir, ended); err != nil {
		t.Fatal(err)
	}
	same(t, to.contents(since), from.contents(since))
}

func filesOf(m *backup.Manifest, under string) (paths []string) {
	for path := range m.Files {
		if strings.HasPrefix(path, under) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func TestARestoreRefusesOtherSecretsAndDamageBeforeItChangesAnything(t *testing.T) {
	from, to := newSite(t), newSite(t)
	from.fill()
	m := written(t, from)
	if !strings.Contains(m.said, ringOf(t, "k").Fingerprints()["k1"]) || !strings.Contains(m.said, secret.Pepper(pepper).Fingerprint()) {
		t.Errorf("the backup does not say what it needs:\n%s", m.said)
	}
	refused := func(change func(*backup.Installation), want string) {
		t.Helper()
		other := *to
		change(&other.Installation)
		if err := other.restore(m.dir, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
		if n := number(to, `SELECT count() FROM calls`); n != 0 {
			t.Fatalf("%d calls after a refusal", n)
		}
	}
	refused(func(i *backup.Installation) { i.Secrets.Keyring = ringOf(t, "x") }, `the key "k1" of ENCRYPTION_KEYS is another one`)
	refused(func(i *backup.Installation) { i.Secrets.Pepper = secret.Pepper(strings.Repeat("z", 32)) }, "ACCESS_KEY_PEPPER is another one")
	to.exec(`INSERT INTO spools (id, node, through) VALUES (gen_random_uuid(), 'live', now())`)
	refused(func(*backup.Installation) {}, "stop every process")
	to.exec(`DELETE FROM spools`)
	path := filepath.Join(m.dir, filesOf(m.manifest, "clickhouse/calls/")[0])
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(func(*backup.Installation) {}, "damaged")
	from.Secrets.Keyring = ringOf(t, "x")
	err = backup.Write(t.Context(), from.Installation, filepath.Join(t.TempDir(), "b"), &strings.Builder{}, progress.Output{})
	if err == nil || !strings.Contains(err.Error(), "ENCRYPTION_KEYS does not open") {
		t.Errorf("a backup under other keys: %v", err)
	}
}

// TestABackupOfOneServerIsRestoredToACluster, and the other way round.
func TestABackupOfOneServerIsRestoredToACluster(t *testing.T) {
	engines := embedded.OwnCluster(t, 2)
	one, two, last := newSite(t), siteOn(t, embedded.Postgres(t), engines.ClickHouseURL()), newSite(t)
	one.fill()
	m := written(t, one)
	since := m.manifest.ClickHouse.CallsFrom
	if err := two.restore(m.dir, false); err != nil {
		t.Fatal(err)
	}
	want := one.contents(since)
	same(t, two.contents(since), want)
	for shard := range 2 {
		if n := number(two, fmt.Sprintf(`SELECT count() FROM calls WHERE _shard_num = %d`, shard+1)); n == 0 {
			t.Errorf("shard %d has no calls", shard+1)
		}
	}
	if err := last.restore(written(t, two).dir, false); err != nil {
		t.Fatal(err)
	}
	same(t, last.contents(since), want)
}
