package boot

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/config"
	"callgate/internal/http1"
)

// whoAmI serves an app that answers with the client's address, with what the configuration says of proxies.
func whoAmI(t *testing.T, c config.Config) (address string) {
	t.Helper()
	settings := fiber.Config{DisableStartupMessage: true, Immutable: true, EnableTrustedProxyCheck: true}
	app := fiber.New(settings)
	app.All("/", func(ctx *fiber.Ctx) error { return ctx.SendString(ctx.IP()) })
	c.Listen = "127.0.0.1:0"
	f, err := openFront(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- f.serve(nil, app) }()
	t.Cleanup(func() {
		f.listener.CloseAll()
		<-ended
		if !f.server.Wait(5 * time.Second) {
			t.Error("requests were still being handled")
		}
	})
	return f.listener.Addr().String()
}

// whoCalls serves what answers with the address that a call comes from.
func whoCalls(t *testing.T, c config.Config) (address string) {
	t.Helper()
	from, err := newClients(c)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := http1.NewListener(socket, http1.ListenerConfig{})
	server := &http1.Server{Handle: func(x *http1.Exchange) bool {
		text := from.of(x).String()
		_, err := fmt.Fprintf(x.Conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		return err == nil
	}}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		listener.CloseAll()
		<-ended
		if !server.Wait(5 * time.Second) {
			t.Error("requests were still being handled")
		}
	})
	return socket.Addr().String()
}

// TestTheClientsAddressIsBelievedOfTrustedProxiesAlone asks on one connection, so that no address stays from
// one request to the next.
func TestTheClientsAddressIsBelievedOfTrustedProxiesAlone(t *testing.T) {
	const realIP, forwardedFor = config.RealIP, config.ForwardedFor
	for _, test := range []struct {
		trusted, header string
		asked           []http.Header
		want            []string
	}{
		{"10.0.0.0/8", realIP, []http.Header{{realIP: {"203.0.113.7"}}, {}}, []string{"127.0.0.1", "127.0.0.1"}},
		{"10.0.0.0/8", forwardedFor, []http.Header{{forwardedFor: {"203.0.113.7"}}}, []string{"127.0.0.1"}},
		{"127.0.0.1", realIP, []http.Header{{realIP: {"203.0.113.7"}, forwardedFor: {"198.51.100.1"}}, {}, {realIP: {"2001:db8::7"}}, {realIP: {"nobody"}}, {realIP: {"203.0.113.7", "203.0.113.8"}}},
			[]string{"203.0.113.7", "127.0.0.1", "2001:db8::7", "127.0.0.1", "127.0.0.1"}},
		{"127.0.0.0/8", forwardedFor, []http.Header{{realIP: {"198.51.100.1"}, forwardedFor: {"198.51.100.2, 203.0.113.7"}}, {}, {realIP: {"198.51.100.1"}}, {forwardedFor: {"198.51.100.2", "203.0.113.7, 127.0.0.9"}}},
			[]string{"203.0.113.7", "127.0.0.1", "127.0.0.1", "203.0.113.7"}},
	} {
		c := config.Config{TrustedProxies: []string{test.trusted}, ClientAddressHeader: test.header, MaxConns: 10}
		for of, address := range map[string]string{"the console": whoAmI(t, c), "the gateway": whoCalls(t, c)} {
			for i, got := range askedAs(t, address, test.asked) {
				if got != test.want[i] {
					t.Errorf("%s, %s trusted for %s, %v: %s, want %s", of, test.trusted, test.header, test.asked[i], got, test.want[i])
				}
			}
		}
	}
}

// askedAs gives the answers to requests with these headers, all on one connection.
func askedAs(t *testing.T, address string, asked []http.Header) (answers []string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	for _, header := range asked {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = canonical(header)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		answers = append(answers, string(got))
	}
	return answers
}

func canonical(header http.Header) http.Header {
	out := http.Header{}
	for name, values := range header {
		out[http.CanonicalHeaderKey(name)] = values
	}
	return out
}

// TestTheProxyProtocolNamesThePeerOfWhatTheHeadersSay: a TCP proxy before an HTTP proxy.
func TestTheProxyProtocolNamesThePeerOfWhatTheHeadersSay(t *testing.T) {
	address := whoAmI(t, config.Config{
		TrustedProxies: []string{"127.0.0.1", "192.0.2.0/24"}, ClientAddressHeader: config.ForwardedFor, ProxyProtocol: true, MaxConns: 10,
	})
	named := func(a, b, c, d byte) string {
		return "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + string([]byte{a, b, c, d, 10, 0, 0, 1, 1, 1, 0, 80})
	}
	for what, test := range map[string]struct{ header, want string }{
		"the HTTP proxy":           {named(192, 0, 2, 1), "203.0.113.7"},
		"a stranger":               {named(198, 51, 100, 1), "198.51.100.1"},
		"a health check":           {string(http1.OwnProxyHeader()), "203.0.113.7"},
		"a proxy without a header": {"", ""},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, test.header+"GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n")
		all, _ := io.ReadAll(conn)
		_ = conn.Close()
		_, body, _ := strings.Cut(string(all), "\r\n\r\n")
		if body != test.want {
			t.Errorf("%s: %q, want %q", what, all, test.want)
		}
	}
}

func TestTheHealthCommandSpeaksTheProxyProtocolWhereItIsExpectedOfIt(t *testing.T) {
	for _, trusted := range []string{"127.0.0.1", "10.0.0.0/8"} {
		app := fiber.New(fiber.Config{DisableStartupMessage: true})
		(&health{}).register(app)
		c := config.Config{Listen: "127.0.0.1:0", TrustedProxies: []string{trusted}, ProxyProtocol: true, MaxConns: 10}
		f, err := openFront(c, slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- f.serve(nil, app) }()
		environ := []string{"LISTEN=" + f.listener.Addr().String(), "PROXY_PROTOCOL=true", "TRUSTED_PROXIES=" + trusted}
		if err := Health(t.Context(), environ); err != nil {
			t.Errorf("%s trusted: %v", trusted, err)
		}
		f.listener.CloseAll()
		<-ended
	}
}
