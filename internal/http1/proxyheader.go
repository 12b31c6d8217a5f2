package http1

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"time"
)

// The header of the PROXY protocol, version 2, with which a proxy that passes on bytes begins a connection to
// say whose they are: a signature, version with command, family with transport, the length of what follows,
// and there addresses, ports and further fields (type, length, value) that are not used here.
const (
	proxySignature = "\r\n\r\n\x00\r\nQUIT\n"
	proxyFixed     = len(proxySignature) + 4

	maxProxyHeader  = 2 << 10 // bytes of all of it; the largest that is known of takes some hundred
	proxyHeaderTime = 5 * time.Second

	proxyLocal   = 0x20 // the proxy's own connection, a health check
	proxyForward = 0x21

	proxyUnspecified, proxyTCP4, proxyTCP6 = 0x00, 0x11, 0x21
)

var errProxyHeader = errors.New("no PROXY protocol header of version 2 for TCP, or a malformed one")

// parseProxyHeader reads the header that p begins with, and tells how long it is: 0 when more of it has to
// come. source is not valid where the proxy speaks for itself or does not know.
func parseProxyHeader(p []byte) (source netip.AddrPort, length int, err error) {
	if some := min(len(p), len(proxySignature)); string(p[:some]) != proxySignature[:some] {
		return source, 0, errProxyHeader
	}
	if len(p) < proxyFixed {
		return source, 0, nil
	}
	command, family := p[12], p[13]
	length = proxyFixed + int(binary.BigEndian.Uint16(p[14:]))
	if command != proxyLocal && command != proxyForward || length > maxProxyHeader {
		return source, 0, errProxyHeader
	}
	if len(p) < length {
		return source, 0, nil
	}
	if command == proxyLocal {
		return source, length, nil
	}
	source, fields, ok := proxySource(family, p[proxyFixed:length])
	if !ok || !wholeFields(fields) {
		return netip.AddrPort{}, 0, errProxyHeader
	}
	return source, length, nil
}

// proxySource reads the source of the addresses that rest begins with, and gives what is behind them.
func proxySource(family byte, rest []byte) (source netip.AddrPort, fields []byte, ok bool) {
	var size int // of one address
	switch family {
	case proxyUnspecified:
		return source, nil, true // what follows then has no form
	case proxyTCP4:
		size = net.IPv4len
	case proxyTCP6:
		size = net.IPv6len
	default:
		return source, nil, false
	}
	all := 2 * (size + 2) // both addresses, both ports
	if len(rest) < all {
		return source, nil, false
	}
	addr, _ := netip.AddrFromSlice(rest[:size])
	return netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(rest[2*size:])), rest[all:], true
}

// wholeFields tells whether fields are a sequence of type, length and as many bytes.
func wholeFields(fields []byte) bool {
	for len(fields) > 0 {
		if len(fields) < 3 {
			return false
		}
		end := 3 + int(binary.BigEndian.Uint16(fields[1:]))
		if end > len(fields) {
			return false
		}
		fields = fields[end:]
	}
	return true
}

// OwnProxyHeader begins a connection that a program of ours makes where a proxy's is expected.
func OwnProxyHeader() []byte {
	return append([]byte(proxySignature), proxyLocal, proxyUnspecified, 0, 0)
}

// introduced reads the header that a trusted proxy begins its connections with. It reports false when the
// connection is to be closed: nobody knows whose requests would follow.
func (c *served) introduced() bool {
	_ = c.SetReadDeadline(time.Now().Add(proxyHeaderTime))
	for {
		source, length, err := parseProxyHeader(c.Unread())
		if length > 0 {
			c.Discard(length)
			c.peer.introduce(source)
			return true
		}
		began := c.Buffer().Len() > 0
		if err == nil && c.fill() == nil {
			continue
		}
		if began { // else it only looked whether somebody listens
			c.peer.listener.proxyHeaderRefused(c.peer)
		}
		return false
	}
}

// introduce makes source the connection's peer, and lifts the time limit.
func (c *Accepted) introduce(source netip.AddrPort) {
	if source.IsValid() {
		c.source = net.TCPAddrFromAddrPort(source)
	}
	c.leaveMu.Lock()
	defer c.leaveMu.Unlock()
	if kind(c.state.Load()) == waiting {
		_ = c.SetReadDeadline(time.Time{})
	}
}

// expectsProxyHeader tells whether the connection comes from a proxy that has to say for whom.
func (c *Accepted) expectsProxyHeader() bool {
	from := c.listener.config.ProxyHeaderFrom
	return len(from) > 0 && from.Trust(AddrOf(c.tcp.RemoteAddr()))
}

func (l *Listener) proxyHeaderRefused(c *Accepted) {
	l.proxyHeadersRefused.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unintroduced.say(func(times int) {
		l.logger.Warn("connections of a trusted proxy are closed: they do not begin with a PROXY protocol header of version 2",
			"proxy", c.tcp.RemoteAddr().String(), "times", times)
	})
}
