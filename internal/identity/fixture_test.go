package identity

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/demo"
	"callgate/internal/embedded"
	"callgate/internal/fault"
)

const (
	developer = "dev@example.com"
	admin     = "root@example.com"
	home      = "203.0.113.7"
	agent     = "Mozilla/5.0 (X11; Linux x86_64)"
)

// world is a service on its own database and mail server, with a clock the test moves.
type world struct {
	*Service
	t     *testing.T
	pool  *pgxpool.Pool
	mails *demo.Mailbox

	mu   sync.Mutex
	time time.Time
}

func newWorld(t *testing.T, changes ...func(*Config)) *world {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), embedded.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w := &world{
		t: t, pool: pool, mails: embedded.Mails(t),
		time: time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC), // the middle of an hour and of a day
	}
	w.Service = w.node(changes...)
	return w
}

// node is one more service on the same database.
func (w *world) node(changes ...func(*Config)) *Service {
	w.t.Helper()
	mailer, err := NewMailer(w.mails.URL(), "Callgate <no-reply@callgate.test>")
	if err != nil {
		w.t.Fatal(err)
	}
	config := Config{
		JWTSecret: []byte("a secret for tests, of 32 bytes or more"), Issuer: "callgate-test", Pepper: make([]byte, 32),
		AdminEmails: []string{" Root@Example.com "}, Now: w.clock,
	}
	for _, change := range changes {
		change(&config)
	}
	s, err := New(config, w.pool, mailer, slog.New(slog.DiscardHandler))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close(canceled()) })
	return s
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.time
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.time = w.time.Add(d)
}

// code asks for a code and reads it from the mail.
func (w *world) code(audience Audience, email string) string {
	w.t.Helper()
	before := len(w.mails.Mails(email))
	if err := w.SendCode(w.t.Context(), audience, email, Program(home)); err != nil {
		w.t.Fatal(err)
	}
	return w.awaitMail(email, before+1).Code
}

func (w *world) awaitMail(email string, count int) demo.Mail {
	w.t.Helper()
	until(w.t, "mail to "+email, func() bool { return len(w.mails.Mails(email)) >= count })
	return w.mails.Mails(email)[0]
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come within a minute", what)
		}
	}
}

// settle sends everything that is queued; no mail can follow.
func (w *world) settle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	w.Close(ctx)
}

func (w *world) logIn(audience Audience, email, code string) (SignIn, error) {
	return w.LogIn(w.t.Context(), audience, email, code, Program(home), agent)
}

// signIn goes the whole way.
func (w *world) signIn(audience Audience, email string) SignIn {
	w.t.Helper()
	in, err := w.logIn(audience, email, w.code(audience, email))
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

// wrong is a code that is not the given one.
func wrong(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

func wantKind(t *testing.T, err error, kind fault.Kind) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != kind {
		t.Fatalf("got %v, want a fault of kind %d", err, kind)
	}
	return f
}

func (w *world) number(sql string, args ...any) int {
	w.t.Helper()
	var n int
	if err := w.pool.QueryRow(w.t.Context(), sql, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	if _, err := w.pool.Exec(w.t.Context(), sql, args...); err != nil {
		w.t.Fatal(err)
	}
}
