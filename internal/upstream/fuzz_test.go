package upstream

import (
	"net/netip"
	"strings"
	"testing"
)

// FuzzBaseURLs reads any text: a URL that is taken has nothing but scheme, public host, port and
// path, and is read as itself again.
func FuzzBaseURLs(f *testing.F) {
	for _, host := range append(privateHosts, "api.example.com", "user:pw@h.example", "2130706433", "0x7f.1", "h.example:80", "h.example%00", "[::ffff:8.8.8.8]") {
		f.Add("http://" + host)
		f.Add("https://" + host + "/v1/%2e%2e/x?q#f")
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseBaseURL(text, false)
		if err != nil {
			return
		}
		if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
			t.Fatalf("%q is taken as %#v", text, u)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && checkPublic(addr) != nil {
			t.Fatalf("%q is taken", text)
		}
		if strings.Contains(u.Path, "/../") || strings.HasSuffix(u.Path, "/") {
			t.Fatalf("%q is taken as %s", text, u)
		}
		again, err := ParseBaseURL(u.String(), false)
		if err != nil || again.String() != u.String() {
			t.Fatalf("%q is %s, and that is %v, %v", text, u, again, err)
		}
	})
}
