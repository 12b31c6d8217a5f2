package boot

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/config"
	"callgate/internal/gateway"
	"callgate/internal/http1"
)

// front is the public side of a process.
type front struct {
	listener *http1.Listener
	server   http1.Server
	clients  clients
}

// refusedConnection answers a connection over MAX_CONNS. It is unread, so nobody knows whom it asked:
// the answer is the gateway's.
var refusedConnection = func() []byte {
	const message = "The server has too many connections. Try again shortly."
	const body = `{"error":{"message":"` + message + `","type":"server_error","code":"overloaded","param":null},"type":"error","message":"` + message + `"}`
	return []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n" +
		"Retry-After: 1\r\nX-Callgate-Error: overloaded\r\nConnection: close\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}()

func openFront(c config.Config, logger *slog.Logger, registry prometheus.Registerer) (*front, error) {
	socket, err := http1.Listen(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("LISTEN: %w", err)
	}
	most, short := connectionCap(c, descriptors())
	if short {
		logger.Warn("MAX_CONNS does not fit the limit of open files; raise it (ulimit -n)", "MAX_CONNS", c.MaxConns, "used", most)
	}
	from, err := newClients(c)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	settings := http1.ListenerConfig{MaxConns: most, Refusal: refusedConnection, WriteStall: c.ClientWriteTimeout, Logger: logger}
	if c.ProxyProtocol {
		settings.ProxyHeaderFrom = from.proxies
	}
	f := &front{listener: http1.NewListener(socket, settings), clients: from}
	registry.MustRegister(f.collectors(most)...)
	return f, nil
}

// descriptors is how many files the process may open: Go has raised the soft limit to the hard one.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxUint64
	}
	return limit.Cur
}

const (
	// mostConns is MAX_CONNS by default where descriptors do not bound it.
	mostConns = 65_536
	// keptDescriptors are left for stores, the spool and connections that are being refused.
	keptDescriptors = 512
)

// connectionCap is how many connections are served at once: by default so many that each can have one
// to an upstream besides. short says that MAX_CONNS asks for more than there are descriptors.
func connectionCap(c config.Config, limit uint64) (most int, short bool) {
	limit = min(limit, 1<<30)
	free := int(limit - min(keptDescriptors, limit/4))
	switch {
	case c.MaxConns > free:
		return free, true
	case c.MaxConns > 0:
		return c.MaxConns, false
	case c.Role != config.Console:
		free /= 2
	}
	return min(mostConns, free), false
}

func (f *front) collectors(most int) []prometheus.Collector {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	counter := func(name, help string, value func(http1.ListenerStats) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value(f.listener.Stats())) })
	}
	return []prometheus.Collector{
		gauge("callgate_connections", "Open connections on the public listener.", func() float64 { return float64(f.listener.Stats().Open) }),
		gauge("callgate_connections_limit", "How many may be open at once (MAX_CONNS, or what the limit of open files allows).", func() float64 { return float64(most) }),
		counter("callgate_connections_accepted_total", "Connections accepted.", func(s http1.ListenerStats) int64 { return s.Accepted }),
		counter("callgate_connections_refused_total", "Connections answered 503 and closed, unread, because too many were open.", func(s http1.ListenerStats) int64 { return s.Refused }),
		counter("callgate_connections_gave_way_total", "Connections closed for a new one while they waited for a request.", func(s http1.ListenerStats) int64 { return s.GaveWay }),
		counter("callgate_connections_stalled_total", "Connections cut because they took nothing of an answer for CLIENT_WRITE_TIMEOUT.", func(s http1.ListenerStats) int64 { return s.Stalled }),
		counter("callgate_proxy_headers_refused_total", "Connections of TRUSTED_PROXIES closed because they did not begin with a PROXY protocol header.", func(s http1.ListenerStats) int64 { return s.ProxyHeadersRefused }),
		counter("callgate_accept_failures_total", "Failed attempts to accept a connection; out of descriptors, above all.", func(s http1.ListenerStats) int64 { return s.AcceptFailures }),
	}
}

// serve answers the requests of the front's connections: the gateway, where there is one, its own, the app all
// others.
func (f *front) serve(calls *gateway.Gateway, app *fiber.App) error {
	rest := handOver(app, f.clients)
	f.server.MaxHead = maxHead
	f.server.Handle, f.server.Refuse = rest.handle, rest.refuse
	if calls != nil {
		f.server.Handle = func(x *http1.Exchange) bool {
			if gateway.Owns(x.Target()) {
				return calls.Handle(x)
			}
			return rest.handle(x)
		}
		f.server.Refuse = func(x *http1.Exchange, fault error) {
			if gateway.OwnsBeginning(x.Conn.Unread()) {
				calls.Refuse(x, fault)
				return
			}
			rest.refuse(x, fault)
		}
	}
	return f.server.Serve(f.listener)
}

// lameDuck tells callers to go elsewhere, and serves them, for a while.
func (f *front) lameDuck(lasts time.Duration) {
	f.server.Leave()
	time.Sleep(lasts)
}
