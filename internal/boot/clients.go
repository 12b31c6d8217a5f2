package boot

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"

	"callgate/internal/config"
	"callgate/internal/http1"
)

// clients finds out whose a request is that came through proxies (TRUSTED_PROXIES).
type clients struct {
	proxies http1.Proxies
	header  string // config.RealIP or config.ForwardedFor: what the proxies write; the other may be anybody's
	lower   string // the same in lower case
}

func newClients(c config.Config) (clients, error) {
	proxies, err := http1.ParseProxies(c.TrustedProxies)
	if err != nil {
		return clients{}, fmt.Errorf("TRUSTED_PROXIES: %w", err)
	}
	return clients{proxies, c.ClientAddressHeader, strings.ToLower(c.ClientAddressHeader)}, nil
}

// tell makes the client's address the request's remote address, which Fiber's IP is.
func (c clients) tell(ctx *fasthttp.RequestCtx) {
	peer := http1.AddrOf(ctx.RemoteAddr())
	if !c.proxies.Trust(peer) {
		return
	}
	lines := ctx.Request.Header.PeekAll(c.header)
	said := make([]string, len(lines))
	for i, line := range lines {
		said[i] = string(line)
	}
	if client := c.client(peer, said); client != peer {
		ctx.SetRemoteAddr(net.TCPAddrFromAddrPort(netip.AddrPortFrom(client, 0)))
	}
}

// of is the address that a call comes from. Only what a trusted proxy says takes memory.
func (c clients) of(x *http1.Exchange) netip.Addr {
	peer := http1.AddrOf(x.Peer.RemoteAddr())
	if !c.proxies.Trust(peer) {
		return peer
	}
	var said []string
	for _, f := range x.Fields() {
		if http1.EqualFold(x.Name(f), c.lower) {
			said = append(said, string(x.Value(f)))
		}
	}
	return c.client(peer, said)
}

// client is whom a trusted proxy, peer, speaks for, given the lines of the header.
func (c clients) client(peer netip.Addr, said []string) netip.Addr {
	switch {
	case c.header == config.ForwardedFor:
		return c.proxies.ClientOf(peer, said...)
	case len(said) == 1: // a proxy replaces what a client has sent: of two, one is a stranger's
		if addr, err := netip.ParseAddr(said[0]); err == nil {
			return addr.Unmap()
		}
	}
	return peer
}
