package console

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/openapi"
)

// class is whom a route answers.
type class int

const (
	public       class = iota // anybody, whatever credential comes along
	signedIn                  // user JWT
	developer                 // user JWT or a management token of full access
	reading                   // user JWT or any management token
	reader                    // user JWT, any management token or the login session
	backOffice                // administrator's JWT
	session                   // login session cookie
	adminSession              // administrator's session cookie
)

// route is one line of the matrix: what the right principal gets is a status (200, 201) or a code.
type route struct {
	method, path string
	class        class
	body         string
	right        int
}

// matrix is every route of the management interface. {app}, {key}, {call}, {token} and {session} are objects of the
// right user, made afresh for each line.
var matrix = []route{
	{"GET", "/api/config", public, "", 200},
	{"POST", "/api/auth/code", public, `{}`, 40001},
	{"POST", "/api/auth/login", public, `{}`, 40001},
	{"GET", "/api/auth/oidc/login", public, "", 40401}, // not configured here
	{"GET", "/api/auth/oidc/callback", public, "", 40401},
	{"POST", "/api/admin/auth/code", public, `{}`, 40001},
	{"POST", "/api/admin/auth/login", public, `{}`, 40001},

	{"POST", "/api/auth/token", session, "", 200},
	{"POST", "/api/auth/logout", session, "", 200},
	{"POST", "/api/admin/auth/token", adminSession, "", 200},
	{"POST", "/api/admin/auth/logout", adminSession, "", 200},

	{"GET", "/api/auth/me", reader, "", 200},
	{"GET", "/api/auth/sessions", signedIn, "", 200},
	{"DELETE", "/api/auth/sessions/{session}", signedIn, "", 200},

	{"GET", "/api/tokens", signedIn, "", 200},
	{"POST", "/api/tokens", signedIn, `{"name":"Script","access":"full","expiresAt":"{soon}"}`, 201},
	{"DELETE", "/api/tokens/{token}", signedIn, "", 200},

	{"GET", "/api/applications", reading, "", 200},
	{"POST", "/api/applications", developer, `{"name":"New"}`, 201},
	{"GET", "/api/applications/{app}", reading, "", 200},
	{"PATCH", "/api/applications/{app}", developer, `{"name":"Renamed"}`, 200},
	{"DELETE", "/api/applications/{app}", developer, "", 200},
	{"GET", "/api/applications/{app}/access-key", developer, "", 200},
	{"POST", "/api/applications/{app}/access-key/rotate", developer, "", 200},
	{"GET", "/api/applications/{app}/keys", reading, "", 200},
	{"POST", "/api/applications/{app}/keys", developer, `{"name":"More","limits":{"callsPerDay":5}}`, 201},
	{"PATCH", "/api/applications/{app}/keys/{key}", developer, `{"name":"Renamed","limits":{"callsPerDay":6,"concurrency":null}}`, 200},
	{"DELETE", "/api/applications/{app}/keys/{key}", developer, "", 200},
	{"GET", "/api/applications/{app}/keys/{key}/secret", developer, "", 200},
	{"PATCH", "/api/applications/{app}/status", developer, `{"status":"disabled"}`, 200},
	{"PATCH", "/api/applications/{app}/limits", developer, `{"requestsPerMinute":5}`, 200},
	{"GET", "/api/applications/{app}/limits/usage", reading, "", 200},
	{"GET", "/api/applications/{app}/budgets", reading, "", 200},
	{"PUT", "/api/applications/{app}/budgets", developer, `{"budgets":[{"period":"day","amount":"5","currency":"USD","action":"block"}]}`, 200},
	{"POST", "/api/applications/{app}/budgets/{budget}/override", developer, `{"amount":"9","until":"{soon}","reason":"why"}`, 200},
	{"DELETE", "/api/applications/{app}/budgets/{budget}/override", developer, "", 200},
	{"GET", "/api/applications/{app}/keys/{key}/budgets", reading, "", 200},
	{"PUT", "/api/applications/{app}/keys/{key}/budgets", developer, `{"budgets":[{"period":"month","amount":"5","currency":"USD","action":"warn"}]}`, 200},
	{"GET", "/api/budgets", reading, "", 200},
	{"PATCH", "/api/applications/{app}/capabilities/gpt", developer, "", 200},

	{"GET", "/api/capabilities", reading, "", 200},
	{"GET", "/api/capabilities/groups", reading, "", 200},
	{"GET", "/api/capabilities/gpt", reading, "", 200},
	{"GET", "/api/capabilities/gpt/applications", reading, "", 200},

	{"GET", "/api/views", reading, "", 200},
	{"POST", "/api/views", developer, `{}`, 40001},
	{"DELETE", "/api/views/{view}", developer, "", 200},

	{"GET", "/api/alerts", reading, "", 200},
	{"POST", "/api/alerts", developer, `{}`, 40001},
	{"POST", "/api/alerts/preview", reading, `{"kind":"dayClosed","targetType":"account"}`, 200},
	{"PATCH", "/api/alerts/{alert}", developer, `{"threshold":30}`, 200},
	{"POST", "/api/alerts/{alert}/test", developer, "", 200},
	{"GET", "/api/alerts/{alert}/deliveries", reading, "", 200},
	{"POST", "/api/alerts/{alert}/deliveries/{delivery}/resend", developer, "", 200},
	{"GET", "/api/alerts/{alert}/channels/{channel}/secret", developer, "", 200},
	{"POST", "/api/alerts/{alert}/channels/{channel}/rotate-secret", developer, "", 200},
	{"DELETE", "/api/alerts/{alert}", developer, "", 200},

	{"GET", "/api/calls", reader, "", 40001}, // of which trace
	{"GET", "/api/calls/{call}", reader, "", 200},
	{"GET", "/api/statistics/applications", reader, "", 200},
	{"GET", "/api/statistics/applications/overview", reader, "", 200},
	{"GET", "/api/statistics/applications/overview/reasons", reader, "", 200},
	{"GET", "/api/statistics/applications/overview/hourly", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/reasons", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/hourly", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/keys", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/calls", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/calls.csv", reader, "", 200},
	{"GET", "/api/statistics/calls", reader, "", 200},
	{"GET", "/api/statistics/calls.csv", reader, "", 200},
	{"GET", "/api/statistics/calls/facets", reader, "", 200},
	{"GET", "/api/statistics/calls/messages", reader, "", 200},
	{"GET", "/api/statistics/explore", reader, "", 200},
	{"GET", "/api/statistics/explore.csv", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/calls/{call}", reader, "", 200},

	{"GET", "/api/admin/groups", backOffice, "", 200},
	{"POST", "/api/admin/groups", backOffice, `{"id":"made","name":"Made"}`, 201},
	{"PUT", "/api/admin/groups/order", backOffice, `{"ids":["g","made"]}`, 200},
	{"GET", "/api/admin/groups/g", backOffice, "", 200},
	{"PATCH", "/api/admin/groups/g", backOffice, `{"name":"Renamed"}`, 200},
	{"GET", "/api/admin/capabilities", backOffice, "", 200},
	{"POST", "/api/admin/capabilities", backOffice, `{"id":"made","name":"Made","groupId":"g","upstreamBaseUrl":"https://upstream.example","upstreamKey":"sk-made"}`, 201},
	{"PUT", "/api/admin/capabilities/order", backOffice, `{"groupId":"g","ids":["gpt","made"]}`, 200},
	{"POST", "/api/admin/capabilities/check", backOffice, `{"upstreamBaseUrl":"http://127.0.0.1:1","upstreamKey":"sk-check"}`, 200},
	{"GET", "/api/admin/capabilities/gpt", backOffice, "", 200},
	{"PATCH", "/api/admin/capabilities/gpt", backOffice, `{"description":"Changed"}`, 200},
	{"PATCH", "/api/admin/capabilities/gpt/status", backOffice, `{"status":"enabled"}`, 200},
	{"GET", "/api/admin/upstreams", backOffice, "", 200},
	{"POST", "/api/admin/upstreams", backOffice, `{"id":"made","name":"Made","baseUrl":"https://upstream.example","key":"sk-made","skipCheck":true}`, 201},
	{"GET", "/api/admin/upstreams/shared", backOffice, "", 200},
	{"PATCH", "/api/admin/upstreams/shared", backOffice, `{"name":"Renamed"}`, 200},
	{"DELETE", "/api/admin/upstreams/spare", backOffice, "", 200},
	{"POST", "/api/admin/upstreams/shared/check", backOffice, `{}`, 200},
	{"POST", "/api/admin/upstreams/shared/restore-key", backOffice, "", 200},
	{"GET", "/api/admin/statistics/overview", backOffice, "", 200},
	{"GET", "/api/admin/statistics/capabilities", backOffice, "", 200},
	{"GET", "/api/admin/statistics/capabilities/gpt", backOffice, "", 200},
	{"GET", "/api/admin/statistics/owners", backOffice, "", 200},
	{"GET", "/api/admin/statistics/applications", backOffice, "", 200},
	{"GET", "/api/admin/statistics/upstreams", backOffice, "", 200},
	{"GET", "/api/admin/statistics/explore", backOffice, "", 200},
	{"GET", "/api/admin/statistics/explore.csv", backOffice, "", 200},
	{"GET", "/api/admin/statistics/reconcile?month=2026-08", backOffice, "", 200},
	{"POST", "/api/admin/statistics/reconcile?month=2026-08", backOffice, "date,model,cost,currency\n2026-08-01,gpt,1,USD\n", 200},
	{"GET", "/api/admin/prices", backOffice, "", 200},
	{"PUT", "/api/admin/prices", backOffice, `{"capabilityId":"gpt","from":"2026-01-01","currency":"USD","input":"2","output":"8"}`, 200},
	{"GET", "/api/admin/prices/suggestions", backOffice, "", 40001}, // of which capability
	{"GET", "/api/admin/prices/unpriced", backOffice, "", 200},
	{"DELETE", "/api/admin/prices/" + gptPrice, backOffice, "", 200},
	{"GET", "/api/admin/prices/believed", backOffice, "", 200},
	{"POST", "/api/admin/prices/believed", backOffice, `{"capabilityId":"gpt","believed":true}`, 200},
	{"GET", "/api/admin/rates", backOffice, "", 200},
	{"PUT", "/api/admin/rates", backOffice, `{"currency":"USD","toCurrency":"CNY","from":"2026-01-01","rate":"7.1"}`, 200},
	{"DELETE", "/api/admin/rates/" + yuanRate, backOffice, "", 200},
	{"GET", "/api/admin/limits", backOffice, "", 200},
	{"PUT", "/api/admin/limits", backOffice, `{"scope":"all","tokensPerDay":1000000}`, 200},
	{"GET", "/api/admin/budgets", backOffice, "", 200},
	{"PUT", "/api/admin/budgets", backOffice, `{"scope":"capability","capabilityId":"gpt","budgets":[{"period":"month","amount":"5","currency":"USD","action":"block"}]}`, 200},
	{"GET", "/api/admin/budgets/uncovered", backOffice, "", 200},
	{"POST", "/api/admin/budgets/" + gptBudget + "/override", backOffice, `{"amount":"9","until":"{soon}","reason":"why"}`, 200},
	{"DELETE", "/api/admin/budgets/" + gptBudget + "/override", backOffice, "", 200},
	{"GET", "/api/admin/alerts", backOffice, "", 200},
	{"POST", "/api/admin/alerts", backOffice, `{"name":"GPT","kind":"p95","targetType":"capability","targetId":"gpt","threshold":5000,"channels":[{"kind":"mail"}]}`, 201},
	{"PATCH", "/api/admin/alerts/" + deskAlert, backOffice, `{"threshold":30}`, 200},
	{"POST", "/api/admin/alerts/" + deskAlert + "/test", backOffice, "", 200},
	{"GET", "/api/admin/alerts/" + deskAlert + "/deliveries", backOffice, "", 200},
	{"POST", "/api/admin/alerts/" + deskAlert + "/deliveries/" + deskDelivery + "/resend", backOffice, "", 200},
	{"GET", "/api/admin/alerts/" + deskAlert + "/channels/" + deskChannel + "/secret", backOffice, "", 200},
	{"POST", "/api/admin/alerts/" + deskAlert + "/channels/" + deskChannel + "/rotate-secret", backOffice, "", 200},
	{"DELETE", "/api/admin/alerts/" + deskAlert, backOffice, "", 200},
	{"GET", "/api/admin/applications", backOffice, "", 200},
	{"PATCH", "/api/admin/applications/{app}/status", backOffice, `{"status":"disabled","reason":"why"}`, 200},
	{"PATCH", "/api/admin/applications/{app}/owner", backOffice, `{"owner":"right@example.com"}`, 200},
	{"GET", "/api/admin/users", backOffice, "", 200},
	{"DELETE", "/api/admin/users/" + heldUser + "/sessions", backOffice, "", 200},
	{"GET", "/api/admin/calls", backOffice, "", 40001}, // of which trace
	{"GET", "/api/admin/calls/{call}", backOffice, "", 200},
	{"GET", "/api/admin/audit", backOffice, "", 200},
	{"GET", "/api/admin/audit.csv", backOffice, "", 200},
	{"GET", "/api/admin/days", backOffice, "", 200},
	{"GET", "/api/admin/spools", backOffice, "", 200},
	{"POST", "/api/admin/spools/" + lostSpool + "/retire", backOffice, "", 200},
}

// owned tells whether the path names an object that belongs to one user, and is for that user.
func (r route) owned() bool { return strings.Contains(r.path, "{") && r.class != backOffice }

func TestEveryRouteAnswersEveryCredentialAsTheContractSays(t *testing.T) {
	c := newCrowd(t)
	seen := 0
	for _, r := range matrix {
		p := c.place(r)
		attempts := c.attempts(p)
		full := len(attempts) - 1
		for i, a := range attempts {
			if i == full && r.class == developer { // the one before may have changed what is there
				p = c.place(r)
			}
			if a.want == 200 && strings.Contains(r.path, "logout") && a.value == cookieWith(sessionCookie, c.other.SessionToken).value {
				continue // would end the session that the other lines need
			}
			status, code := a.want, 0
			if a.want > 999 {
				status, code = a.want/100, a.want
			}
			got := c.ask(r.method, p.target(itself), p.body, a.credential)
			if got.status != status || got.body.Code != code || got.header.Get("X-Request-Id") == "" {
				t.Errorf("%s %s with %s: %d %s, want %d", r.method, r.path, a.name, got.status, got.raw, a.want)
			}
			seen++
		}
	}
	t.Logf("%d routes, %d answers", len(matrix), seen)
}

// TestTheMatrixHasEveryRoute reads the routes that are really served, so that a new one must be judged.
func TestTheMatrixHasEveryRoute(t *testing.T) {
	app := fiber.New()
	New(Deps{}).Register(app)
	served := map[string]bool{}
	for _, r := range app.GetRoutes(true) {
		if strings.HasPrefix(r.Path, "/api/") && r.Method != fiber.MethodHead {
			served[r.Method+" "+r.Path] = true
		}
	}
	for pattern := range served {
		if lines := linesOf(pattern, served); len(lines) != 1 {
			t.Errorf("%s is served and has %d lines in the matrix, want 1", pattern, len(lines))
		}
	}
	if len(served) != len(matrix) {
		t.Errorf("%d routes are served, the matrix has %d lines", len(served), len(matrix))
	}
}

// linesOf are the lines of the matrix for one of the routes that are served.
func linesOf(pattern string, served map[string]bool) (lines []route) {
	method, path, _ := strings.Cut(pattern, " ")
	for _, r := range matrix {
		if r.resource() != path && served[method+" "+r.resource()] {
			continue // has a route of its own, such as overview beside :id
		}
		if r.method == method && r.matches(path) {
			lines = append(lines, r)
		}
	}
	return lines
}

// TestTheContractNamesTheCredentialsThatEachRouteTakes holds openapi.yaml against the matrix.
func TestTheContractNamesTheCredentialsThatEachRouteTakes(t *testing.T) {
	wants := map[class]string{
		public: `[]`, signedIn: `[{"userToken":[]}]`, developer: `[{"userToken":[]},{"managementToken":["full"]}]`,
		reading: `[{"userToken":[]},{"managementToken":["read"]}]`, reader: `[{"userToken":[]},{"managementToken":["read"]},{"session":[]}]`,
		backOffice: `[{"adminToken":[]}]`, session: `[{"session":[]}]`, adminSession: `[{"adminSession":[]}]`,
	}
	byDefault := openapi.Tree()["security"]
	operations, served := documented.Operations("/api/"), map[string]bool{}
	pattern := func(op openapi.Operation) string {
		return op.Method + " " + placeholder.ReplaceAllString(op.Path, ":$1")
	}
	for _, op := range operations {
		served[pattern(op)] = true
	}
	for _, op := range operations {
		security, own := op.Node["security"]
		if !own {
			security = byDefault
		}
		told, err := json.Marshal(security)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range linesOf(pattern(op), served) {
			if string(told) != wants[r.class] {
				t.Errorf("%s %s says %s, the matrix %s", op.Method, op.Path, told, wants[r.class])
			}
		}
	}
}

// resource is the path of a line without its query.
func (r route) resource() string {
	path, _, _ := strings.Cut(r.path, "?")
	return path
}

var (
	parameter   = regexp.MustCompile(`:([A-Za-z]+)`)
	placeholder = regexp.MustCompile(`{([A-Za-z]+)}`)
)

func (r route) matches(pattern string) bool {
	return regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+") + "$").MatchString(r.resource())
}

// TestForeignObjectsAnswerAsAbsentAndMalformedOnes compares answers byte for byte but for the request
// id.
func TestForeignObjectsAnswerAsAbsentAndMalformedOnes(t *testing.T) {
	c := newCrowd(t)
	compared := 0
	compare := func(method, foreign, absent, body string, with credential) {
		t.Helper()
		a, b := c.ask(method, foreign, body, with), c.ask(method, absent, body, with)
		if a.body.RequestID == "" || a.body.RequestID == b.body.RequestID {
			t.Errorf("%s %s: request ids %q and %q", method, foreign, a.body.RequestID, b.body.RequestID)
		}
		if one, other := a.withoutID(), b.withoutID(); a.status != 404 || one != other {
			t.Errorf("%s %s:\n%s\n%s:\n%s", method, foreign, one, absent, other)
		}
		compared++
	}
	elsewhere := func(string) string { return uuid.Must(uuid.NewV7()).String() }
	for _, r := range matrix {
		if !r.owned() {
			continue
		}
		credentials := []credential{bearerOf(c.other.Token.Value)}
		if r.class != signedIn {
			credentials = append(credentials, bearerOf(c.otherFull))
		}
		if r.class == reader {
			credentials = append(credentials, cookieWith(sessionCookie, c.other.SessionToken))
		}
		p := c.place(r)
		for _, with := range credentials {
			foreign := p.target(itself)
			compare(r.method, foreign, p.target(elsewhere), p.body, with)
			for _, malformed := range []string{"x", "0", "%00", "urn:uuid:" + uuid.NewString(), strings.ReplaceAll(uuid.NewString(), "-", "")} {
				compare(r.method, foreign, p.target(func(string) string { return malformed }), p.body, with)
			}
		}
		after := c.rightClient.must(200, "GET", "/api/applications/"+p.app, "")
		if field[string](t, after, "name") != "Own" || field[string](t, after, "status") != "active" {
			t.Errorf("%s %s by another user changed the application: %s", r.method, r.path, after.raw)
		}
	}

	// A key of somebody else's under an application of one's own.
	foreign := c.place(route{path: "{key}"}).replacement["{key}"]
	mine := "/api/applications/" + c.application(c.otherClient, "Mine") + "/keys/"
	nobodys := uuid.Must(uuid.NewV7()).String()
	for _, with := range []struct{ method, after, body string }{{"PATCH", "", `{"name":"x"}`}, {"PATCH", "", `{"limits":{"callsPerDay":0}}`}, {"DELETE", "", ""}, {"GET", "/secret", ""}} {
		compare(with.method, mine+foreign+with.after, mine+nobodys+with.after, with.body, bearerOf(c.other.Token.Value))
	}

	// A budget and a key's budgets of somebody else's, likewise.
	theirBudget, budgets := c.place(route{path: "{budget}"}).replacement["{budget}"], strings.TrimSuffix(mine, "keys/")+"budgets/"
	soon := time.Now().Add(time.Hour).Format(time.RFC3339)
	for _, with := range []struct{ method, body string }{{"POST", `{"amount":"9","until":"` + soon + `","reason":"x"}`}, {"DELETE", ""}} {
		compare(with.method, budgets+theirBudget+"/override", budgets+nobodys+"/override", with.body, bearerOf(c.other.Token.Value))
	}
	for _, with := range []struct{ method, body string }{{"GET", ""}, {"PUT", `{"budgets":[{"period":"day","amount":"1","currency":"USD","action":"block"}]}`}} {
		compare(with.method, mine+foreign+"/budgets", mine+nobodys+"/budgets", with.body, bearerOf(c.other.Token.Value))
	}

	// A delivery and a channel of somebody else's under an alert of one's own.
	foreignAlert := c.place(route{path: "{alert}{delivery}"}).replacement
	own, _, _ := c.watch(c.otherClient, c.application(c.otherClient, "Mine"))
	for _, part := range [][3]string{{"POST", "/deliveries/", "/resend"}, {"GET", "/channels/", "/secret"}, {"POST", "/channels/", "/rotate-secret"}} {
		theirs := foreignAlert["{channel}"]
		if part[1] == "/deliveries/" {
			theirs = foreignAlert["{delivery}"]
		}
		at := "/api/alerts/" + own + part[1]
		compare(part[0], at+theirs+part[2], at+nobodys+part[2], "", bearerOf(c.other.Token.Value))
	}

	// A call of somebody else's under an application of one's own.
	theirs := c.called(c.place(matrix[0]).app, "gpt", time.Minute, 10, 502).String()
	own = c.application(c.otherClient, "Mine")
	under := "/api/statistics/applications/" + own + "/calls/"
	compare("GET", under+theirs, under+uuid.Must(uuid.NewV7()).String(), "", bearerOf(c.other.Token.Value))
	t.Logf("%d pairs of answers compared", compared)
}

// withoutID is the whole answer but for what differs between any two: the request id and the time.
func (a answer) withoutID() string {
	header := a.header.Clone()
	header.Del("X-Request-Id")
	header.Del("Date")
	return fmt.Sprintln(a.status, header, strings.ReplaceAll(a.raw, a.body.RequestID, ""))
}
