package console

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"callgate/internal/access"
	"callgate/internal/alerts"
	"callgate/internal/application"
	"callgate/internal/budget"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/catalog"
	"callgate/internal/demo"
	"callgate/internal/embedded"
	"callgate/internal/identity"
	"callgate/internal/limits"
	"callgate/internal/pricing"
	"callgate/internal/report"
	"callgate/internal/saved"
	"callgate/internal/secret"
)

// reporting is d with a report of its stores.
func reporting(d Deps) Deps {
	d.EndUserHash = func(id string) string { return "kept:" + id }
	d.Report = report.New(report.Deps{
		Applications: d.Applications, Catalog: d.Catalog, Pricing: d.Pricing, Stats: d.Stats, Ledger: d.Ledger, Pool: d.Pool, Now: d.Now,
	})
	return d
}

const managingAdmin = "root@example.com"

// manager is a listening console on stores of its own, for tests of what is managed through it.
type manager struct {
	t        *testing.T
	url      string
	pool     *pgxpool.Pool
	identity *identity.Service
	mails    *demo.Mailbox
	admin    *client
}

func newManager(t *testing.T, changes ...func(*identity.Config)) *manager {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	options, err := redis.ParseURL(embedded.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	ring, err := secret.ParseKeyring("test:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{t: t, pool: pool, mails: embedded.Mails(t)}
	log := slog.New(slog.DiscardHandler)
	m.identity = m.newIdentity(log, changes)
	m.listen(New(reporting(Deps{
		Identity:     m.identity,
		Applications: application.New(pool, ring, secret.Pepper("a pepper of thirty-two bytes long")),
		Catalog:      catalog.New(pool, ring, true),
		Pricing:      pricing.New(pool),
		Limits:       limits.New(pool),
		Budgets:      budget.New(pool),
		Saved:        saved.New(pool),
		Alerts:       alerts.New(pool, ring, true, m.identity.Administrator),
		Pool:         pool,
		Announcer:    access.NewAnnouncer(pool, rdb, log),
		Ledger:       ledger.New(pool),
		Days:         days.New(pool),
		Logger:       log,
	})), log)
	m.admin = m.signIn(identity.Admin, managingAdmin)
	return m
}

func (m *manager) newIdentity(log *slog.Logger, changes []func(*identity.Config)) *identity.Service {
	m.t.Helper()
	mailer, err := identity.NewMailer(m.mails.URL(), "no-reply@callgate.test")
	if err != nil {
		m.t.Fatal(err)
	}
	settings := identity.Config{JWTSecret: bytes.Repeat([]byte{'s'}, 32), Pepper: make([]byte, 32), AdminEmails: []string{managingAdmin}}
	for _, change := range changes {
		change(&settings)
	}
	service, err := identity.New(settings, m.pool, mailer, log)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		service.Close(ctx)
	})
	return service
}

// headRoom is how long a request's head may be.
const headRoom = 16 << 10

// listen serves the console with the settings of the public listener.
func (m *manager) listen(c *Console, log *slog.Logger) {
	m.t.Helper()
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true, Immutable: true, StreamRequestBody: true, ErrorHandler: Fail(log),
		ProxyHeader: "X-Real-Ip", EnableIPValidation: true, ReadBufferSize: headRoom,
	})
	c.Register(app)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		m.t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener) }()
	m.t.Cleanup(func() {
		_ = app.ShutdownWithTimeout(5 * time.Second)
		<-served
	})
	m.url = "http://" + listener.Addr().String()
}

func (m *manager) signIn(audience identity.Audience, email string) *client {
	m.t.Helper()
	return &client{m, m.session(audience, email).Token.Value}
}

// session signs in with the code of a fresh mail.
func (m *manager) session(audience identity.Audience, email string) identity.SignIn {
	m.t.Helper()
	before := len(m.mails.Mails(email))
	if err := m.identity.SendCode(m.t.Context(), audience, email, identity.Program("127.0.0.1")); err != nil {
		m.t.Fatal(err)
	}
	end := time.Now().Add(20 * time.Second)
	for len(m.mails.Mails(email)) == before {
		if time.Now().After(end) {
			m.t.Fatalf("no code came for %s", email)
		}
		time.Sleep(2 * time.Millisecond)
	}
	in, err := m.identity.LogIn(m.t.Context(), audience, email, m.mails.Mails(email)[0].Code, identity.Program("127.0.0.1"), "test")
	if err != nil {
		m.t.Fatal(err)
	}
	return in
}

func (m *manager) developer(name string) *client {
	m.t.Helper()
	return m.signIn(identity.Developer, name+"@example.com")
}

// seed makes group g and the enabled capabilities named in it.
func (m *manager) seed(capabilities ...string) {
	m.t.Helper()
	m.admin.must(201, "POST", "/api/admin/groups", `{"id":"g","name":"Group"}`)
	for i, id := range capabilities {
		m.admin.must(201, "POST", "/api/admin/capabilities", fmt.Sprintf(`{"id":%q,"name":"Name of %s","groupId":"g","sortOrder":%d,
			"upstreamBaseUrl":"https://canary-host.example/v1","upstreamKey":"sk-canary-%s"}`, id, id, i, id))
	}
}

// client speaks with one credential.
type client struct {
	*manager
	token string
}

// reply is what came back, with its envelope taken apart.
type reply struct {
	status int
	header http.Header
	raw    string
	body   struct {
		Code      int
		Msg       string
		Data      json.RawMessage
		RequestID string
	}
}

func (c *client) send(method, path, body string) (*reply, error) {
	return c.sendIf("", method, path, body)
}

// sendIf is send with a precondition; an empty one is left out.
func (c *client) sendIf(ifMatch, method, path, body string) (*reply, error) {
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if ifMatch != "" {
		request.Header.Set("If-Match", ifMatch)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	r := &reply{status: response.StatusCode, header: response.Header, raw: string(raw)}
	return r, json.Unmarshal(raw, &r.body)
}

// must sends and demands a status, and of every answer what is true of all of them.
func (c *client) must(status int, method, path, body string) *reply {
	c.t.Helper()
	r, err := c.send(method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	if r.status != status {
		c.t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, r.status, r.raw, status)
	}
	if r.header.Get("X-Request-Id") == "" || r.header.Get("Cache-Control") != "no-store" {
		c.t.Errorf("%s %s: headers %v", method, path, r.header)
	}
	if status < 300 && (r.body.Code != 0 || r.body.Msg != "ok") ||
		status >= 400 && (r.body.Code/100 != status || r.body.RequestID != r.header.Get("X-Request-Id")) {
		c.t.Errorf("%s %s: envelope %s", method, path, r.raw)
	}
	return r
}

// mustEqual demands the data of a 200.
func (c *client) mustEqual(method, path, body, want string) {
	c.t.Helper()
	if r := c.must(200, method, path, body); !sameJSON(r.body.Data, want) {
		c.t.Fatalf("%s %s: %s\nwant %s", method, path, r.body.Data, want)
	}
}

// sameJSON compares values: the order of fields means nothing, and the time of the last edit is left out.
func sameJSON(got json.RawMessage, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(timeless(a), timeless(b))
}

func timeless(value any) any {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "updatedAt")
		for _, field := range v {
			timeless(field)
		}
	case []any:
		for _, item := range v {
			timeless(item)
		}
	}
	return value
}

// mustRefuse demands a 400 that names exactly the given fields.
func (c *client) mustRefuse(method, path, body string, fields ...string) {
	c.t.Helper()
	r := c.must(400, method, path, body)
	var data struct{ Fields map[string]string }
	if err := json.Unmarshal(r.body.Data, &data); err != nil || r.body.Code != 40001 || len(data.Fields) != len(fields) {
		c.t.Fatalf("%s %s %s: %s, want the fields %v", method, path, body, r.raw, fields)
	}
	for _, field := range fields {
		if data.Fields[field] == "" {
			c.t.Fatalf("%s %s %s: %s does not name %s", method, path, body, r.raw, field)
		}
	}
}

// dataOf decodes the data.
func dataOf[T any](t *testing.T, r *reply) (data T) {
	t.Helper()
	if err := json.Unmarshal(r.body.Data, &data); err != nil {
		t.Fatalf("%s: %v", r.raw, err)
	}
	return data
}

// field reads one field of the data.
func field[T any](t *testing.T, r *reply, name string) (value T) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.body.Data, &fields); err != nil {
		t.Fatalf("%s: %v", r.raw, err)
	}
	if err := json.Unmarshal(fields[name], &value); err != nil {
		t.Fatalf("%s of %s: %v", name, r.raw, err)
	}
	return value
}
