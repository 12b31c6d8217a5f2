package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/fault"
)

// relay stands before PostgreSQL and cuts its connections when told to, as a killed backend does.
type relay struct {
	net.Listener
	target string
	mu     sync.Mutex
	open   []net.Conn
}

func newRelay(t *testing.T, target string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: listener, target: target}
	t.Cleanup(func() { _ = r.Close(); r.cut() })
	go func() {
		for {
			near, err := r.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				_ = near.Close()
				continue
			}
			r.mu.Lock()
			r.open = append(r.open, near, far)
			r.mu.Unlock()
			for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() { _, _ = io.Copy(pair[0], pair[1]); _ = pair[0].Close() }()
			}
		}
	}()
	return r
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.open {
		_ = conn.Close()
	}
	r.open = nil
}

// hold keeps a group's row locked until release is called.
func hold(t *testing.T, dsn string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT FROM capability_groups FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { _ = conn.Close(context.Background()) })
	t.Cleanup(release)
	return release
}

// waiting awaits a statement of another session that waits for a lock.
func waiting(t *testing.T, conn *pgx.Conn) (pid int) {
	t.Helper()
	for {
		err := conn.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND datname = current_database() AND backend_type = 'client backend'`).Scan(&pid)
		if err == nil {
			return pid
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			t.Fatal(err)
		}
	}
}

func TestAStoreThatCannotAnswerIsUnavailableAndNotAnInternalError(t *testing.T) {
	m := newManager(t)
	m.seed("a")
	dsn := m.pool.Config().ConnString()
	aside, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = aside.Close(context.Background()) }()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	between := newRelay(t, u.Host)
	u.Host = between.Addr().String()
	settings, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		t.Fatal(err)
	}
	through := m.over(settings)

	exec := func(statement string) {
		t.Helper()
		if _, err := aside.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(what string) {
		t.Helper()
		r, err := through.admin.send("PATCH", "/api/admin/groups/g", `{"name":"`+what+`"}`)
		if err != nil || r.status != 503 || r.body.Code != 50301 || r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	for what, meanwhile := range map[string]func(pid int) error{
		"a statement that takes too long": func(int) error { return nil },
		"a backend ended by its administrator": func(pid int) error {
			_, err := aside.Exec(t.Context(), `SELECT pg_terminate_backend($1)`, pid)
			return err
		},
		"a connection cut": func(int) error { between.cut(); return nil },
	} {
		timeout := "60s"
		if strings.Contains(what, "too long") {
			timeout = "100ms"
		}
		exec(fmt.Sprintf(`ALTER DATABASE %s SET statement_timeout = '%s'`, strings.TrimPrefix(u.Path, "/"), timeout))
		between.cut()
		for r := (&reply{}); r.status != 200; { // the connections cut are found out one by one
			if r, err = through.admin.send("GET", "/api/admin/groups/g", ""); err != nil || r.status != 200 && r.status != 503 {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		release := hold(t, dsn)
		done := make(chan struct{})
		go func() { edit(what); close(done) }()
		if err := meanwhile(waiting(t, aside)); err != nil {
			t.Fatal(err)
		}
		<-done
		release()
	}
	exec(fmt.Sprintf(`ALTER DATABASE %s SET default_transaction_read_only = on`, strings.TrimPrefix(u.Path, "/")))
	between.cut()
	edit("a server that only reads")
	if name := field[string](t, m.admin.must(200, "GET", "/api/admin/groups/g", ""), "name"); name != "Group" {
		t.Errorf("an edit that was refused left the name %q", name)
	}
}

func TestEveryErrorOfAStoreThatPassesIsUnavailableAndAMistakeOfOursIsNot(t *testing.T) {
	for code, kind := range map[string]fault.Kind{
		"57014": fault.Unavailable, "57P01": fault.Unavailable, "57P02": fault.Unavailable, "57P03": fault.Unavailable, "57P05": fault.Unavailable,
		"25006": fault.Unavailable, "25P03": fault.Unavailable, "25P04": fault.Unavailable, "08006": fault.Unavailable, "08P01": fault.Unavailable,
		"53100": fault.Unavailable, "53200": fault.Unavailable, "53300": fault.Unavailable, "53400": fault.Unavailable,
		"40001": fault.Unavailable, "40P01": fault.Unavailable, "55P03": fault.Unavailable, "58030": fault.Unavailable,
		"42601": fault.Internal, "42501": fault.Internal, "23505": fault.Internal, "22P02": fault.Internal, "XX000": fault.Internal, "25P02": fault.Internal,
	} {
		if f := asFault(fmt.Errorf("doing: %w", &pgconn.PgError{Code: code})); f.Kind != kind || kind == fault.Unavailable && f.RetryAfter == 0 {
			t.Errorf("%s is %+v", code, f)
		}
	}
	for _, err := range []error{io.ErrUnexpectedEOF, io.EOF, net.ErrClosed, context.DeadlineExceeded, context.Canceled} {
		if f := asFault(fmt.Errorf("doing: %w", err)); f.Kind != fault.Unavailable {
			t.Errorf("%v is %+v", err, f)
		}
	}
}
