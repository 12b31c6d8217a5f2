package boot

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/config"
	"callgate/internal/console"
)

func TestDevAnswersOnlyToItsOwnHostNames(t *testing.T) {
	for _, test := range []struct {
		listen, base string
		yes, no      []string
	}{
		{"127.0.0.1:8080", "http://127.0.0.1:8080",
			[]string{"localhost", "localhost:8080", "LOCALHOST.:1", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::ffff:127.0.0.1]:80", "app.localhost:3000"},
			[]string{"evil.example", "evil.example:8080", "192.168.1.7:8080", "localhost.evil.example", "127.0.0.1.evil.example", "evillocalhost", "8.8.8.8", "0.0.0.0:8080", "%", "[", ":"}},
		{"127.0.0.1:8080", "https://Dev.example.com:8443/x", []string{"dev.example.com", "dev.example.com:1", "localhost"}, []string{"example.com", "x.dev.example.com"}},
		{"box:8080", "http://box:8080", []string{"box:9", "127.0.0.1"}, []string{"10.0.0.1", "boxy"}},
		{"0.0.0.0:8080", "http://0.0.0.0:8080", []string{"192.168.1.7:8080", "[fe80::1]:8080", "0.0.0.0:8080", "localhost"}, []string{"evil.example"}},
		{":8080", "http://:8080", []string{"10.1.2.3", "localhost:1"}, []string{"evil.example"}},
	} {
		h := ownHosts(config.Config{Listen: test.listen, PublicBaseURL: test.base})
		for _, host := range test.yes {
			if !h.own(host) {
				t.Errorf("LISTEN=%s PUBLIC_BASE_URL=%s: %q is refused", test.listen, test.base, host)
			}
		}
		for _, host := range test.no {
			if h.own(host) {
				t.Errorf("LISTEN=%s PUBLIC_BASE_URL=%s: %q is answered", test.listen, test.base, host)
			}
		}
	}
}

func TestAGatewayOnAHostOfItsOwnServesNothingOfTheConsole(t *testing.T) {
	for _, test := range []struct {
		base, gateway string
		refused       []string
		served        []string
	}{
		{"https://console.example.com", "https://Gateway.example.com", []string{"gateway.example.com", "GATEWAY.example.com.:443"}, []string{"console.example.com", "10.0.0.1"}},
		{"https://one.example.com", "https://one.example.com", nil, []string{"one.example.com"}},
		{"https://one.example.com", "https://one.example.com:8443", nil, []string{"one.example.com:8443"}},
	} {
		app := fiber.New(fiber.Config{ErrorHandler: console.Fail(slog.New(slog.DiscardHandler))})
		if host := gatewayHost(config.Config{PublicBaseURL: test.base, PublicGatewayURL: test.gateway}); host != "" {
			app.Use(host.guard)
		}
		app.Get("/", func(c *fiber.Ctx) error { return c.SendString("the console") })
		for _, hosts := range []struct {
			names  []string
			status int
		}{{test.refused, 404}, {test.served, 200}} {
			for _, host := range hosts.names {
				request := httptest.NewRequest(http.MethodGet, "/", nil)
				request.Host = host
				response, err := app.Test(request, 20_000)
				if err != nil || response.StatusCode != hosts.status {
					t.Errorf("%s, %s: %v %v, want %d", test.gateway, host, response, err, hosts.status)
				}
			}
		}
	}
}
