package alerts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/databasetest"
)

// figures is a Source that says what a test wants it to.
type figures struct {
	mu       sync.Mutex
	standing Standing
	windows  map[string]Window
	last     map[uuid.UUID]time.Time
	spent    map[uuid.UUID]Spent
	uses     map[uuid.UUID]map[string]Use
	budgets  map[uuid.UUID]map[string]BudgetSpent
	keys     map[uuid.UUID]ExpiringKey
	out      map[string]LeftOut
	fail     error // of everything
}

func newFigures() *figures {
	return &figures{
		windows: map[string]Window{}, last: map[uuid.UUID]time.Time{}, spent: map[uuid.UUID]Spent{},
		uses: map[uuid.UUID]map[string]Use{}, keys: map[uuid.UUID]ExpiringKey{},
	}
}

func (f *figures) set(change func(*figures)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *figures) Standing(context.Context) (Standing, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.standing
	if s.Through.IsZero() {
		s.Through = time.Now()
	}
	return s, f.fail
}

func (f *figures) Windows(_ context.Context, _ TargetType, ids []string, _, _ time.Time) (map[string]Window, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := map[string]Window{}
	for _, id := range ids {
		if w, ok := f.windows[id]; ok {
			found[id] = w
		}
	}
	return found, f.fail
}

func (f *figures) LastCalls(context.Context, []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	return f.last, f.fail
}

func (f *figures) Spent(context.Context, []uuid.UUID, beijing.Range) (map[uuid.UUID]Spent, error) {
	return f.spent, f.fail
}

func (f *figures) Uses(context.Context, []uuid.UUID) (map[uuid.UUID]map[string]Use, error) {
	return f.uses, f.fail
}

func (f *figures) Budgets(context.Context, []uuid.UUID, time.Time) (map[uuid.UUID]map[string]BudgetSpent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.budgets, f.fail
}

func (f *figures) ExpiringKeys(context.Context, []uuid.UUID) (map[uuid.UUID]ExpiringKey, error) {
	return f.keys, f.fail
}

func (f *figures) LeftOut(context.Context, TargetType, []string) (map[string]LeftOut, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out, f.fail
}

// world is a database with an owner of an application, and what alerts are made of.
type world struct {
	databasetest.Database
	*Store
	figures *figures
	who     Who
	app     string
	desk    Who
	mails   chan [3]string
	now     time.Time // of evaluations; zero: the time it is
}

const deskEmail = "desk@example.com"

func newWorld(t *testing.T) *world {
	t.Helper()
	database := databasetest.New(t)
	w := &world{Database: database, figures: newFigures(), desk: Who{Email: deskEmail}, mails: make(chan [3]string, 100)}
	w.Store = New(database.Pool, database.Ring, true, func(email string) bool { return email == deskEmail })
	w.who, w.app = w.owner("owner@example.com")
	w.Exec(`INSERT INTO capability_groups (id, name) VALUES ('g', 'Group')`)
	w.Exec(`INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_key) VALUES ('gpt', 'GPT', 'g', 'http://upstream', 'sealed')`)
	w.Exec(`INSERT INTO upstreams (id, name, base_url, sealed_key) VALUES ('eu', 'Europe', 'http://upstream', 'sealed')`)
	return w
}

// owner makes an account with one application.
func (w *world) owner(email string) (Who, string) {
	who, app := Who{Owner: uuid.New(), Email: email}, uuid.New()
	w.Exec(`INSERT INTO users (id, email) VALUES ($1, $2)`, who.Owner, email)
	w.Exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'Search')`, app, who.Owner)
	return who, app.String()
}

// draft is a rule on the failure rate of an application, to a webhook.
func draft(app, url string) Draft {
	return Draft{
		Name: "Search fails", Kind: FailureRate, TargetType: Application, TargetID: &app, Threshold: ptr(20.0),
		Channels: []ChannelDraft{{Kind: Webhook, URL: &url}},
	}
}

func (w *world) rule(who Who, d Draft) Rule {
	w.T.Helper()
	r, err := w.Create(w.Ctx, who, d)
	if err != nil {
		w.T.Fatal(err)
	}
	return r
}

func (w *world) state(r Rule) State {
	w.T.Helper()
	found, err := queryRules(w.Ctx, w.Pool, `WHERE r.id = $1`, r.ID)
	if err != nil || len(found) != 1 {
		w.T.Fatal(found, err)
	}
	return found[0].State
}

// service is one console's, which does nothing by itself.
func (w *world) service(p pace) *Service {
	w.T.Helper()
	s, err := build(Config{
		Pool: w.Pool, Ring: w.Ring, Source: w.figures, Administrator: w.administrator, AllowPrivate: w.allowPrivate,
		Pages: "https://callgate.example", Logger: slog.New(slog.DiscardHandler), Now: w.clock, pace: p,
		Mail: func(_ context.Context, to, subject, text string) error {
			w.mails <- [3]string{to, subject, text}
			return nil
		},
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

func (w *world) clock() time.Time {
	if w.now.IsZero() {
		return time.Now()
	}
	return w.now
}

// evaluate makes rounds of one console, the clock 10 s on before each when it is the test's.
func (w *world) evaluate(rounds int) {
	w.T.Helper()
	s := w.service(pace{})
	conn, err := pgx.ConnectConfig(w.Ctx, w.Pool.Config().ConnConfig)
	if err != nil {
		w.T.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for range rounds {
		if !w.now.IsZero() {
			w.now = w.now.Add(10 * time.Second)
			w.figures.set(func(f *figures) { f.standing.Through = w.now })
		}
		if err := s.evaluator.round(w.Ctx, conn); err != nil {
			w.T.Fatal(err)
		}
	}
}

// events are the kinds of a rule's events in order, and demands that they are numbered without a gap.
func (w *world) events(r Rule) (kinds []string) {
	w.T.Helper()
	rows, err := w.Pool.Query(w.Ctx, `SELECT kind, sequence FROM alert_events WHERE rule_id = $1 AND kind <> 'test' ORDER BY sequence`, r.ID)
	if err != nil {
		w.T.Fatal(err)
	}
	var kind string
	var sequence int64
	_, err = pgx.ForEachRow(rows, []any{&kind, &sequence}, func() error {
		kinds = append(kinds, kind)
		if sequence != int64(len(kinds)) {
			return fmt.Errorf("event %d has the number %d", len(kinds), sequence)
		}
		return nil
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return kinds
}

// deliver runs the deliveries of one console until the test ends.
func (w *world) deliver(p pace) {
	w.T.Helper()
	w.run(w.service(p))
}

func (w *world) run(s *Service) {
	w.T.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.dispatcher.run(ctx, ctx) }()
	w.T.Cleanup(func() { stop(); <-done; s.dispatcher.attempts.Wait() })
}

// until polls until the condition holds.
func (w *world) until(what string, limit time.Duration, holds func() bool) {
	w.T.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.T.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// hook is an endpoint that keeps what it is sent.
type hook struct {
	*httptest.Server
	mu       sync.Mutex
	received []received
	answer   func(http.ResponseWriter, *http.Request) // nil: 204
}

type received struct {
	at     time.Time
	header http.Header
	query  string
	body   []byte
}

func newHook(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *hook {
	t.Helper()
	h := &hook{answer: answer}
	h.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		body := make([]byte, 64<<10)
		n := 0
		for n < len(body) {
			more, err := in.Body.Read(body[n:])
			if n += more; err != nil {
				break
			}
		}
		h.mu.Lock()
		h.received = append(h.received, received{time.Now(), in.Header.Clone(), in.URL.RawQuery, body[:n]})
		h.mu.Unlock()
		if h.answer == nil {
			out.WriteHeader(http.StatusNoContent)
			return
		}
		h.answer(out, in)
	}))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h
}

func (h *hook) all() []received {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]received(nil), h.received...)
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(code) }
}

var errAway = errors.New("away")

// quick is a pace for tests.
var quick = pace{every: 50 * time.Millisecond, standIn: 50 * time.Millisecond, claimFor: 1500 * time.Millisecond, attempt: time.Second, retry: 50 * time.Millisecond}
