package http1

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// proxyHeader makes a header as a proxy would: command and family, addresses, further fields.
func proxyHeader(command, family byte, rest ...byte) []byte {
	header := append([]byte(proxySignature), command, family)
	return append(binary.BigEndian.AppendUint16(header, uint16(len(rest))), rest...)
}

var (
	tcp4 = []byte{203, 0, 113, 7, 10, 0, 0, 1, 0x30, 0x39, 0, 80}
	tcp6 = slices.Concat(netip.MustParseAddr("2001:db8::7").AsSlice(), netip.MustParseAddr("::1").AsSlice(), []byte{0x30, 0x39, 0, 80})
)

// proper are headers of proxies and whom they name.
var proper = map[string]struct {
	header []byte
	source string
}{
	"TCP over IPv4":                 {proxyHeader(0x21, 0x11, tcp4...), "203.0.113.7:12345"},
	"TCP over IPv6":                 {proxyHeader(0x21, 0x21, tcp6...), "[2001:db8::7]:12345"},
	"an IPv4 address in IPv6":       {proxyHeader(0x21, 0x21, slices.Concat([]byte{10: 255, 11: 255, 12: 203, 14: 113, 15: 7}, tcp6[16:])...), "203.0.113.7:12345"},
	"with fields":                   {proxyHeader(0x21, 0x11, slices.Concat(tcp4, []byte{0x04, 0, 2, 1, 1, 0x05, 0, 0})...), "203.0.113.7:12345"},
	"as long as may be":             {proxyHeader(0x21, 0x11, slices.Concat(tcp4, []byte{0x04, 0x07, 0xe1}, make([]byte, 0x7e1))...), "203.0.113.7:12345"},
	"the proxy's own":               {proxyHeader(0x20, 0x00), "invalid AddrPort"},
	"the proxy's own, with a form":  {proxyHeader(0x20, 0x11, tcp4...), "invalid AddrPort"},
	"of whom it does not know":      {proxyHeader(0x21, 0x00), "invalid AddrPort"},
	"unknown, with anything behind": {proxyHeader(0x21, 0x00, 1, 2, 3), "invalid AddrPort"},
}

// improper are what a proxy must not send.
var improper = map[string][]byte{
	"version 1":               []byte("PROXY TCP4 203.0.113.7 10.0.0.1 12345 80\r\n"),
	"a request":               []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
	"another signature":       []byte("\r\n\r\n\x00\r\nQUIT\r\x21\x11\x00\x0c"),
	"no such version":         proxyHeader(0x11, 0x11, tcp4...),
	"no such command":         proxyHeader(0x22, 0x11, tcp4...),
	"UDP":                     proxyHeader(0x21, 0x12, tcp4...),
	"a Unix socket":           proxyHeader(0x21, 0x31, make([]byte, 216)...),
	"half an address":         proxyHeader(0x21, 0x11, tcp4[:11]...),
	"an IPv4 address as IPv6": proxyHeader(0x21, 0x21, tcp4...),
	"half a field":            proxyHeader(0x21, 0x11, slices.Concat(tcp4, []byte{0x04, 0})...),
	"a field beyond the end":  proxyHeader(0x21, 0x11, slices.Concat(tcp4, []byte{0x04, 0, 9, 1})...),
	"too long":                proxyHeader(0x21, 0x11, slices.Concat(tcp4, []byte{0x04, 0x07, 0xe2}, make([]byte, 0x7e2))...),
}

func TestAProxyHeaderIsReadWhereverItIsCutAndNothingBehindIt(t *testing.T) {
	for name, test := range proper {
		with := append(slices.Clone(test.header), "GET / HTTP/1.1\r\n"...)
		for end := range with {
			source, length, err := parseProxyHeader(with[:end])
			switch whole := end >= len(test.header); {
			case err != nil, whole && length != len(test.header), !whole && length != 0:
				t.Fatalf("%s, %d of %d bytes: %d, %v", name, end, len(test.header), length, err)
			case whole && source.String() != test.source:
				t.Fatalf("%s names %v", name, source)
			}
		}
	}
	for name, header := range improper {
		if source, length, err := parseProxyHeader(header); err == nil || length != 0 || source.IsValid() {
			t.Errorf("%s is read as %v, %d bytes, %v", name, source, length, err)
		}
	}
}

// asked sends bytes on a new connection in pieces and returns whole the server's word, and whom it saw.
func (s *stage) asked(pieces ...[]byte) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, piece := range pieces {
		if _, err := conn.Write(piece); err != nil {
			break
		}
	}
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	all, _ := io.ReadAll(conn)
	return string(all)
}

// named is a stage that answers each request with the address it comes from.
func named(t *testing.T, config ListenerConfig) *stage {
	t.Helper()
	s := newStage(t, config)
	s.server.Handle = func(x *Exchange) bool {
		_, _ = io.WriteString(x.Conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+x.Peer.RemoteAddr().String())
		return false
	}
	return s
}

const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

func TestTheClientATrustedProxyNamesIsTheConnectionsAddress(t *testing.T) {
	s := named(t, ListenerConfig{ProxyHeaderFrom: Proxies{netip.MustParsePrefix("127.0.0.0/8")}})
	for name, test := range proper {
		at := len(test.header) / 2
		for how, pieces := range map[string][][]byte{
			"at once":   {append(slices.Clone(test.header), request...)},
			"in pieces": {test.header[:1], test.header[1:at], test.header[at:], []byte(request)},
		} {
			got := s.asked(pieces...)
			want := test.source
			if want == "invalid AddrPort" {
				want = "127.0.0.1:"
			}
			if !strings.Contains(got, "HTTP/1.1 200 ") || !strings.Contains(got, "\r\n\r\n"+want) {
				t.Errorf("%s, %s: %q", name, how, got)
			}
		}
	}
	if n := s.listener.Stats().ProxyHeadersRefused; n != 0 {
		t.Errorf("%d were refused", n)
	}
}

func TestATrustedProxyWithoutAProperHeaderIsServedNothing(t *testing.T) {
	s := named(t, ListenerConfig{ProxyHeaderFrom: Proxies{netip.MustParsePrefix("127.0.0.1/32")}})
	for name, header := range improper {
		if got := s.asked(header, []byte(request)); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if n := s.listener.Stats().ProxyHeadersRefused; n != int64(len(improper)) {
		t.Errorf("%d of %d are counted", n, len(improper))
	}
	conn, err := net.Dial("tcp", s.listener.Addr().String()) // a check whether somebody listens is no fault
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	_, _ = io.ReadAll(conn)
	_ = conn.Close()
	if n := s.listener.Stats().ProxyHeadersRefused; n != int64(len(improper)) {
		t.Errorf("an empty connection is counted: %d", n)
	}
}

func TestAProxyHeaderFromAStrangerIsNoRequest(t *testing.T) {
	for name, from := range map[string]Proxies{"nobody trusted": nil, "others trusted": {netip.MustParsePrefix("10.0.0.0/8")}} {
		s := named(t, ListenerConfig{ProxyHeaderFrom: from})
		for kind, test := range proper {
			if got := s.asked(test.header, []byte(request)); !strings.HasPrefix(got, "HTTP/1.1 400 ") || strings.Count(got, "HTTP/1.1") != 1 {
				t.Errorf("%s, %s: %q", name, kind, got)
			}
		}
		if got := s.asked([]byte(request)); !strings.Contains(got, "\r\n\r\n127.0.0.1:") {
			t.Errorf("%s: a plain request: %q", name, got)
		}
	}
}

// TestAHalfProxyHeaderHoldsAConnectionForFiveSecondsAtMost, and lets a listener that leaves go at once.
func TestAHalfProxyHeaderHoldsAConnectionForFiveSecondsAtMost(t *testing.T) {
	s := named(t, ListenerConfig{ProxyHeaderFrom: Proxies{netip.MustParsePrefix("127.0.0.1/32")}})
	began := time.Now()
	if got := s.asked([]byte(proxySignature)); got != "" {
		t.Errorf("%q", got)
	}
	if took := time.Since(began); took < proxyHeaderTime-time.Second || took > 2*proxyHeaderTime {
		t.Errorf("closed after %v", took)
	}
	conn, err := net.Dial("tcp", s.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, proxySignature)
	for s.listener.Stats().Open == 0 {
		time.Sleep(time.Millisecond)
	}
	began = time.Now()
	if left := s.listener.Drain(t.Context()); left != 0 || time.Since(began) > 2*time.Second {
		t.Errorf("%d left after %v", left, time.Since(began))
	}
}

// FuzzProxyHeaders reads anything: what is taken is within its bounds, is the same with whatever comes behind
// it, and is still waited for when it is cut.
func FuzzProxyHeaders(f *testing.F) {
	for _, test := range proper {
		f.Add(test.header)
	}
	for _, header := range improper {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		source, length, err := parseProxyHeader(p)
		if err != nil || length == 0 {
			if source.IsValid() || length != 0 {
				t.Fatalf("%x: %v, %d, %v", p, source, length, err)
			}
			if err == nil && len(p) >= maxProxyHeader {
				t.Fatalf("%d bytes are not enough", len(p))
			}
			return
		}
		if length > len(p) || length > maxProxyHeader || length < proxyFixed {
			t.Fatalf("%d bytes of %d", length, len(p))
		}
		again, n, err := parseProxyHeader(append(slices.Clone(p[:length]), "GET"...))
		if again != source || n != length || err != nil {
			t.Fatalf("%x: %v, then %v, %d, %v", p, source, again, n, err)
		}
		if _, n, err := parseProxyHeader(p[:length-1]); n != 0 || err != nil {
			t.Fatalf("%x cut: %d, %v", p[:length-1], n, err)
		}
	})
}
