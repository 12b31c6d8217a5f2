package stats_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/application"
	"callgate/internal/calls/ledger"
	"callgate/internal/catalog"
	"callgate/internal/console"
	"callgate/internal/embedded"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/report"
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
	sessions []string    // by account
	owners   []uuid.UUID // by account
	desk     string      // an administrator's token

	credential string // a token, instead of an account's session
	asked      int
	cells      int
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
	o.openDesk(pool)
	o.fill(clickhouseURL, deleted)

	if zone := sessionZones[random.IntN(len(sessionZones))]; zone != "" {
		clickhouseURL = embedded.WithSettings(clickhouseURL, "?session_timezone="+url.QueryEscape(zone))
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
	people, err := identity.New(identity.Config{JWTSecret: make([]byte, 32), Pepper: make([]byte, 32), AdminEmails: []string{"root@example.com"}}, pool, mailer, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { people.Close(context.Background()) })
	app := fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, ErrorHandler: console.Fail(log)})
	reports := report.New(report.Deps{
		Applications: store, Catalog: catalog.New(pool, ring, true), Pricing: pricing.New(pool), Stats: reader, Ledger: ledger.New(pool), Now: clock,
	})
	console.New(console.Deps{
		EndUserHash: secret.Pepper("oracle").EndUser,
		Identity:    people, Applications: store, Catalog: catalog.New(pool, ring, true), Pricing: pricing.New(pool), Limits: limits.New(pool), Pool: pool, Stats: reader,
		Ledger: ledger.New(pool), Report: reports, Now: clock, Logger: log,
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

// question asks one random question and compares the answer.
func (o *oracle) question() {
	account := o.random.IntN(3) * o.random.IntN(2)
	query, start, end := o.days()
	list := o.accounts[account]
	switch o.random.IntN(8) {
	case 0, 7:
		o.askFigures(query, start, end)
		return
	case 1, 2:
		o.why(account, query, start, end)
		return
	}
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
	n := o.narrow(query, start, end, result)
	if o.random.IntN(3) == 0 {
		o.several(account, query, start, end, ofModel, result, n)
		return
	}
	only := []registered{a}
	matching, _ := o.flow(only, start, end, ofModel, result, n)
	switch o.random.IntN(6) {
	case 0:
		o.compareText(account, one+"/calls.csv", query, o.export(only, false, start, end, ofModel, result, n))
	case 1:
		if len(matching) > 0 {
			o.compareFailure(account, one, matching[o.random.IntN(len(matching))])
		}
	default:
		last := (len(matching) + pageSize - 1) / pageSize
		page := []int{1, 2, max(last, 1), last + 1, 1 + o.random.IntN(last+1), 1 + o.random.IntN(last+1), 1<<31 - 1}[o.random.IntN(7)]
		query.Set("page", strconv.Itoa(page))
		o.compare(account, one+"/calls", query, o.calls(only, start, end, ofModel, result, n, page, pageSize))
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
