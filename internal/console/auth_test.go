package console

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/catalog"
	"callgate/internal/embedded"
	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/secret"
)

// door is the management interface with what sign-in needs: a database and a mail server.
type door struct {
	t     *testing.T
	app   *fiber.App
	mails *embedded.Mailbox
}

const (
	doorAdmin     = "root@example.com"
	doorDeveloper = "dev@example.com"
)

func newDoor(t *testing.T, publicBaseURL string, changes ...func(*identity.Config)) *door {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	d := &door{t: t, mails: embedded.Mails(t)}
	mailer, err := identity.NewMailer(d.mails.URL(), "no-doorReply@callgate.test")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	settings := identity.Config{JWTSecret: []byte("a secret for tests, of 32 bytes or more"), AdminEmails: []string{doorAdmin}}
	for _, change := range changes {
		change(&settings)
	}
	people, err := identity.New(settings, pool, mailer, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		people.Close(ctx)
	})
	ring, err := secret.ParseKeyring("a:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	d.app = fiber.New(fiber.Config{DisableStartupMessage: true, Immutable: true, ErrorHandler: Fail(log)})
	New(Deps{
		Identity: people, Catalog: catalog.New(pool, ring, true), Pool: pool,
		PublicBaseURL: publicBaseURL, PublicGatewayURL: "https://gateway.example.com", Version: "1.2.3", FailureRetentionDays: 30, Logger: log,
	}).Register(d.app)
	return d
}

// doorReply is an answer of the management interface.
type doorReply struct {
	status  int
	header  http.Header
	cookies map[string]*http.Cookie
	Code    int64
	Msg     string
	Data    json.RawMessage
	Request string `json:"requestId"`
}

// ask sends a request; headers are name, value, name, value…
func (d *door) ask(method, path, body string, headers ...string) doorReply {
	d.t.Helper()
	request := httptest.NewRequest(method, path, strings.NewReader(body))
	request.Host = "console.example.com"
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response := d.exchange(request, body)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	got := doorReply{status: response.StatusCode, header: response.Header, cookies: map[string]*http.Cookie{}}
	if err := json.Unmarshal(text, &got); err != nil {
		d.t.Fatalf("%s %s answered %q: %v", method, path, text, err)
	}
	for _, cookie := range response.Cookies() {
		got.cookies[cookie.Name] = cookie
	}
	return got
}

func (d *door) want(kind fault.Kind, got doorReply) {
	d.t.Helper()
	if got.status != statusOf[kind] || got.Code != codeOf[kind] || got.Request == "" || got.Request != got.header.Get("X-Request-Id") {
		d.t.Fatalf("answered %d, %d %q, want %d", got.status, got.Code, got.Msg, codeOf[kind])
	}
}

// ok demands success and data of exactly these names, and returns it.
func (d *door) ok(got doorReply, names ...string) map[string]any {
	d.t.Helper()
	var data map[string]any
	if got.status != 200 || got.Code != 0 || got.Msg != "ok" || json.Unmarshal(got.Data, &data) != nil || len(data) != len(names) {
		d.t.Fatalf("answered %d, %d %q with %s, want %v", got.status, got.Code, got.Msg, got.Data, names)
	}
	for _, name := range names {
		if _, there := data[name]; !there {
			d.t.Fatalf("%s is missing in %s", name, got.Data)
		}
	}
	return data
}

func (d *door) code(path, email string) string {
	d.t.Helper()
	before := len(d.mails.Mails(email))
	if got := d.ask("POST", path+"/code", `{"email":"`+email+`"}`); got.status != 200 || string(got.Data) != "null" {
		d.t.Fatalf("answered %d %s", got.status, got.Data)
	}
	for end := time.Now().Add(10 * time.Second); len(d.mails.Mails(email)) == before; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatal("no mail came within 10 s")
		}
	}
	return d.mails.Mails(email)[0].Code
}

func (d *door) signIn(path, email string) (token string, session *http.Cookie, data map[string]any) {
	d.t.Helper()
	got := d.ask("POST", path+"/login", `{"email":"`+email+`","code":"`+d.code(path, email)+`"}`)
	who := "user"
	for _, cookie := range got.cookies {
		if session = cookie; cookie.Name == adminSessionCookie {
			who = "admin"
		}
	}
	data = d.ok(got, "token", "expiresAt", who)
	return data["token"].(string), session, data
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }
func cookieOf(cookie *http.Cookie) []string {
	return []string{"Cookie", cookie.Name + "=" + cookie.Value}
}

func TestDeveloperSignsInAsTheContractSays(t *testing.T) {
	d := newDoor(t, "https://console.example.com")
	token, session, data := d.signIn("/api/auth", doorDeveloper)
	user := data["user"].(map[string]any)
	if len(user) != 2 || user["email"] != doorDeveloper || uuid.Validate(user["id"].(string)) != nil {
		t.Fatalf("user %v", user)
	}
	if at := data["expiresAt"].(string); !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+08:00$`).MatchString(at) {
		t.Fatalf("expires at %s", at)
	}
	if session == nil || session.Name != "callgate_session" || !session.HttpOnly || !session.Secure || session.Path != "/" ||
		session.SameSite != http.SameSiteLaxMode || session.Domain != "" || time.Until(session.Expires) < 29*24*time.Hour {
		t.Fatalf("cookie %v", session)
	}
	for _, credential := range [][]string{bearer(token), cookieOf(session)} {
		if me := d.ok(d.ask("GET", "/api/auth/me", "", credential...), "id", "email"); !reflect.DeepEqual(me, user) {
			t.Fatalf("me is %v, signed in %v", me, user)
		}
	}
	renewed := d.ok(d.ask("POST", "/api/auth/token", "", cookieOf(session)...), "token", "expiresAt", "user")
	if !reflect.DeepEqual(renewed["user"], data["user"]) {
		t.Fatalf("renewed for %v", renewed["user"])
	}
	d.ok(d.ask("GET", "/api/auth/me", "", bearer(renewed["token"].(string))...), "id", "email")
}

func TestAdministratorSignsInAsTheContractSays(t *testing.T) {
	d := newDoor(t, "http://console.example.com")
	token, session, data := d.signIn("/api/admin/auth", doorAdmin)
	if !reflect.DeepEqual(data["admin"], map[string]any{"email": doorAdmin}) {
		t.Fatalf("admin %v", data["admin"])
	}
	if session == nil || session.Name != "callgate_admin_session" || !session.HttpOnly || session.Secure ||
		session.Path != "/api/admin" || session.SameSite != http.SameSiteStrictMode || time.Until(session.Expires) > 12*time.Hour {
		t.Fatalf("cookie %v", session)
	}
	if got := d.ask("GET", "/api/admin/groups", "", bearer(token)...); got.status != 200 {
		t.Fatalf("answered %d %s", got.status, got.Msg)
	}
	d.ok(d.ask("POST", "/api/admin/auth/token", "", cookieOf(session)...), "token", "expiresAt", "admin")
	if out := d.ask("POST", "/api/admin/auth/logout", "", cookieOf(session)...); out.status != 200 {
		t.Fatalf("answered %d %s", out.status, out.Msg)
	}
	d.want(fault.BadCredential, d.ask("GET", "/api/admin/groups", "", bearer(token)...))
	d.want(fault.BadCredential, d.ask("POST", "/api/admin/auth/token", "", cookieOf(session)...))
}

func TestCredentialsOpenOnlyTheirOwnInterface(t *testing.T) {
	d := newDoor(t, "")
	devToken, devSession, _ := d.signIn("/api/auth", doorDeveloper)
	adminToken, adminSession, _ := d.signIn("/api/admin/auth", doorAdmin)
	key := secret.Pepper("0123456789abcdef0123456789abcdef").Mint()

	d.want(fault.NotAdministrator, d.ask("GET", "/api/admin/groups", "", bearer(devToken)...))
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/sessions", "", bearer(adminToken)...))
	for _, path := range []string{"/api/auth/me", "/api/auth/sessions", "/api/applications", "/api/capabilities", "/api/statistics/applications", "/api/admin/groups"} {
		d.want(fault.Unauthenticated, d.ask("GET", path, ""))
		d.want(fault.BadCredential, d.ask("GET", path, "", bearer(key)...))
		d.want(fault.BadCredential, d.ask("GET", path, "", "Authorization", "Basic "+devToken))
		// A Bearer credential that is present decides alone.
		d.want(fault.BadCredential, d.ask("GET", path, "", append(bearer(key), cookieOf(devSession)...)...))
	}
	for _, path := range []string{"/api/auth/sessions", "/api/applications", "/api/capabilities"} {
		d.want(fault.Unauthenticated, d.ask("GET", path, "", cookieOf(devSession)...))
	}
	d.want(fault.Unauthenticated, d.ask("GET", "/api/admin/groups", "", cookieOf(adminSession)...))
	for path, crossed := range map[string]string{
		"/api/auth":       sessionCookie + "=" + adminSession.Value,
		"/api/admin/auth": adminSessionCookie + "=" + devSession.Value,
	} {
		for _, action := range []string{"/token", "/logout"} {
			d.want(fault.Unauthenticated, d.ask("POST", path+action, ""))
			d.want(fault.BadCredential, d.ask("POST", path+action, "", "Cookie", crossed))
		}
	}
	d.ok(d.ask("POST", "/api/auth/token", "", cookieOf(devSession)...), "token", "expiresAt", "user")
}

func TestSignOutEndsTheSessionAndForgetsTheCookie(t *testing.T) {
	d := newDoor(t, "https://console.example.com")
	token, session, _ := d.signIn("/api/auth", doorDeveloper)
	for _, again := range []bool{false, true} {
		out := d.ask("POST", "/api/auth/logout", "", cookieOf(session)...)
		if again {
			d.want(fault.BadCredential, out)
		} else if out.status != 200 {
			t.Fatalf("answered %d %s", out.status, out.Msg)
		}
		gone := out.cookies[sessionCookie]
		if gone == nil || gone.Value != "" || gone.Expires.After(time.Now()) || gone.Path != session.Path || !gone.Secure {
			t.Fatalf("cookie %v", gone)
		}
	}
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/me", "", bearer(token)...))
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/me", "", cookieOf(session)...))
	d.want(fault.BadCredential, d.ask("POST", "/api/auth/token", "", cookieOf(session)...))
}

func TestSessionsAreListedAndEndedOverHTTP(t *testing.T) {
	d := newDoor(t, "")
	first, _, _ := d.signIn("/api/auth", doorDeveloper)
	second, _, _ := d.signIn("/api/auth", doorDeveloper)
	stranger, _, _ := d.signIn("/api/auth", "other@example.com")
	listed := d.ok(d.ask("GET", "/api/auth/sessions", "", bearer(second)...), "items")["items"].([]any)
	if len(listed) != 2 {
		t.Fatalf("sessions %v", listed)
	}
	var id string
	for _, item := range listed {
		session := item.(map[string]any)
		for _, name := range []string{"id", "createdAt", "lastUsedAt", "userAgent", "current"} {
			if _, there := session[name]; !there || len(session) != 5 {
				t.Fatalf("session %v", session)
			}
		}
		if session["current"] == false {
			id = session["id"].(string)
		}
	}
	absent := d.ask("DELETE", "/api/auth/sessions/"+uuid.NewString(), "", bearer(stranger)...)
	foreign := d.ask("DELETE", "/api/auth/sessions/"+id, "", bearer(stranger)...)
	malformed := d.ask("DELETE", "/api/auth/sessions/1", "", bearer(stranger)...)
	for _, got := range []doorReply{absent, foreign, malformed} {
		d.want(fault.NotFound, got)
		if got.Msg != absent.Msg || string(got.Data) != "null" {
			t.Fatalf("%q is told from %q", got.Msg, absent.Msg)
		}
	}
	if got := d.ask("DELETE", "/api/auth/sessions/"+id, "", bearer(second)...); got.status != 200 || string(got.Data) != "null" {
		t.Fatalf("answered %d %s", got.status, got.Data)
	}
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/me", "", bearer(first)...))
	d.ok(d.ask("GET", "/api/auth/me", "", bearer(second)...), "id", "email")
}

func TestUnlistedAdministratorIsNotToldFromAListedOne(t *testing.T) {
	d := newDoor(t, "")
	d.code("/api/admin/auth", doorAdmin)
	body := func(got doorReply) string {
		got.header.Del("X-Request-Id")
		got.header.Del("Date")
		text, err := json.Marshal([]any{got.status, got.header, got.Code, got.Msg, got.Data})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const stranger = "stranger@example.com"
	ask := func(email string) string { return body(d.ask("POST", "/api/admin/auth/code", `{"email":"`+email+`"}`)) }
	if first, again, unlisted := ask("root2@example.com"), ask(doorAdmin), ask(stranger); first != unlisted || again != unlisted {
		t.Fatalf("%s\n%s\n%s", first, again, unlisted)
	}
	for try := range 6 {
		guess := func(email string) doorReply {
			return d.ask("POST", "/api/admin/auth/login", `{"email":"`+email+`","code":"not it"}`)
		}
		listed, unlisted := guess(doorAdmin), guess(stranger)
		wanted := fault.BadCredential
		if try == 5 {
			wanted = fault.TooManyAttempts
			if listed.header.Get("Retry-After") == "" || unlisted.header.Get("Retry-After") == "" {
				t.Fatal("no Retry-After")
			}
			listed.header.Del("Retry-After") // of codes asked for at two moments
			unlisted.header.Del("Retry-After")
		}
		d.want(wanted, listed)
		if a, b := body(listed), body(unlisted); a != b {
			t.Fatalf("try %d:\n%s\n%s", try+1, a, b)
		}
	}
}

func TestBrowserRequestsOfOtherSitesAreRefused(t *testing.T) {
	d := newDoor(t, "https://callgate.example.com")
	_, session, _ := d.signIn("/api/auth", doorDeveloper)
	foreign := [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://callgate.example.com"},
		{"Origin", "https://evil.example.com"},
		{"Origin", "http://callgate.example.com"},
		{"Origin", "https://callgate.example.com.evil.com"},
		{"Origin", "null"},
	}
	own := [][]string{
		{"Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "none"},
		{"Origin", "https://callgate.example.com"},
		{"Origin", "http://console.example.com"}, // the host the request came to
		{},
	}
	for _, headers := range foreign {
		for _, path := range []string{"code", "login", "token", "logout"} {
			d.want(fault.BadCredential, d.ask("POST", "/api/auth/"+path, "{}", append(headers, cookieOf(session)...)...))
			d.want(fault.BadCredential, d.ask("POST", "/api/admin/auth/"+path, "{}", headers...))
		}
	}
	for _, headers := range own {
		d.ok(d.ask("POST", "/api/auth/token", "", append(headers, cookieOf(session)...)...), "token", "expiresAt", "user")
	}
}

func TestSignInBodiesAreChecked(t *testing.T) {
	d := newDoor(t, "")
	for _, path := range []string{"/api/auth", "/api/admin/auth"} {
		for _, body := range []string{"", "null", "[]", "{", `{"email":null}`, `{"email":7}`, `{}`, `{"email":"no address"}`, "{\"email\":\"\xff@b.c\"}"} {
			d.want(fault.Invalid, d.ask("POST", path+"/code", body))
			d.want(fault.Invalid, d.ask("POST", path+"/login", body))
		}
		got := d.ask("POST", path+"/login", `{"email":"a@b.c"}`)
		d.want(fault.Invalid, got)
		if !strings.Contains(string(got.Data), `"fields":{"code":`) {
			t.Fatalf("the field is not named: %s", got.Data)
		}
		d.want(fault.TooLarge, d.ask("POST", path+"/code", `{"email":"`+strings.Repeat("a", maxBody)+`"}`))
		d.want(fault.MethodNotAllowed, d.ask("GET", path+"/login", ""))
	}
}

func TestConfigurationIsPublic(t *testing.T) {
	d := newDoor(t, "https://callgate.example.com")
	data := d.ok(d.ask("GET", "/api/config", ""), "publicBaseUrl", "publicGatewayUrl", "oidc", "version", "failureRetentionDays")
	want := map[string]any{
		"publicBaseUrl": "https://callgate.example.com", "publicGatewayUrl": "https://gateway.example.com", "version": "1.2.3", "failureRetentionDays": float64(30),
		"oidc": map[string]any{"enabled": false, "name": ""},
	}
	if !reflect.DeepEqual(data, want) {
		t.Fatalf("got %v, want %v", data, want)
	}
	d.want(fault.NotFound, d.ask("GET", "/api/auth/oidc/login", ""))
	d.want(fault.NotFound, d.ask("GET", "/api/auth/oidc/callback", ""))
}
