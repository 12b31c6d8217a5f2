package boot

import (
	"net"
	"net/netip"

	"github.com/valyala/fasthttp"

	"callgate/internal/config"
	"callgate/internal/http1"
)

// clients finds out whose a request is that came through proxies (TRUSTED_PROXIES).
type clients struct {
	proxies http1.Proxies
	header  string // config.RealIP or config.ForwardedFor: what the proxies write; the other may be anybody's
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
	client := peer
	switch {
	case c.header == config.ForwardedFor:
		client = c.proxies.ClientOf(peer, said...)
	case len(said) == 1: // a proxy replaces what a client has sent: of two, one is a stranger's
		if addr, err := netip.ParseAddr(said[0]); err == nil {
			client = addr.Unmap()
		}
	}
	if client != peer {
		ctx.SetRemoteAddr(net.TCPAddrFromAddrPort(netip.AddrPortFrom(client, 0)))
	}
}
