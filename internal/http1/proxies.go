package http1

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are networks whose word about a client's address is believed. None trusts nobody.
type Proxies []netip.Prefix

// ParseProxies reads addresses and CIDRs.
func ParseProxies(texts []string) (Proxies, error) {
	proxies := make(Proxies, 0, len(texts))
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, err := netip.ParseAddr(text)
			if err != nil {
				return nil, fmt.Errorf("%q is no address and no CIDR", text)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		if addr := prefix.Addr(); addr.Is4In6() && prefix.Bits() >= 96 { // as addresses are compared
			prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
		}
		proxies = append(proxies, prefix.Masked())
	}
	return proxies, nil
}

// Trust tells whether addr is one of the proxies.
func (p Proxies) Trust(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// ClientOf is the address a request comes from, given its connection's peer and the lines of its
// X-Forwarded-For field. Every proxy adds the address it was asked from on the right, so the list is read from
// there, for as long as proxies have spoken: the first address that is none of them is the client's. What
// stands left of it the client may have written itself. Where all are proxies the left-most is taken, and what
// is no address ends the list.
func (p Proxies) ClientOf(peer netip.Addr, forwardedFor ...string) netip.Addr {
	for _, line := range slices.Backward(forwardedFor) {
		for more := true; more; {
			if !p.Trust(peer) {
				return peer
			}
			at := strings.LastIndexByte(line, ',')
			said, ok := addressOf(strings.Trim(line[at+1:], " \t"))
			if !ok {
				return peer
			}
			peer = said
			line, more = line[:max(at, 0)], at >= 0
		}
	}
	return peer
}

// addressOf reads an address as proxies write it: bare, in brackets, or with a port.
func addressOf(text string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		with, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = with.Addr()
	}
	return addr.Unmap().WithZone(""), true
}

// AddrOf is the address in what a connection says of its peer; the zero Addr where there is none.
func AddrOf(of net.Addr) netip.Addr {
	tcp, ok := of.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}
