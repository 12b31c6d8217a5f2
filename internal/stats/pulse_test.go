package stats

import (
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/embedded"
	"callgate/internal/fault"
)

// sluice stands before a server; shut, it accepts connections and lets nothing through, as a server that hangs does.
type sluice struct {
	net.Listener
	mu   sync.Mutex
	open sync.Cond
	shut bool
}

func newSluice(t *testing.T, target string) *sluice {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sluice{Listener: listener}
	s.open.L = &s.mu
	t.Cleanup(func() { _ = s.Close(); s.set(false) })
	go func() {
		for {
			near, err := s.Accept()
			if err != nil {
				return
			}
			go func() {
				s.pass()
				far, err := net.Dial("tcp", target)
				if err != nil {
					_ = near.Close()
					return
				}
				go s.carry(far, near)
				s.carry(near, far)
			}()
		}
	}()
	return s
}

func (s *sluice) carry(to, from net.Conn) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		s.pass()
		if _, wrong := to.Write(piece[:n]); err != nil || wrong != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

func (s *sluice) pass() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.shut {
		s.open.Wait()
	}
}

func (s *sluice) set(shut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut = shut
	s.open.Broadcast()
}

// through is an address with the sluice in place of its host.
func (s *sluice) through(t *testing.T, address, scheme string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Scheme, u.Host = scheme, s.Addr().String()
	return u.String()
}

// TestAServerThatHangsIsSaidToBeAwayAtOnceAndASlowQuestionGoesOn: with the server's native protocol and with HTTP.
func TestAServerThatHangsIsSaidToBeAwayAtOnceAndASlowQuestionGoesOn(t *testing.T) {
	address := embedded.ClickHouse(t)
	options, _, err := cluster.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var port uint16
	if err := conn.QueryRow(t.Context(), "SELECT getServerPort('http_port')").Scan(&port); err != nil {
		t.Fatal(err)
	}
	for scheme, target := range map[string]string{"clickhouse": options.Addr[0], "http": net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))} {
		t.Run(scheme, func(t *testing.T) {
			s := newSluice(t, target)
			opened := func() *Reader {
				r, err := Open(t.Context(), s.through(t, address, scheme), slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = r.Close() })
				return r
			}
			warm, fresh := opened(), opened()
			usage := func(r *Reader) error {
				_, err := r.Usage(t.Context(), []uuid.UUID{uuid.New()}, beijing.LastDays(7, beijing.Today(time.Now())))
				return err
			}
			if err := usage(warm); err != nil {
				t.Fatal(err)
			}
			var slept uint8
			err := warm.each(t.Context(), "sleep", "SELECT sleep(2.9)", nil, func(rows driver.Rows) error { return rows.Scan(&slept) })
			if err != nil {
				t.Errorf("a question that takes longer than the server may be silent: %v", errors.Unwrap(err))
			}
			began := make(chan struct{})
			read := func(r *Reader) error { // hangs in the middle of its answer
				var once sync.Once
				return r.each(t.Context(), "numbers", "SELECT number FROM system.numbers LIMIT 50000000", nil, func(driver.Rows) error {
					once.Do(func() { close(began) })
					return nil
				})
			}
			var asked sync.WaitGroup
			hangs := func(what string, r *Reader, ask func(*Reader) error) {
				asked.Go(func() {
					since := time.Now()
					err := ask(r)
					if took := time.Since(since); took > patience+slack {
						t.Errorf("%s took %s", what, took.Round(time.Millisecond))
					}
					if fault.KindOf(err) != fault.Unavailable || !errors.Is(err, errHangs) {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
			hangs("half an answer", warm, read)
			select {
			case <-began:
			case <-time.After(time.Minute):
				t.Fatal("no answer begins")
			}
			s.set(true)
			for range 2 * maxConnections {
				hangs("a question", warm, usage)
				hangs("a first question", fresh, usage)
			}
			asked.Wait()
			s.set(false)
			if err := usage(fresh); err != nil {
				t.Errorf("it answers again: %v", errors.Unwrap(err))
			}
		})
	}
}
