package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/ClickHouse/clickhouse-go/v2" // registers the driver
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// place is something that was kept, written or answered.
type place struct{ name, text string }

// search looks for every canary in every place.
func (h *hunt) search(t *testing.T) {
	t.Helper()
	places := []place{{"stdout", h.output()}, {"stderr", h.errors()}, {"metrics", h.metricsPage(t)}}
	postgres, clickhouse := h.postgresRows(t), h.clickhouseRows(t)
	redisEntries, spooled := h.redisEntries(t), h.spooled(t)
	for kind, found := range map[string][]place{"PostgreSQL": postgres, "ClickHouse": clickhouse, "the spool": spooled} {
		if !anyHolds(found, marker) {
			t.Errorf("the marker is not found in %s: the search does not look there", kind)
		}
	}
	if len(redisEntries) == 0 || h.errors() == "" || !strings.Contains(places[2].text, "callgate_") || !anyHolds(clickhouse, "[REDACTED]") {
		t.Errorf("%d entries in Redis, %d bytes of log: the search does not look there", len(redisEntries), len(h.errors()))
	}
	for _, more := range [][]place{postgres, clickhouse, redisEntries, spooled} {
		places = append(places, more...)
	}
	for _, secret := range h.canaries {
		find := finder(secret.value)
		for _, p := range places {
			if secret.address && (p.name == "PostgreSQL, capabilities" || p.name == "PostgreSQL, audit_log") {
				continue
			}
			if at := find(p.text); at >= 0 {
				t.Errorf("the %s stands in %s: …%s…", secret.name, p.name, p.text[max(0, at-80):min(len(p.text), at+20)])
			}
		}
		for _, a := range h.answers.seen {
			if secret.address && strings.HasPrefix(a.path, "/api/admin/") && !factual(a.path) && a.status < 300 {
				continue
			}
			if at := find(a.visible()); at >= 0 {
				t.Errorf("the %s is in the answer %d to %s %s: %s", secret.name, a.status, a.method, a.path, a.visible())
			}
		}
	}
	for _, a := range h.answers.seen {
		named := strings.ReplaceAll(a.body, `"name":"`+marker+`"`, "") // the application is called so
		if factual(a.path) && strings.Contains(named, marker) {
			t.Errorf("what a caller wrote is in the answer of %s: %s", a.path, a.body)
		}
	}
	t.Logf("%d secrets searched in %d rows, entries and files and in %d answers", len(h.canaries), len(places), len(h.answers.seen))
}

// Where administrators' figures, the directory and the facts of calls stand, in which is neither a body nor an upstream's
// address.
const (
	figuresPath   = "/api/admin/statistics/"
	directoryPath = "/api/admin/applications"
	lookUpPath    = "/api/admin/calls/"
)

func factual(path string) bool {
	return strings.HasPrefix(path, figuresPath) || strings.HasPrefix(path, directoryPath) || strings.HasPrefix(path, lookUpPath)
}

func anyHolds(places []place, text string) bool {
	for _, p := range places {
		if strings.Contains(p.text, text) {
			return true
		}
	}
	return false
}

// visible is what nobody meant to answer: the answer without what it is for. What an upstream says
// goes to its caller unchanged, even its own key.
func (a seenAnswer) visible() string {
	body, header := a.body, a.header.Clone()
	switch {
	case (strings.HasPrefix(a.path, "/gateway/") || strings.HasPrefix(a.path, "/via/")) && header.Get("X-Call-Id") != "" && a.status == http.StatusBadRequest && !strings.Contains(body, `"model_required"`):
		return ""
	case a.status == 201 && a.path == "/api/applications", strings.Contains(a.path, "/access-key"):
		body = regexp.MustCompile(`"accessKey":"[^"]*"`).ReplaceAllString(body, "")
	case a.status == 201 && a.path == "/api/tokens":
		body = regexp.MustCompile(`"token":"[^"]*"`).ReplaceAllString(body, "")
	case strings.HasSuffix(a.path, "/auth/login") && a.status == 200:
		body = regexp.MustCompile(`"token":"[^"]*"`).ReplaceAllString(body, "")
		header.Del("Set-Cookie")
	}
	return fmt.Sprint(header, body)
}

// finder gives a function that tells where a secret begins in a text, in any usual writing of it. A
// login code counts only where it stands alone: six digits are in many numbers.
func finder(secret string) func(text string) int {
	if len(secret) == 6 {
		alone := regexp.MustCompile(`(?:^|[^0-9A-Za-z.])` + secret + `(?:$|[^0-9A-Za-z])`)
		return func(text string) int {
			if at := alone.FindStringIndex(text); at != nil {
				return at[0]
			}
			return -1
		}
	}
	raw := []byte(secret)
	writings := []string{
		secret, hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)),
		base64.RawStdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
	}
	return func(text string) int {
		for _, writing := range writings {
			if at := strings.Index(text, writing); at >= 0 {
				return at
			}
		}
		return -1
	}
}

func (h *hunt) metricsPage(t *testing.T) string {
	t.Helper()
	resp, err := http.Get("http://" + h.environment["METRICS_LISTEN"] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// postgresRows is every row of every table as text, bytea in hexadecimal.
func (h *hunt) postgresRows(t *testing.T) (rows []place) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), h.environment["DATABASE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	tables := column(t, conn, `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`)
	if len(tables) < 10 {
		t.Fatalf("tables %v", tables)
	}
	for _, table := range tables {
		for _, row := range column(t, conn, `SELECT to_jsonb(r)::text FROM `+pgx.Identifier{table}.Sanitize()+` r`) {
			rows = append(rows, place{"PostgreSQL, " + table, row})
		}
	}
	return rows
}

func column(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return values
}

// clickhouseRows is every row of every table as JSON.
func (h *hunt) clickhouseRows(t *testing.T) (rows []place) {
	t.Helper()
	db, err := sql.Open("clickhouse", h.environment["CLICKHOUSE_URL"])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	read := func(query string) (values []string) {
		found, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer func() { _ = found.Close() }()
		for found.Next() {
			var value string
			if err := found.Scan(&value); err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		return values
	}
	for _, table := range read(`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`) {
		for _, row := range read("SELECT formatRow('JSONEachRow', *) FROM `" + table + "`") {
			rows = append(rows, place{"ClickHouse, " + table, row})
		}
	}
	return rows
}

// redisEntries is every key with its value.
func (h *hunt) redisEntries(t *testing.T) (entries []place) {
	t.Helper()
	options, err := redis.ParseURL(h.environment["REDIS_URL"])
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(options)
	defer func() { _ = rdb.Close() }()
	keys := rdb.Scan(t.Context(), 0, "*", 1000).Iterator()
	for keys.Next(t.Context()) {
		value, err := rdb.Get(t.Context(), keys.Val()).Result()
		if err != nil {
			t.Fatalf("%q is no string: %v", keys.Val(), err)
		}
		entries = append(entries, place{"Redis", keys.Val() + " " + value})
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return entries
}

// spooled is every file of the spool; shipped segments stay there for some minutes.
func (h *hunt) spooled(t *testing.T) (files []place) {
	t.Helper()
	err := filepath.WalkDir(h.environment["SPOOL_DIR"], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files = append(files, place{"spool, " + entry.Name(), string(text)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
