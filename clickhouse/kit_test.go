package clickhouse_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"callgate/clickhouse"
	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
)

// kit is the data team at work: known calls in Go and in ClickHouse, and the account that reads them.
type kit struct {
	t      *testing.T
	admin  driver.Conn
	reader *url.URL
	today  beijing.Day
	calls  []call // of existing applications
}

// call is one known call.
type call struct {
	application, user, id uuid.UUID
	start                 time.Time
	model                 string
	took                  uint32
	success, streamed     bool
	firstByte             *uint32
	endedBy, reason, code string
	status, upstream      uint16
	in, out               uint64
	message               string // kept of a failed call
	team, endUser         string // empty: none
	body, query, path     string // what no reader may see
	tokens
}

func (c call) day() beijing.Day { return beijing.DayOf(c.start) }

// secretText stands wherever the data team may not look.
const secretText = "not for data teams"

func newKit(t *testing.T) *kit {
	t.Helper()
	engines := embedded.Own(t)
	options, _, err := cluster.Parse(engines.ClickHouseURL())
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, today: beijing.Today(time.Now())}
	if k.admin, err = driver.Open(options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.admin.Close() })
	if k.reader, err = url.Parse(engines.ReaderURL()); err != nil {
		t.Fatal(err)
	}
	k.fill()
	return k
}

// fill writes calls of six applications of four owners over 45 days, those of one application deleted.
func (k *kit) fill() {
	k.t.Helper()
	random := rand.New(rand.NewPCG(uint64(k.today), 7))
	applications, owners := make([]uuid.UUID, 6), make([]uuid.UUID, 4)
	for _, ids := range [][]uuid.UUID{applications, owners} {
		for i := range ids {
			ids[i] = uuid.New()
		}
	}
	var all []call
	for i := range 2400 {
		of := random.IntN(len(applications))
		ago := random.IntN(45)
		switch {
		case of == 5:
			ago = 31 + random.IntN(14) // silent for a month
		case i%3 == 0:
			ago = random.IntN(9)
		}
		start := (k.today - beijing.Day(ago)).Start().Add(time.Duration(random.Int64N(int64(24 * time.Hour))))
		switch random.IntN(10) { // the edges of days
		case 0:
			start = beijing.DayOf(start).Start()
		case 1:
			start = beijing.DayOf(start).End().Add(-time.Millisecond)
		}
		c := randomCall(random, start.Truncate(time.Millisecond), ago)
		c.tokens = randomTokens(random, c, ago)
		c.application, c.user = applications[of], owners[of%len(owners)]
		all = append(all, c)
		if of != 4 {
			k.calls = append(k.calls, c)
		}
	}
	k.write(all)
	k.closeDays()
	if err := k.admin.Exec(k.t.Context(), "INSERT INTO deleted_applications (application_id, deleted_at) VALUES ($1, now64(3))", applications[4]); err != nil {
		k.t.Fatal(err)
	}
}

func randomCall(random *rand.Rand, start time.Time, ago int) call {
	c := call{id: uuid.New(), start: start, model: []string{"", "chat", "vision", "chat-large"}[random.IntN(4)],
		took: uint32(1 + random.IntN(200)*random.IntN(200)), success: true, status: 200, upstream: 200, endedBy: "complete",
		streamed: random.IntN(2) == 0, in: uint64(random.IntN(5000)), out: uint64(random.IntN(90000))}
	if c.model == "vision" && ago > 20 {
		c.model = "chat" // vision is new
	}
	if c.model == "chat-large" {
		c.took = 33<<(4+random.IntN(5)) - 1 // as far above the lower edge of its bucket as can be
	}
	if random.IntN(3) > 0 {
		first := c.took / 2
		c.firstByte = &first
	}
	c.team, c.endUser = []string{"", "ads", "web search"}[random.IntN(3)], []string{"", "ada", "eve", "bob"}[random.IntN(4)]
	failing := 5
	if ago == 0 {
		failing = 2 // a bad day
	}
	if random.IntN(failing) == 0 {
		c.success, c.body, c.query, c.path = false, secretText, secretText, secretText
		switch random.IntN(3) {
		case 0:
			c.status, c.upstream, c.reason, c.code = 429, []uint16{429, 503}[random.IntN(2)], "upstream_http_error", "upstream_status"
			c.message = []string{"quota exceeded", "try later", ""}[random.IntN(3)]
		case 1:
			c.status, c.endedBy, c.reason, c.code = 499, "client_abort", "interrupted", "client_closed"
		default:
			c.status, c.upstream, c.endedBy, c.reason, c.code = 403, 0, "denied", "permission_denied", "capability_unknown"
			c.message = "no such capability"
		}
	}
	return c
}

func (k *kit) write(calls []call) {
	k.t.Helper()
	ctx := driver.Context(context.Background(), driver.WithSettings(driver.Settings{"max_partitions_per_insert_block": 0}))
	batch, err := k.admin.PrepareBatch(ctx, `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success,
		streamed, first_byte_ms, ended_by, reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id,
		usage_state, upstream_model, input_tokens, output_tokens, cached_tokens, cache_write_tokens, `+"`tags.name`, `tags.value`, end_user)")
	if err != nil {
		k.t.Fatal(err)
	}
	failures, err := k.admin.PrepareBatch(ctx, `INSERT INTO call_failures (application_id, start_time, call_id, message, method, path, request_body, query,
		body_note, batch_id)`)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, c := range calls {
		names, values := []string{"feature"}, []string{"rag"}
		if c.team != "" {
			names, values = append(names, "team"), append(values, c.team)
		}
		err := batch.Append(c.application, c.start, c.id, c.user, c.model, c.took, c.status, c.success, c.streamed, c.firstByte, c.endedBy,
			c.reason, c.code, c.upstream, c.in, c.out, "batch", c.state, c.answered, c.input, c.output, c.cached, c.cacheWrite, names, values, c.endUser)
		if err == nil && !c.success && k.today-c.day() < 30 {
			err = failures.Append(c.application, c.start, c.id, c.message, "POST", c.path, c.body, c.query, "", "batch")
		}
		if err != nil {
			k.t.Fatal(err)
		}
	}
	for _, b := range []interface{ Send() error }{batch, failures} {
		if err := b.Send(); err != nil {
			k.t.Fatal(err)
		}
	}
}

// closeDays closes all days but today: one of them twice, for calls were late, and all exported again, as after a kill.
func (k *kit) closeDays() {
	k.t.Helper()
	closing := func(revision, more, first, last int) string {
		return fmt.Sprintf(`INSERT INTO days_closed (application_id, day, revision, user_id, closed_at, calls, successes, duration_ms, input_tokens, output_tokens, currencies, amounts)
			SELECT application_id, toDate(start_time) AS of, %d, any(user_id), now64(3), count() - %d, countIf(success), sum(duration_ms), sum(input_tokens), sum(output_tokens),
				['CNY', 'USD'], [toDecimal128(1, 10), toDecimal128(count(), 10) / 4] FROM calls WHERE of BETWEEN '%s' AND '%s' GROUP BY application_id, of`,
			revision, more, (k.today - beijing.Day(first)).String(), (k.today - beijing.Day(last)).String())
	}
	itself := fmt.Sprintf(`INSERT INTO days_closed (day, revision, missing_calls, missing_unknown) SELECT DISTINCT toDate(start_time) AS of, if(of = '%s', 2, 1),
		if(of = '%s', 3, 0), of = '%[2]s' FROM calls WHERE of < '%[3]s'`, (k.today - 3).String(), (k.today - 2).String(), k.today.String())
	for _, statement := range []string{closing(1, 1, 3, 3), closing(1, 0, 60, 4), closing(1, 0, 2, 1), closing(1, 0, 2, 1), closing(2, 0, 3, 3), itself} {
		ctx := driver.Context(k.t.Context(), driver.WithSettings(driver.Settings{"max_partitions_per_insert_block": 0}))
		if err := k.admin.Exec(ctx, statement); err != nil {
			k.t.Fatal(err)
		}
	}
}

// ask runs a query as the data team, with settings, and returns its lines.
func (k *kit) ask(query string, settings ...string) ([]string, error) {
	values := url.Values{"database": {strings.TrimPrefix(k.reader.Path, "/")}}
	for i := 0; i+1 < len(settings); i += 2 {
		values.Set(settings[i], settings[i+1])
	}
	request, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, "http://"+k.reader.Host+"/?"+values.Encode(), strings.NewReader(query))
	if err != nil {
		return nil, err
	}
	password, _ := k.reader.User.Password()
	request.SetBasicAuth(k.reader.User.Username(), password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s", body)
	}
	if len(body) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(body), "\n"), "\n"), nil
}

// zones are client zones on both sides of Beijing; none may shift a day.
var zones = []string{"Asia/Shanghai", "UTC", "America/Los_Angeles", "Pacific/Kiritimati", "Asia/Kathmandu"}

// TestTheDataTeamReadsWhatItsReadmeSays runs everything of the kit on one engine, as its account.
func TestTheDataTeamReadsWhatItsReadmeSays(t *testing.T) {
	k := newKit(t)
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("views have the documented columns", func(t *testing.T) { k.documented(t, string(readme)) })
	t.Run("questions have the right answers", func(t *testing.T) { k.questions(t, string(readme)) })
	t.Run("nothing else can be read", k.nothingElse)
	t.Run("limits hold", k.limits)
	t.Run("tools ask as they do by themselves", k.tools)
	t.Run("dashboard", k.dashboard)
	t.Run("dashboard of thousands of applications in a dozen tabs", k.manyTabs)
	if beijing.Today(time.Now()) != k.today {
		t.Log("midnight passed in Beijing during this test")
	}
}

// documented compares the README's tables with the views, word by word.
func (k *kit) documented(t *testing.T, readme string) {
	lines, err := k.ask(`SELECT '### ' || t.name || '\n\n' || t.comment || '.\n\n| column | type | meaning |\n|---|---|---|\n'
		|| (SELECT arrayStringConcat(groupArray('| ' || '` + "`' || name || '` | `' || type || '`" + ` | ' || comment || ' |\n')) FROM
			(SELECT * FROM system.columns WHERE database = currentDatabase() ORDER BY table, position) AS c WHERE c.table = t.name)
		FROM system.tables AS t WHERE t.database = currentDatabase() AND t.name LIKE 'live_%' FORMAT TabSeparatedRaw`)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(lines, "\n")
	sections := regexp.MustCompile(`(?s)### live_\w+\n.*?\|\n\n`).FindAllString(readme, -1)
	if len(sections) != len(clickhouse.ReaderGrants("callgate")) {
		t.Errorf("%d views are documented, %d granted", len(sections), len(clickhouse.ReaderGrants("callgate")))
	}
	for _, section := range sections {
		if !strings.Contains(all, strings.TrimSuffix(section, "\n")) {
			t.Errorf("not as it is:\n%s", section)
		}
	}
}

func (k *kit) questions(t *testing.T, readme string) {
	asked := regexp.MustCompile("(?s)\n### (\\d+)\\. ([^\n]+)\n.*?```sql\n(.*?)```").FindAllStringSubmatch(readme, -1)
	all := slices.Concat(answers, answersOfTokens)
	if len(asked) != len(all) || len(asked) < 24 {
		t.Fatalf("%d questions, %d answers", len(asked), len(all))
	}
	for i, question := range asked {
		want := all[i](k)
		equal := slices.Equal[[]string]
		if i+1 == 6 { // percentiles from buckets
			equal = near
		}
		if len(want) == 0 {
			t.Errorf("%s. %s: the known calls give no answer", question[1], question[2])
		}
		for _, zone := range zones {
			got, err := k.ask(k.priced(question[3]), "session_timezone", zone)
			if err != nil {
				t.Errorf("%s. %s: %v", question[1], question[2], err)
			} else if !equal(got, want) {
				t.Errorf("%s. %s, in %s:\n got %q\nwant %q", question[1], question[2], zone, got, want)
			}
		}
	}
}

// nothingElse tries every column of every table, granted or not.
func (k *kit) nothingElse(t *testing.T) {
	granted := strings.Join(clickhouse.ReaderGrants("callgate"), "\n")
	columns, err := columnsOf(t.Context(), k.admin)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, c := range columns {
		table, column := c[0], c[1]
		may := regexp.MustCompile(`\b` + column + `\b[^\n]*\) ON callgate\.` + table + `(\n|$)`).MatchString(granted)
		lines, err := k.ask(fmt.Sprintf("SELECT %s FROM %s LIMIT 5", column, table))
		if may != (err == nil) {
			t.Errorf("%s.%s: granted %v, but %v", table, column, may, err)
		}
		if err != nil {
			refused++
		}
		if strings.Contains(strings.Join(lines, "\n"), secretText) {
			t.Errorf("%s.%s shows what is no business of data teams", table, column)
		}
	}
	if refused < 40 {
		t.Errorf("only %d columns are refused", refused)
	}
	for _, statement := range []string{
		"INSERT INTO calls (model) VALUES ('x')", "ALTER TABLE calls DELETE WHERE 1", "DROP TABLE calls", "CREATE TABLE mine (a Int8) ENGINE = Memory",
		"SET readonly = 0", "SYSTEM FLUSH LOGS", "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')", "SELECT * FROM file('/etc/passwd', 'LineAsString')",
		"SELECT * FROM system.users", "SHOW CREATE TABLE call_failures", "GRANT SELECT ON callgate.calls TO callgate_reader",
	} {
		if _, err := k.ask(statement); err == nil {
			t.Errorf("may do: %s", statement)
		}
	}
}

func columnsOf(ctx context.Context, conn driver.Conn) (columns [][2]string, err error) {
	rows, err := conn.Query(ctx, `SELECT table, name FROM system.columns WHERE database = currentDatabase() AND table NOT LIKE 'calls_to_%' ORDER BY table, position`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c [2]string
		if err := rows.Scan(&c[0], &c[1]); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

func (k *kit) limits(t *testing.T) {
	for _, l := range clickhouse.ReaderLimits {
		got, err := k.ask(fmt.Sprintf("SELECT value, max FROM system.settings WHERE name = '%s'", l.Name))
		if want := fmt.Sprintf("%d\t%d", l.Value, l.Max()); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, %v, want %q", l.Name, got, err, want)
		}
		if _, err := k.ask("SELECT 1", l.Name, fmt.Sprint(l.Max()+1)); err == nil {
			t.Errorf("%s can be raised", l.Name)
		}
		if _, err := k.ask("SELECT 1", l.Name, "0"); err == nil {
			t.Errorf("%s can be lifted", l.Name)
		}
		if _, err := k.ask("SELECT 1", l.Name, fmt.Sprint(l.Value-1)); err != nil {
			t.Errorf("%s cannot be lowered: %v", l.Name, err)
		}
	}
	got, err := k.ask("SELECT max_queries, max_execution_time, max_read_rows FROM system.quota_usage")
	if want := fmt.Sprintf("%d\t%d\t%d", clickhouse.ReaderQuota[0].Value, clickhouse.ReaderQuota[1].Value, clickhouse.ReaderQuota[2].Value); err != nil || !slices.Equal(got, []string{want}) {
		t.Errorf("quota: %q, %v, want %q", got, err, want)
	}
}

// tools asks what Grafana, SQLAlchemy and their drivers ask unless they are told otherwise.
func (k *kit) tools(t *testing.T) {
	for _, grant := range clickhouse.ReaderGrants("callgate") {
		_, view, _ := strings.Cut(grant, " ON ")
		described, err := k.ask("DESCRIBE TABLE " + view)
		selected, wrong := k.ask("SELECT * FROM " + view + " LIMIT 0 FORMAT TabSeparatedWithNames")
		if err != nil || wrong != nil || len(selected) != 1 || len(described) != len(strings.Split(selected[0], "\t")) {
			t.Errorf("%s: described as %q, %v, its columns are %q, %v", view, described, err, selected, wrong)
		}
	}
	if _, err := k.ask("DESCRIBE TABLE calls"); err == nil {
		t.Error("a table that may not be read is described")
	}
	options, err := driver.ParseDSN(k.reader.String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := driver.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, deadline := range []time.Duration{30 * time.Second, 60 * time.Second, 110 * time.Second} {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		var n uint64
		if err := conn.QueryRow(ctx, "SELECT count() FROM live_calls").Scan(&n); err != nil || n == 0 {
			t.Errorf("with a deadline of %v: %d calls, %v", deadline, n, err)
		}
		cancel()
	}
	if lines, err := k.ask("SELECT 1 FROM numbers(1000000)"); err != nil || len(lines) != 1_000_000 {
		t.Errorf("a million rows: %d, %v", len(lines), err)
	}
	if _, err := k.ask("SELECT 1 FROM numbers(1000001)"); err == nil || !strings.Contains(err.Error(), "Limit for result exceeded, max rows: 1.00 million") {
		t.Errorf("a row more: %v", err)
	}
	if roles, err := k.ask("SELECT role_name FROM system.current_roles"); err != nil || !slices.Equal(roles, []string{clickhouse.ReaderRole}) {
		t.Errorf("the account's roles are %q, %v", roles, err)
	}
}

// TestTheDataTeamsAccountIsMadeByStatementsTheEngineKnows: the embedded engine keeps no accounts, so
// that what a server is told can only be read by its parser here.
func TestTheDataTeamsAccountIsMadeByStatementsTheEngineKnows(t *testing.T) {
	s := open(t)
	const password = "it's; \\ a -- password"
	statements := clickhouse.ReaderStatements("calls_of_a_company", password)
	for _, statement := range statements {
		if strings.Contains(statement, password) {
			t.Errorf("the password stands in %s", statement)
		}
		rows, err := s.conn.Query(t.Context(), "SELECT formatQuerySingleLine({statement:String})", driver.Named("statement", statement))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var understood string
			if err := rows.Scan(&understood); err != nil {
				t.Fatal(err)
			}
			if understood == "" {
				t.Errorf("nothing is understood of %s", statement)
			}
		}
		if err := rows.Err(); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
		_ = rows.Close()
	}
	all := strings.Join(statements, "\n")
	for _, grant := range clickhouse.ReaderGrants("calls_of_a_company") {
		if !strings.Contains(all, grant+" TO "+clickhouse.ReaderRole) {
			t.Errorf("%s is not among\n%s", grant, all)
		}
	}
}
