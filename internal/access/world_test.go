package access

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"callgate/internal/embedded"
	"callgate/internal/secret"
)

// world is one test's stores, with what the console would write into them.
type world struct {
	*testing.T
	databaseURL, redisURL string
	pepper                secret.Pepper
	db                    *pgxpool.Pool // the console's, never through a wire
	redis                 *redis.Client
	owner                 uuid.UUID
	conns                 int32 // of each pool
}

type app struct {
	id  uuid.UUID
	key string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, databaseURL: embedded.Postgres(t), redisURL: embedded.Redis(t),
		pepper: secret.Pepper("a pepper for tests, 32 bytes long"), owner: uuid.New(), conns: 4}
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, running) })
	w.db = w.pool(w.databaseURL)
	w.redis = w.client(w.redisURL)
	w.exec(`INSERT INTO users (id, email) VALUES ($1, 'owner@example.com')`, w.owner)
	w.exec(`INSERT INTO capability_groups (id, name) VALUES ('g', 'Group')`)
	for _, id := range []string{"chat", "draw"} {
		w.exec(`INSERT INTO capabilities (id, name, group_id, upstream_base_url, upstream_key)
			VALUES ($1, $1, 'g', 'http://upstream', 'sealed')`, id)
	}
	return w
}

func (w *world) pool(dsn string) *pgxpool.Pool {
	w.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		w.Fatal(err)
	}
	config.MaxConns = w.conns
	// A connection idle for a second is asked whether it lives: a wire would hold that back, not the load.
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(pool.Close)
	return pool
}

// client keeps go-redis' own timeouts, of seconds: the bounds must hold whatever they are.
func (w *world) client(dsn string) *redis.Client {
	w.Helper()
	options, err := redis.ParseURL(dsn)
	if err != nil {
		w.Fatal(err)
	}
	client := redis.NewClient(options)
	w.Cleanup(func() { _ = client.Close() })
	return client
}

func (w *world) exec(statement string, args ...any) {
	w.Helper()
	if _, err := w.db.Exec(context.Background(), statement, args...); err != nil {
		w.Fatal(err)
	}
}

func (w *world) newApp(capabilities ...string) app {
	w.Helper()
	a := app{id: uuid.New(), key: w.pepper.Mint()}
	w.exec(`INSERT INTO applications (id, owner_id, name) VALUES ($1, $2, 'app')`, a.id, w.owner)
	w.setKey(a.id, a.key)
	for _, id := range capabilities {
		w.exec(`INSERT INTO application_capabilities (application_id, capability_id) VALUES ($1, $2)`, a.id, id)
	}
	return a
}

func (w *world) setKey(id uuid.UUID, key string) {
	w.Helper()
	lookup := w.pepper.Lookup(key)
	w.exec(`INSERT INTO access_keys (application_id, lookup, sealed, mask) VALUES ($1, $2, '', '')
		ON CONFLICT (application_id) DO UPDATE SET lookup = excluded.lookup`, id, lookup[:])
}

// version is what the application's last change was numbered.
func (w *world) version(a app) (version int64) {
	w.Helper()
	if err := w.db.QueryRow(context.Background(), `SELECT version FROM applications WHERE id = $1`, a.id).Scan(&version); err != nil {
		w.Fatal(err)
	}
	return version
}

func (w *world) disable(a app) {
	w.Helper()
	w.exec(`UPDATE applications SET status = 'disabled' WHERE id = $1`, a.id)
}

func (w *world) open(config Config, databaseURL, redisURL string) *Resolver {
	w.Helper()
	r, err := Open(context.Background(), config, w.pool(databaseURL), w.client(redisURL), w.pepper,
		slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(r.Close)
	return r
}

func (w *world) resolver() *Resolver {
	w.Helper()
	return w.open(Config{}, w.databaseURL, w.redisURL)
}

// must returns the grant of a key that has to have one.
func (w *world) must(r *Resolver, key string) *Grant {
	w.Helper()
	grant, err := r.Grant(context.Background(), key)
	if err != nil {
		w.Fatalf("grant: %v", err)
	}
	return grant
}

// within polls until holds, and returns how long that took.
func (w *world) within(limit time.Duration, what string, holds func() bool) time.Duration {
	w.Helper()
	began := time.Now()
	for !holds() {
		if time.Since(began) > limit {
			w.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(began)
}

func (w *world) cached(a app) bool {
	lookup := w.pepper.Lookup(a.key)
	n, err := w.redis.Exists(context.Background(), grantKey(lookup[:])).Result()
	return err == nil && n == 1
}

// loads counts the questions asked of a store with one result.
func loads(r *Resolver, store, result string) int {
	return int(testutil.ToFloat64(r.metrics.loads.WithLabelValues(store, result)))
}

func floorOf(r *Resolver, a app) int64 { return (*r.feed.floors.Load())[a.id].version }

// wire is a TCP connection to a store that can hold back what the store answers: to everybody, or
// to everybody but the reader of the change feed.
type wire struct {
	url      string
	target   string
	listener net.Listener
	users    sync.WaitGroup

	mu       sync.Mutex
	held     []byte        // answers that are held back
	flow     chan struct{} // closed while answers flow
	feedToo  bool
	finished chan struct{}
	conns    []net.Conn
}

func newWire(t *testing.T, dsn string) *wire {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{target: u.Host, listener: listener, flow: make(chan struct{}), finished: make(chan struct{})}
	close(w.flow)
	u.Host = listener.Addr().String()
	w.url = u.String()
	w.users.Go(w.accept)
	t.Cleanup(w.close)
	return w
}

func (w *wire) freeze(feedToo bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flow, w.feedToo = make(chan struct{}), feedToo
}

// holds tells whether an answer with these bytes is held back.
func (w *wire) holds(part []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.held, part)
}

func (w *wire) thaw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.flow)
}

func (w *wire) close() {
	_ = w.listener.Close()
	close(w.finished)
	w.mu.Lock()
	for _, conn := range w.conns {
		_ = conn.Close()
	}
	w.mu.Unlock()
	w.users.Wait()
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		store, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, client, store)
		w.mu.Unlock()
		var isFeed atomic.Bool
		w.users.Go(func() {
			_, _ = io.Copy(store, io.TeeReader(client, marker{&isFeed}))
			_ = store.Close()
		})
		w.users.Go(func() { w.answer(client, store, &isFeed) })
	}
}

func (w *wire) answer(client, store net.Conn, isFeed *atomic.Bool) {
	defer func() { _ = client.Close() }()
	buffer := make([]byte, 64<<10)
	for {
		n, err := store.Read(buffer)
		if err != nil {
			return
		}
		w.mu.Lock()
		flow, holds := w.flow, w.feedToo || !isFeed.Load()
		w.mu.Unlock()
		if holds {
			select {
			case <-flow:
			default:
				w.mu.Lock()
				w.held = append(w.held, buffer[:n]...)
				w.mu.Unlock()
				select {
				case <-flow:
				case <-w.finished:
					return
				}
			}
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// marker sees the name that the feed's connection gives at its start.
type marker struct{ isFeed *atomic.Bool }

func (m marker) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("callgate access feed")) {
		m.isFeed.Store(true)
	}
	return len(p), nil
}
