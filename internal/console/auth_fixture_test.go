package console

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/budget"
	"callgate/internal/catalog"
	"callgate/internal/demo"
	"callgate/internal/embedded"
	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/secret"
)

// authServer is the management interface with what sign-in needs: a database and a mail server.
type authServer struct {
	t     *testing.T
	app   *fiber.App
	mails *demo.Mailbox
}

const (
	authAdmin     = "root@example.com"
	authDeveloper = "dev@example.com"
)

func newAuthServer(t *testing.T, publicBaseURL string, changes ...func(*identity.Config)) *authServer {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	d := &authServer{t: t, mails: embedded.Mails(t)}
	mailer, err := identity.NewMailer(d.mails.URL(), "no-reply@callgate.test")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	settings := identity.Config{JWTSecret: []byte("a secret for tests, of 32 bytes or more"), Pepper: make([]byte, 32), AdminEmails: []string{authAdmin}}
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
		Identity: people, Catalog: catalog.New(pool, ring, true), Pricing: pricing.New(pool), Limits: limits.New(pool), Budgets: budget.New(pool), Pool: pool,
		PublicBaseURL: publicBaseURL, PublicGatewayURL: "https://gateway.example.com", Version: "1.2.3", Logger: log,
	}).Register(d.app)
	return d
}

// authReply is an answer of the management interface.
type authReply struct {
	status  int
	header  http.Header
	cookies map[string]*http.Cookie
	Code    int64
	Msg     string
	Data    json.RawMessage
	Request string `json:"requestId"`
}

// ask sends a request; headers are name, value, name, value…
func (d *authServer) ask(method, path, body string, headers ...string) authReply {
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
	got := authReply{status: response.StatusCode, header: response.Header, cookies: map[string]*http.Cookie{}}
	if err := json.Unmarshal(text, &got); err != nil {
		d.t.Fatalf("%s %s answered %q: %v", method, path, text, err)
	}
	for _, cookie := range response.Cookies() {
		got.cookies[cookie.Name] = cookie
	}
	return got
}

func (d *authServer) want(kind fault.Kind, got authReply) {
	d.t.Helper()
	if got.status != statusOf[kind] || got.Code != codeOf[kind] || got.Request == "" || got.Request != got.header.Get("X-Request-Id") {
		d.t.Fatalf("answered %d, %d %q, want %d", got.status, got.Code, got.Msg, codeOf[kind])
	}
}

// ok demands success and data of exactly these names, and returns it.
func (d *authServer) ok(got authReply, names ...string) map[string]any {
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

func (d *authServer) code(path, email string) string {
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

func (d *authServer) signIn(path, email string) (token string, session *http.Cookie, data map[string]any) {
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
