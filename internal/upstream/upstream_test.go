package upstream

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestBaseURLsOfPublicHTTPServersAreAccepted(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.example.com":              "https://api.example.com",
		"https://API.Example.com/v1/":          "https://api.example.com/v1",
		"http://api.example.com:8080/a/b":      "http://api.example.com:8080/a/b",
		"https://8.8.8.8/v1":                   "https://8.8.8.8/v1",
		"https://[2606:4700::1111]:8443/v1":    "https://[2606:4700::1111]:8443/v1",
		"https://a_b.example.com.":             "https://a_b.example.com.",
		"https://h.example.com/a%2Fb/c":        "https://h.example.com/a%2Fb/c",
		"https://xn--bcher-kva.example/x":      "https://xn--bcher-kva.example/x",
		"https://h.example.com//":              "https://h.example.com",
		"https://[64:ff9b::8.8.8.8]":           "https://[64:ff9b::8.8.8.8]",
		"https://172.15.0.1":                   "https://172.15.0.1",
		"https://100.63.255.255":               "https://100.63.255.255",
		"https://a.b.example.com/v1.0/..x/x..": "https://a.b.example.com/v1.0/..x/x..",
		"https://localhost.example.com":        "https://localhost.example.com",
		"https://123.example.com":              "https://123.example.com",
	} {
		u, err := ParseBaseURL(text, false)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v; want %s", text, u, err, want)
		}
	}
}

func TestBaseURLsThatAreNotPlainAreRefusedEvenWhenPrivateOnesAreAllowed(t *testing.T) {
	for _, text := range []string{
		"", "x", "//host", "/path", "ftp://host.example", "file:///etc/passwd", "javascript:alert(1)", "http:host.example",
		"http://", "http:///x", "http://:80", "http://user@host.example", "http://user:secret@host.example", "http://@host.example",
		"http://host.example?", "http://host.example?a=b", "http://host.example#", "http://host.example/#x",
		"http://host.example:", "http://host.example:0", "http://host.example:65536", "http://host.example:x",
		"http://host.example/../x", "http://host.example/a/./b", "http://host.example/%2e%2e/b", "http://host.example/%2E./b",
		`http://host.example\@other`, `http://host.example/%5cx`, "http://host.example/a b", "http://host.example/\n", "http://h\u00f6st.example",
		"http://2130706433", "http://0x7f000001", "http://0x7f.1", "http://127.1", "http://0177.0.0.1", "http://127.0.0.01", "http://1.2.3.4.5",
		"http://256.1.1.1", "http://127.0.0.1.", "http://0x", "http://a..b", "http://.", "http://[fe80::1%25eth0]", "http://[::1", "http://[v1.x]",
		"http://h%31.example:80%", "http://" + strings.Repeat("a", 64) + ".example", "http://host.example/" + strings.Repeat("a", MaxURLLength),
	} {
		u, err := ParseBaseURL(text, true)
		if err == nil {
			t.Errorf("%q accepted as %s", text, u)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats the password: %v", err)
		}
	}
}

// Every address that leads to the platform's own machines, in every spelling.
var privateHosts = []string{
	"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
	"169.254.169.254", "100.64.0.1", "100.100.100.200", "100.127.255.255", "168.63.129.16", "192.0.0.192", "198.18.0.1", "198.19.255.255",
	"224.0.0.1", "240.0.0.1", "255.255.255.255",
	"[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[fec0::1]",
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[::a00:1]", "[::ffff:0:10.0.0.1]",
	"[64:ff9b::10.0.0.1]", "[64:ff9b:1::8.8.8.8]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2001:0:1::1]",
}

func TestAddressesThatAreNotPublicAreRefusedUnlessAllowed(t *testing.T) {
	for _, host := range append(privateHosts, "localhost", "LOCALHOST", "localhost.", "a.localhost") {
		text := "http://" + host + ":8080/v1"
		if u, err := ParseBaseURL(text, false); !errors.Is(err, ErrForbiddenAddress) {
			t.Errorf("%s: %v, %v", text, u, err)
		}
		if _, err := ParseBaseURL(text, true); err != nil {
			t.Errorf("%s allowed: %v", text, err)
		}
	}
}

func TestDialerRefusesTheAddressBehindANameAndConnectsWhenAllowed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	// The resolver, not the parser, turns this name into a loopback address.
	address := net.JoinHostPort("localhost", port)
	if conn, err := (Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", address); !errors.Is(err, ErrForbiddenAddress) {
		t.Fatalf("a private address was dialled: %v, %v", conn, err)
	}
	conn, err := (Dialer{AllowPrivate: true, Timeout: time.Second}).DialContext(context.Background(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestDialerRefusesEveryPrivateLiteral(t *testing.T) {
	for _, host := range privateHosts {
		host = strings.Trim(host, "[]")
		network := "tcp4"
		if strings.Contains(host, ":") {
			network = "tcp6"
		}
		if err := refusePrivate(network, net.JoinHostPort(host, "80"), nil); !errors.Is(err, ErrForbiddenAddress) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := refusePrivate("tcp4", "8.8.8.8:443", nil); err != nil {
		t.Errorf("a public address: %v", err)
	}
}

func TestAnOriginIsSchemeHostAndPortHoweverTheyAreWritten(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://api.example.com/v1", "HTTPS://API.Example.COM:443/other/", true},
		{"http://api.example.com", "http://api.example.com:80/v1", true},
		{"https://api.example.com:443", "https://api.example.com:0443", true},
		{"https://[2001:DB8::1]/v1", "https://[2001:db8:0:0::1]:443", true},
		{"https://xn--BCHER-kva.example", "https://xn--bcher-kva.example/", true},
		{"https://api.example.com", "http://api.example.com", false},
		{"http://api.example.com:443", "https://api.example.com:443", false},
		{"https://api.example.com", "https://api.example.com:8443", false},
		{"https://api.example.com", "https://api.example.com.", false},
		{"https://api.example.com", "https://example.com", false},
		{"https://b\u00fccher.example", "https://b\u00fccher.example", false}, // never saved: the name is kept in ASCII
		{"", "", false},
	} {
		if SameOrigin(c.a, c.b) != c.same || SameOrigin(c.b, c.a) != c.same {
			t.Errorf("%s and %s: want %t", c.a, c.b, c.same)
		}
	}
}
