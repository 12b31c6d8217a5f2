package console

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/golang-jwt/jwt/v5"

	"callgate/internal/identity"
	"callgate/internal/openapi"
)

// credential is what a request carries; the zero value carries nothing.
type credential struct{ header, value string }

func bearerOf(token string) credential { return credential{"Authorization", "Bearer " + token} }
func cookieWith(name, value string) credential {
	return credential{"Cookie", name + "=" + value}
}

// crowd is everybody who may come, with what they carry.
type crowd struct {
	*watcher
	right, other, desk           identity.SignIn
	ended, endedDesk             identity.SignIn
	rightClient, otherClient     *client
	expired, misdirected, silent string // tokens of the right user, properly signed
	expiredDesk                  string

	read, full, otherFull string // management tokens
	expiredFull, revoked  string // of the right user
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	w := newWatcher(t)
	w.seed("gpt")
	w.loseSpool()
	w.share()
	w.priceGPT()
	w.budgetGPT()
	w.watchGPT()
	w.holdUser()
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
	c.read, _ = c.rightClient.managementToken("read")
	c.full, _ = c.rightClient.managementToken("full")
	c.otherFull, _ = c.otherClient.managementToken("full")
	var id string
	c.revoked, id = c.rightClient.managementToken("full")
	c.rightClient.must(200, "DELETE", "/api/tokens/"+id, "")
	c.expiredFull, id = c.rightClient.managementToken("full")
	if _, err := c.pool.Exec(t.Context(), `UPDATE management_tokens SET expires_at = now() WHERE id = $1`, id); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Minute).Unix()
	c.expired = resigned(t, c.right.Token.Value, jwt.MapClaims{"exp": past, "iat": past - 3600})
	c.expiredDesk = resigned(t, c.desk.Token.Value, jwt.MapClaims{"exp": past, "iat": past - 3600})
	c.misdirected = resigned(t, c.right.Token.Value, jwt.MapClaims{"aud": "another-service"})
	c.silent = resigned(t, c.right.Token.Value, jwt.MapClaims{"exp": nil})
	return c
}

// managementToken makes a token of the client's user.
func (c *client) managementToken(access string) (token, id string) {
	c.t.Helper()
	made := c.must(201, "POST", "/api/tokens", `{"name":"Script","access":"`+access+`","expiresAt":"`+time.Now().Add(time.Hour).Format(time.RFC3339)+`"}`)
	return field[string](c.t, made, "token"), field[string](c.t, made, "id")
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
	p.body = strings.ReplaceAll(r.body, "{soon}", time.Now().Add(time.Hour).Format(time.RFC3339))
	if strings.Contains(r.path, "logout") || strings.Contains(r.path, "{session}") {
		p.spare, p.spareDesk = c.session(identity.Developer, "right@example.com"), c.session(identity.Admin, managingAdmin)
	}
	p.replacement = map[string]string{"{app}": p.app, "{session}": p.spare.Principal.SessionID.String()}
	if strings.Contains(r.path, "{key}") {
		more := c.rightClient.must(201, "POST", "/api/applications/"+p.app+"/keys", `{"name":"More"}`)
		p.replacement["{key}"] = field[string](c.t, more, "id")
	}
	if strings.Contains(r.path, "{token}") {
		_, p.replacement["{token}"] = c.rightClient.managementToken("read")
	}
	if strings.Contains(r.path, "{budget}") {
		set := c.rightClient.must(200, "PUT", "/api/applications/"+p.app+"/budgets", `{"budgets":[{"period":"day","amount":"5","currency":"USD","action":"block"}]}`)
		p.replacement["{budget}"] = dataOf[openapi.BudgetItems](c.t, set).Items[0].ID.String()
	}
	if strings.Contains(r.path, "{view}") {
		saved := c.rightClient.must(201, "POST", "/api/views", `{"name":"`+p.app+`","page":"explore","query":""}`)
		p.replacement["{view}"] = field[string](c.t, saved, "id")
	}
	if strings.Contains(r.path, "{alert}") {
		if _, err := c.pool.Exec(c.t.Context(), `DELETE FROM alert_sends`); err != nil { // how often has a test of its own
			c.t.Fatal(err)
		}
		p.replacement["{alert}"], p.replacement["{channel}"], p.replacement["{delivery}"] = c.watch(c.rightClient, p.app)
		if !strings.Contains(r.path, "{delivery}") { // the line may be a test
			c.settleDeliveries()
		}
	}
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

// attempts are all credentials with what each must get. The two that may change something are last.
func (c *crowd) attempts(p placed) []attempt {
	const missing, bad, notAdmin, beyond = 40101, 40102, 40301, 40302
	foreign := p.right
	if p.owned() {
		foreign = 40401
	}
	// What credentials of each kind get by the class of the route, in the order of the classes.
	byToken := func(signedIn, developer, reading, backOffice int) int {
		return []int{p.right, signedIn, developer, reading, reading, backOffice, missing, missing}[p.class]
	}
	by := func(public, developer, reader, backOffice, session, adminSession int) int {
		return []int{public, developer, developer, developer, reader, backOffice, session, adminSession}[p.class]
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
		{"an expired management token", bearerOf(c.expiredFull), badToken},
		{"a revoked management token", bearerOf(c.revoked), badToken},
		{"a management token as session", cookieWith(sessionCookie, c.full), by(p.right, missing, bad, missing, bad, missing)},
		{"a management token of another user", bearerOf(c.otherFull), byToken(beyond, foreign, foreign, notAdmin)},
		{"a management token that reads", bearerOf(c.read), byToken(beyond, beyond, p.right, notAdmin)},
		{"the right user", bearerOf(c.right.Token.Value), by(p.right, p.right, p.right, notAdmin, missing, missing)},
		{"a management token of full access", bearerOf(c.full), byToken(beyond, p.right, p.right, notAdmin)},
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
