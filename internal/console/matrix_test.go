package console

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"callgate/internal/identity"
)

// class is whom a route answers (api.md, "Sign-in").
type class int

const (
	public       class = iota // anybody, whatever credential comes along
	developer                 // user JWT
	reader                    // user JWT or the login session
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

// matrix is every route of the management interface. {app}, {call} and {session} are objects of the
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
	{"GET", "/api/auth/sessions", developer, "", 200},
	{"DELETE", "/api/auth/sessions/{session}", developer, "", 200},

	{"GET", "/api/applications", developer, "", 200},
	{"POST", "/api/applications", developer, `{"name":"New"}`, 201},
	{"GET", "/api/applications/{app}", developer, "", 200},
	{"PATCH", "/api/applications/{app}", developer, `{"name":"Renamed"}`, 200},
	{"DELETE", "/api/applications/{app}", developer, "", 200},
	{"GET", "/api/applications/{app}/access-key", developer, "", 200},
	{"POST", "/api/applications/{app}/access-key/rotate", developer, "", 200},
	{"PATCH", "/api/applications/{app}/status", developer, `{"status":"disabled"}`, 200},
	{"PATCH", "/api/applications/{app}/capabilities/gpt", developer, "", 200},

	{"GET", "/api/capabilities", developer, "", 200},
	{"GET", "/api/capabilities/groups", developer, "", 200},
	{"GET", "/api/capabilities/gpt", developer, "", 200},
	{"GET", "/api/capabilities/gpt/applications", developer, "", 200},

	{"GET", "/api/statistics/applications", reader, "", 200},
	{"GET", "/api/statistics/applications/overview", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/calls", reader, "", 200},
	{"GET", "/api/statistics/applications/{app}/calls.csv", reader, "", 200},
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
	{"GET", "/api/admin/audit", backOffice, "", 200},
}

// owned tells whether the path names an object that belongs to one user.
func (r route) owned() bool { return strings.Contains(r.path, "{") }

// credential is what a request carries; the zero value carries nothing.
type credential struct{ header, value string }

func bearerOf(token string) credential { return credential{"Authorization", "Bearer " + token} }
func cookieWith(name, value string) credential {
	return credential{"Cookie", name + "=" + value}
}

// crowd is everybody who may come to the door, with what they carry.
type crowd struct {
	*watcher
	right, other, desk           identity.SignIn
	ended, endedDesk             identity.SignIn
	rightClient, otherClient     *client
	expired, misdirected, silent string // tokens of the right user, properly signed
	expiredDesk                  string
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	w := newWatcher(t)
	w.seed("gpt")
	c := &crowd{watcher: w}
	c.right, c.other = w.session(identity.Developer, "right@example.com"), w.session(identity.Developer, "other@example.com")
	c.desk = w.session(identity.Admin, managingAdmin)
	c.ended, c.endedDesk = w.session(identity.Developer, "right@example.com"), w.session(identity.Admin, managingAdmin)
	for audience, in := range map[identity.Audience]identity.SignIn{identity.Developer: c.ended, identity.Admin: c.endedDesk} {
		if err := w.identity.LogOut(t.Context(), audience, in.SessionToken); err != nil {
			t.Fatal(err)
		}
	}
	c.rightClient, c.otherClient = &client{w.manager, c.right.Token.Value}, &client{w.manager, c.other.Token.Value}
	past := time.Now().Add(-time.Minute).Unix()
	c.expired = resigned(t, c.right.Token.Value, jwt.MapClaims{"exp": past, "iat": past - 3600})
	c.expiredDesk = resigned(t, c.desk.Token.Value, jwt.MapClaims{"exp": past, "iat": past - 3600})
	c.misdirected = resigned(t, c.right.Token.Value, jwt.MapClaims{"aud": "another-service"})
	c.silent = resigned(t, c.right.Token.Value, jwt.MapClaims{"exp": nil})
	return c
}

// resigned is a token with some claims changed (nil: dropped), signed under the service's own secret.
func resigned(t *testing.T, token string, changes jwt.MapClaims) string {
	t.Helper()
	claims := jwt.MapClaims{}
	parsed, _, err := jwt.NewParser().ParseUnverified(token, claims)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	signed, err := parsed.SignedString([]byte(strings.Repeat("s", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// placed is a line of the matrix with objects of its own.
type placed struct {
	route
	accessKey   string
	app         string
	spare       identity.SignIn // a session of the right user that this line may end
	spareDesk   identity.SignIn
	replacement map[string]string
}

func (c *crowd) place(r route) placed {
	c.t.Helper()
	made := c.rightClient.must(201, "POST", "/api/applications", `{"name":"Own"}`)
	p := placed{route: r, app: field[string](c.t, made, "id"), accessKey: field[string](c.t, made, "accessKey")}
	p.spare, p.spareDesk = c.right, c.desk
	if strings.Contains(r.path, "logout") || strings.Contains(r.path, "{session}") {
		p.spare, p.spareDesk = c.session(identity.Developer, "right@example.com"), c.session(identity.Admin, managingAdmin)
	}
	p.replacement = map[string]string{"{app}": p.app, "{session}": p.spare.Principal.SessionID.String()}
	if strings.Contains(r.path, "{call}") {
		p.replacement["{call}"] = c.called(p.app, "gpt", time.Minute, 10, 502).String()
	}
	return p
}

// target is the path with the objects of the line, or with what change makes of their ids.
func (p placed) target(change func(id string) string) string {
	path := p.path
	for name, id := range p.replacement {
		path = strings.ReplaceAll(path, name, change(id))
	}
	return path
}

func itself(id string) string { return id }

type attempt struct {
	name string
	credential
	want int // status or code
}

// attempts are all credentials with what each must get. The one that may change something is last.
func (c *crowd) attempts(p placed) []attempt {
	const missing, bad, notAdmin = 40101, 40102, 40301
	foreign := p.right
	if p.owned() {
		foreign = 40401
	}
	// What credentials of each kind get by the class of the route, in the order of the classes.
	by := func(public, developer, reader, backOffice, session, adminSession int) int {
		return []int{public, developer, reader, backOffice, session, adminSession}[p.class]
	}
	tokenless := by(p.right, missing, missing, missing, missing, missing)
	badToken := by(p.right, bad, bad, bad, missing, missing)
	return []attempt{
		{"no credential", credential{}, tokenless},
		{"an empty Authorization", credential{"Authorization", "Bearer "}, by(p.right, bad, bad, bad, missing, missing)},
		{"Basic", credential{"Authorization", "Basic dXNlcjpwYXNz"}, badToken},
		{"an Access Key", bearerOf(p.accessKey), badToken},
		{"an Access Key as session", cookieWith(sessionCookie, p.accessKey), by(p.right, missing, bad, missing, bad, missing)},
		{"an expired token", bearerOf(c.expired), badToken},
		{"an expired administrator's token", bearerOf(c.expiredDesk), badToken},
		{"a token for another service", bearerOf(c.misdirected), badToken},
		{"a token without an end", bearerOf(c.silent), badToken},
		{"a token of an ended session", bearerOf(c.ended.Token.Value), badToken},
		{"an administrator's token of an ended session", bearerOf(c.endedDesk.Token.Value), badToken},
		{"an ended session", cookieWith(sessionCookie, c.ended.SessionToken), by(p.right, missing, bad, missing, bad, missing)},
		{"an ended administrator's session", cookieWith(adminSessionCookie, c.endedDesk.SessionToken), by(p.right, missing, missing, missing, missing, bad)},
		{"an administrator's session under the other name", cookieWith(sessionCookie, c.desk.SessionToken), by(p.right, missing, bad, missing, bad, missing)},
		{"a developer's session under the other name", cookieWith(adminSessionCookie, c.right.SessionToken), by(p.right, missing, missing, missing, missing, bad)},
		{"another user", bearerOf(c.other.Token.Value), by(p.right, foreign, foreign, notAdmin, missing, missing)},
		{"another user's session", cookieWith(sessionCookie, c.other.SessionToken), by(p.right, missing, foreign, missing, p.right, missing)},
		{"the right session", cookieWith(sessionCookie, p.spare.SessionToken), by(p.right, missing, p.right, missing, p.right, missing)},
		{"the administrator's session", cookieWith(adminSessionCookie, p.spareDesk.SessionToken), by(p.right, missing, missing, missing, missing, p.right)},
		{"the administrator", bearerOf(c.desk.Token.Value), by(p.right, bad, bad, p.right, missing, missing)},
		{"the right user", bearerOf(c.right.Token.Value), by(p.right, p.right, p.right, notAdmin, missing, missing)},
	}
}

// answer is a response as it came.
type answer struct {
	status int
	raw    string
	header http.Header
	body   struct {
		Code      int
		RequestID string
	}
}

func (c *crowd) ask(method, path, body string, with credential) answer {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if with.header != "" {
		request.Header.Set(with.header, with.value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	a := answer{status: response.StatusCode, raw: string(raw), header: response.Header}
	if response.Header.Get("Content-Type") == fiber.MIMEApplicationJSON {
		if err := json.Unmarshal(raw, &a.body); err != nil {
			c.t.Fatalf("%s %s: %s: %v", method, path, raw, err)
		}
	}
	return a
}

func TestEveryRouteAnswersEveryCredentialAsTheContractSays(t *testing.T) {
	c := newCrowd(t)
	seen := 0
	for _, r := range matrix {
		p := c.place(r)
		for _, a := range c.attempts(p) {
			if a.want == 200 && strings.Contains(r.path, "logout") && a.value == cookieWith(sessionCookie, c.other.SessionToken).value {
				continue // would end the session that the other lines need
			}
			status, code := a.want, 0
			if a.want > 999 {
				status, code = a.want/100, a.want
			}
			got := c.ask(r.method, p.target(itself), r.body, a.credential)
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
		method, path, _ := strings.Cut(pattern, " ")
		lines := 0
		for _, r := range matrix {
			if r.path != path && served[method+" "+r.path] {
				continue // has a route of its own, such as overview beside :id
			}
			if r.method == method && r.matches(path) {
				lines++
			}
		}
		if lines != 1 {
			t.Errorf("%s is served and has %d lines in the matrix, want 1", pattern, lines)
		}
	}
	if len(served) != len(matrix) {
		t.Errorf("%d routes are served, the matrix has %d lines", len(served), len(matrix))
	}
}

var parameter = regexp.MustCompile(`:[A-Za-z]+`)

func (r route) matches(pattern string) bool {
	return regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+") + "$").MatchString(r.path)
}

// TestForeignObjectsAnswerAsAbsentAndMalformedOnes compares answers byte for byte but for the request
// id (spec section 5, rule 2).
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
		if r.class == reader {
			credentials = append(credentials, cookieWith(sessionCookie, c.other.SessionToken))
		}
		p := c.place(r)
		for _, with := range credentials {
			foreign := p.target(itself)
			compare(r.method, foreign, p.target(elsewhere), r.body, with)
			for _, malformed := range []string{"x", "0", "%00", "urn:uuid:" + uuid.NewString(), strings.ReplaceAll(uuid.NewString(), "-", "")} {
				compare(r.method, foreign, p.target(func(string) string { return malformed }), r.body, with)
			}
		}
		after := c.rightClient.must(200, "GET", "/api/applications/"+p.app, "")
		if field[string](t, after, "name") != "Own" || field[string](t, after, "status") != "active" {
			t.Errorf("%s %s by another user changed the application: %s", r.method, r.path, after.raw)
		}
	}

	// A call of somebody else's under an application of one's own.
	theirs := c.called(c.place(matrix[0]).app, "gpt", time.Minute, 10, 502).String()
	own := c.application(c.otherClient, "Mine")
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
