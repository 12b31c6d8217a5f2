package stats_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/application"
	"callgate/internal/calls"
	"callgate/internal/calls/ledger"
	"callgate/internal/catalog"
	"callgate/internal/console"
	"callgate/internal/embedded"
	"callgate/internal/identity"
	"callgate/internal/secret"
	"callgate/internal/stats"
)

// oracleZone makes a test process the one that lives in a time zone.
const oracleZone = "ORACLE_ZONE"

// clocksOfTheOracle are moments a day, a month or a year turns at, or a leap day is in the range.
var clocksOfTheOracle = []string{
	"2024-03-05T14:07:00.000+08:00", "2024-02-29T23:59:59.999+08:00", "2025-01-01T00:05:00.000+08:00",
	"2024-12-31T23:59:59.999+08:00", "2025-02-28T00:00:00.000+08:00",
}

// TestEveryEndpointAgreesWithTheOracle asks random questions of every statistics endpoint, over
// HTTP, and compares each value with what plain slices give. It does so in processes that live in
// five time zones, each with stores whose sessions are in another one. ORACLE_QUESTIONS raises the
// number of questions of all zones together; with ORACLE_ENGINES=own the stores live in the zone as well.
func TestEveryEndpointAgreesWithTheOracle(t *testing.T) {
	questions := 150
	if text := os.Getenv("ORACLE_QUESTIONS"); text != "" {
		var err error
		if questions, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	if zone := os.Getenv(oracleZone); zone != "" {
		askInZone(t, zone, questions)
		return
	}
	zones := []string{"UTC", "Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati", "Asia/Kathmandu"}
	var asked, cells int
	for i, zone := range zones {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=2h", "-test.count=1")
		child.Env = append(os.Environ(), "TZ="+zone, oracleZone+"="+strconv.Itoa(i), "ORACLE_QUESTIONS="+strconv.Itoa(questions/len(zones)))
		out, err := child.CombinedOutput()
		told := regexp.MustCompile(`(\d+) questions, (\d+) cells, 0 different`).FindSubmatch(out)
		if err != nil || told == nil {
			t.Fatalf("in %s: %v\n%s", zone, err, out)
		}
		for j, sum := range []*int{&asked, &cells} {
			n, _ := strconv.Atoi(string(told[j+1]))
			*sum += n
		}
	}
	t.Logf("%d questions in %d time zones, %d cells, 0 different", asked, len(zones), cells)
	if asked < questions/2 || cells < 100*asked/2 {
		t.Errorf("only %d questions and %d cells", asked, cells)
	}
}

// oracle is a model and the console that must agree with it.
type oracle struct {
	*model
	t        *testing.T
	random   *rand.Rand
	base     string
	sessions []string // by account
	asked    int
	cells    int
}

func askInZone(t *testing.T, zone string, questions int) {
	index, err := strconv.Atoi(zone)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, local zone %s", seed, time.Local)
	clocks := clocksOfTheOracle[index:][:1]
	if questions >= 2_000 {
		clocks = clocksOfTheOracle
	}
	asked, cells := 0, 0
	for i, clock := range clocks {
		now, err := time.Parse(time.RFC3339, clock)
		if err != nil {
			t.Fatal(err)
		}
		o := newOracle(t, rand.New(rand.NewPCG(seed, uint64(i))), now.In(time.Local), os.Getenv("ORACLE_ENGINES") == "own")
		for range questions / len(clocks) {
			o.question()
		}
		asked, cells = asked+o.asked, cells+o.cells
	}
	if !t.Failed() {
		t.Logf("%d questions, %d cells, 0 different", asked, cells)
	}
}

var sessionZones = []string{"", "Asia/Shanghai", "America/St_Johns", "Pacific/Apia", "Europe/Berlin"}

// newOracle makes stores, accounts, calls and a console whose clock stands at now.
func newOracle(t *testing.T, random *rand.Rand, now time.Time, ownEngines bool) *oracle {
	t.Helper()
	o := &oracle{model: &model{now: now}, t: t, random: random}
	var databaseURL, clickhouseURL string
	if ownEngines {
		engines := embedded.Own(t) // they inherit TZ
		databaseURL, clickhouseURL = engines.DatabaseURL(), engines.ClickHouseURL()
	} else {
		databaseURL, clickhouseURL = embedded.Postgres(t), embedded.ClickHouse(t)
	}
	pool, err := pgxpool.New(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	ring, err := secret.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	store := application.New(pool, ring, secret.Pepper("a pepper of thirty-two bytes long"))
	deleted := o.furnish(pool, store)
	o.fill(clickhouseURL, deleted)

	if zone := sessionZones[random.IntN(len(sessionZones))]; zone != "" {
		clickhouseURL += "?session_timezone=" + url.QueryEscape(zone)
	}
	log := slog.New(slog.DiscardHandler)
	reader, err := stats.Open(t.Context(), clickhouseURL, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reader.Close() })
	clock := func() time.Time { return now }
	reader.At(clock)
	if random.IntN(3) > 0 {
		reader.Narrow(int64(5+random.IntN(50)), int64(2+random.IntN(20)))
	}
	mailer, err := identity.NewMailer("smtp://127.0.0.1:1", "oracle@example.com")
	if err != nil {
		t.Fatal(err)
	}
	people, err := identity.New(identity.Config{JWTSecret: make([]byte, 32), AdminEmails: []string{"root@example.com"}}, pool, mailer, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { people.Close(context.Background()) })
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, ErrorHandler: console.Fail(log)})
	console.New(console.Deps{
		Identity: people, Applications: store, Catalog: catalog.New(pool, ring, true), Pool: pool, Stats: reader,
		Ledger: ledger.New(pool), Now: clock, Logger: log,
	}).Register(app)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	t.Cleanup(func() { _ = app.ShutdownWithTimeout(5 * time.Second); <-served })
	o.base = "http://" + listener.Addr().String()
	return o
}

// furnish makes an account with two pages of applications, one with a few and one with none, and
// returns an application that is deleted.
func (o *oracle) furnish(pool *pgxpool.Pool, store *application.Store) registered {
	o.t.Helper()
	ctx := o.t.Context()
	var gone registered
	for account, n := range []int{13, 3, 0} {
		owner, session := uuid.New(), fmt.Sprintf("%043d", account)
		email := fmt.Sprintf("account%d@example.com", account)
		hash := sha256.Sum256([]byte(session))
		_, err := pool.Exec(ctx, `INSERT INTO users (id, email) VALUES ($1, $2)`, owner, email)
		if err == nil {
			_, err = pool.Exec(ctx, `INSERT INTO sessions (id, audience, user_id, email, token_hash, expires_at)
				VALUES ($1, 'callgate-console', $2, $3, $4, now() + interval '1 day')`, uuid.New(), owner, email, hash[:])
		}
		if err != nil {
			o.t.Fatal(err)
		}
		o.sessions = append(o.sessions, session)
		var list []registered
		for i := range n {
			made, _, err := store.Create(ctx, owner, application.Draft{Name: fmt.Sprintf("application %d", i)})
			if err != nil {
				o.t.Fatal(err)
			}
			one := registered{made.ID, made.Name, "active"}
			switch {
			case account == 0 && i == 7:
				gone, err = one, store.Delete(ctx, owner, made.ID)
			case i%4 == 1:
				one.status = "disabled"
				_, err = store.SetStatus(ctx, owner, made.ID, "disabled")
			}
			if err != nil {
				o.t.Fatal(err)
			}
			if one.id != gone.id {
				list = slices.Insert(list, 0, one)
			}
		}
		o.accounts = append(o.accounts, list)
	}
	return gone
}

// fill makes the calls and writes them, with times in the zone this process lives in.
func (o *oracle) fill(clickhouseURL string, deleted registered) {
	o.t.Helper()
	options, err := clickhouse.ParseDSN(clickhouseURL)
	if err != nil {
		o.t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, table := range []string{"calls", "call_failures", "usage_daily", "usage_hourly"} { // the clock stands in years gone by
		if err := conn.Exec(o.t.Context(), "ALTER TABLE "+table+" REMOVE TTL"); err != nil {
			o.t.Fatal(err)
		}
	}
	owned := append(slices.Concat(o.accounts...), deleted)
	for _, start := range o.starts(3_000) {
		// The first applications are called most, the last one never.
		a := owned[int(float64(len(owned)-1)*math.Pow(o.random.Float64(), 2))]
		o.records = append(o.records, o.record(a.id, start))
		if o.random.IntN(60) == 0 {
			o.records = append(o.records, o.record(deleted.id, start))
		}
	}
	for part := range slices.Chunk(o.records, 2000) {
		if err := write(conn, part); err != nil {
			o.t.Fatal(err)
		}
	}
}

// starts are moments on few days (each is a partition to write): both edges of midnights to the
// millisecond, year's ends, leap days, the edges of ranges and of what is retained, crowded seconds.
func (o *oracle) starts(n int) (list []time.Time) {
	local := o.now.In(beijingZone)
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, beijingZone)
	midnights := []time.Time{
		today, today.AddDate(0, 0, 1), today.AddDate(0, 0, -1), today.AddDate(0, 0, -6), today.AddDate(0, 0, -29), today.AddDate(0, 0, -30),
		today.AddDate(0, 0, -365), today.AddDate(0, 0, -366), today.AddDate(0, 0, -399), today.AddDate(0, 0, -400),
		time.Date(2023, 12, 31, 0, 0, 0, 0, beijingZone), time.Date(2024, 1, 1, 0, 0, 0, 0, beijingZone),
		time.Date(2024, 2, 29, 0, 0, 0, 0, beijingZone), time.Date(2024, 3, 1, 0, 0, 0, 0, beijingZone),
		time.Date(2024, 12, 31, 0, 0, 0, 0, beijingZone), time.Date(2025, 1, 1, 0, 0, 0, 0, beijingZone),
	}
	for range 3 {
		midnights = append(midnights, today.AddDate(0, 0, -o.random.IntN(380)))
	}
	latest := o.now.Add(2 * time.Minute) // a gateway's clock may be ahead
	for len(list) < n {
		start := midnights[o.random.IntN(len(midnights))]
		switch o.random.IntN(6) {
		case 0:
			start = start.Add(-time.Millisecond)
		case 1:
		case 2:
			start = o.now.Add(-time.Duration(o.random.IntN(90_000)) * time.Millisecond) // the newest
		case 3:
			start = start.Add(time.Duration(9*3600_000+o.random.IntN(4_000)) * time.Millisecond) // crowded
		default:
			start = start.Add(time.Duration(o.random.IntN(86_400_000)) * time.Millisecond)
		}
		if start = start.Truncate(time.Millisecond); !start.After(latest) {
			list = append(list, start.In(time.Local))
		}
	}
	return list
}

func (o *oracle) record(application uuid.UUID, start time.Time) record {
	random := o.random
	r := record{application: application, id: calls.NewCallID(start), start: start, model: []string{"", "gpt", "claude", "rare"}[min(random.IntN(7)/2, 3)],
		took: int64(math.Exp(random.Float64()*15)) - 1, status: 200, success: true, streamed: random.IntN(3) == 0, endedBy: "complete", upstream: 200}
	if random.IntN(2) == 0 {
		first := r.took / 3
		r.firstByte = &first
	}
	if random.IntN(4) > 0 {
		return r
	}
	r.success = false
	switch random.IntN(3) {
	case 0:
		r.status, r.reason, r.code, r.upstream = 429, "upstream_http_error", "upstream_status", 429
	case 1:
		r.status, r.endedBy, r.reason, r.code = 499, "client_abort", "interrupted", "client_closed"
	default:
		r.status, r.endedBy, r.reason, r.code, r.upstream = 403, "denied", "permission_denied", "application_disabled", 0
	}
	if random.IntN(5) > 0 {
		r.kept = &kept{[]string{"", "too many requests"}[random.IntN(2)], "POST", "/v1/x", strconv.Itoa(random.IntN(99)), r.model, ""}
		if random.IntN(3) == 0 {
			r.kept.body, r.kept.note = "", "not_json"
		}
	}
	return r
}

func write(conn clickhouse.Conn, records []record) error {
	ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_partitions_per_insert_block": 0}))
	batch, err := conn.PrepareBatch(ctx, `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success,
		streamed, first_byte_ms, ended_by, reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id)`)
	if err != nil {
		return err
	}
	failures, err := conn.PrepareBatch(ctx, `INSERT INTO call_failures (application_id, start_time, call_id, message, method, path, request_body, query,
		body_note, batch_id)`)
	if err != nil {
		return err
	}
	for _, r := range records {
		var first *uint32
		if r.firstByte != nil {
			ms := uint32(*r.firstByte)
			first = &ms
		}
		err := batch.Append(r.application, r.start, r.id, uuid.Nil, r.model, uint32(r.took), uint16(r.status), r.success, r.streamed, first, r.endedBy,
			r.reason, r.code, uint16(r.upstream), uint64(1), uint64(1), "batch")
		if err == nil && r.kept != nil {
			body := ""
			if r.kept.body != "" {
				body = `{"n":"` + r.kept.body + `"}`
			}
			err = failures.Append(r.application, r.start, r.id, r.kept.message, r.kept.method, r.kept.path, body, `{"model":"`+r.kept.query+`"}`, r.kept.note, "batch")
		}
		if err != nil {
			return err
		}
	}
	if err := failures.Send(); err != nil {
		return err
	}
	return batch.Send()
}

// question asks one random question and compares the answer.
func (o *oracle) question() {
	account := o.random.IntN(3) * o.random.IntN(2)
	query, start, end := o.days()
	list := o.accounts[account]
	if len(list) == 0 || o.random.IntN(6) == 0 {
		if o.random.IntN(2) == 0 {
			o.compare(account, "/overview", query, o.overview(account, start, end))
			return
		}
		page := 1 + o.random.IntN(3)
		query.Set("page", strconv.Itoa(page))
		o.compare(account, "", query, o.list(account, start, end, page))
		return
	}
	a := list[o.random.IntN(len(list))]
	one := "/" + a.id.String()
	if o.random.IntN(4) == 0 {
		o.compare(account, one, query, o.application(a, start, end))
		return
	}
	var ofModel *string
	if o.random.IntN(2) == 0 {
		ofModel = &[]string{"", "gpt", "claude", "rare", "never called"}[o.random.IntN(5)]
		query.Set("model", *ofModel)
	}
	result := []string{"", "", "success", "failure"}[o.random.IntN(4)]
	if result != "" {
		query.Set("result", result)
	}
	matching, _ := o.flow(a, start, end, ofModel, result)
	switch o.random.IntN(6) {
	case 0:
		o.compareText(account, one+"/calls.csv", query, o.export(a, start, end, ofModel, result))
	case 1:
		if len(matching) > 0 {
			o.compareFailure(account, one, matching[o.random.IntN(len(matching))])
		}
	default:
		last := (len(matching) + pageSize - 1) / pageSize
		page := []int{1, 2, max(last, 1), last + 1, 1 + o.random.IntN(last+1), 1 + o.random.IntN(last+1), 1<<31 - 1}[o.random.IntN(7)]
		query.Set("page", strconv.Itoa(page))
		o.compare(account, one+"/calls", query, o.calls(a, start, end, ofModel, result, page))
	}
}

// days draws a range as a client may ask for it, and tells which days it means.
func (o *oracle) days() (query url.Values, start, end string) {
	local := o.now.In(beijingZone)
	day := func(ago int) string { return local.AddDate(0, 0, -ago).Format(isoDay) }
	ago := []int{0, 1, -2, o.random.IntN(40), o.random.IntN(430)}[o.random.IntN(5)]
	length := []int{1, 2, 7, 30, 366, 1 + o.random.IntN(366)}[o.random.IntN(6)]
	switch o.random.IntN(8) {
	case 0:
		return url.Values{}, day(6), day(0)
	case 1:
		return url.Values{"end": {day(ago)}}, day(ago + 6), day(ago)
	case 2:
		return url.Values{"start": {day(length - 1)}}, day(length - 1), day(0)
	}
	return url.Values{"start": {day(ago + length - 1)}, "end": {day(ago)}}, day(ago + length - 1), day(ago)
}
