package http1

import (
	"net/netip"
	"testing"
)

func TestTheClientIsTheRightMostAddressThatIsNoProxy(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "192.0.2.1", "2001:db8:1::/48", "::ffff:172.16.0.0/108"})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		peer  string
		lines []string
		want  string
	}{
		"a stranger forges":                  {"203.0.113.9", []string{"198.51.100.1"}, "203.0.113.9"},
		"no word":                            {"10.0.0.1", nil, "10.0.0.1"},
		"one proxy":                          {"10.0.0.1", []string{"203.0.113.9"}, "203.0.113.9"},
		"what the client wrote":              {"10.0.0.1", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		"what the client wrote, as a proxy":  {"10.0.0.1", []string{"10.0.0.7, 203.0.113.9"}, "203.0.113.9"},
		"a chain":                            {"10.0.0.1", []string{"198.51.100.1,203.0.113.9 ,\t10.2.3.4, 192.0.2.1"}, "203.0.113.9"},
		"a chain in lines":                   {"10.0.0.1", []string{"198.51.100.1", "203.0.113.9", "10.2.3.4,192.0.2.1"}, "203.0.113.9"},
		"proxies only":                       {"10.0.0.1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"no address ends the list":           {"10.0.0.1", []string{"198.51.100.1, unknown, 10.0.0.2"}, "10.0.0.2"},
		"no address at all":                  {"10.0.0.1", []string{"<script>"}, "10.0.0.1"},
		"an empty line":                      {"10.0.0.1", []string{""}, "10.0.0.1"},
		"an empty member":                    {"10.0.0.1", []string{"203.0.113.9,"}, "10.0.0.1"},
		"with a port":                        {"10.0.0.1", []string{"203.0.113.9:4711"}, "203.0.113.9"},
		"IPv6":                               {"2001:db8:1::1", []string{"2001:db8:2::9"}, "2001:db8:2::9"},
		"IPv6 in brackets, with a port":      {"2001:db8:1::1", []string{"[2001:db8:2::9]:4711, [2001:db8:1::2]"}, "2001:db8:2::9"},
		"IPv4 in IPv6":                       {"::ffff:10.0.0.1", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"a network written as IPv4 in IPv6":  {"172.16.9.9", []string{"203.0.113.9"}, "203.0.113.9"},
		"a zone hides no proxy and no other": {"10.0.0.1", []string{"fe80::1%eth0"}, "fe80::1"},
	} {
		if got := proxies.ClientOf(netip.MustParseAddr(test.peer), test.lines...); got.String() != test.want {
			t.Errorf("%s: %v, want %s", name, got, test.want)
		}
	}
	for _, text := range []string{"", "10.0.0.0/33", "host", "10.0.0.1:80"} {
		if _, err := ParseProxies([]string{text}); err == nil {
			t.Errorf("%q is taken for a network", text)
		}
	}
}

func FuzzForwardedFor(f *testing.F) {
	f.Add("203.0.113.9", "10.0.0.1, [::1]:80, unknown")
	proxies, err := ParseProxies([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	peer := netip.MustParseAddr("10.0.0.1")
	f.Fuzz(func(t *testing.T, forged, said string) {
		if got := proxies.ClientOf(peer, forged, said); !got.IsValid() {
			t.Fatalf("%q, %q: no address", forged, said)
		}
		// What a proxy adds on the right decides, whatever stands left of it.
		if got := proxies.ClientOf(peer, forged, said+", 203.0.113.9"); got.String() != "203.0.113.9" {
			t.Fatalf("%q, %q: %v", forged, said, got)
		}
	})
}
