package boot

import (
	"testing"

	"callgate/internal/config"
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
