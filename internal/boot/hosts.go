package boot

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/config"
	"callgate/internal/fault"
)

// hosts are the names that callgate dev answers to. A page of any site can make its own name lead to a
// loopback address after it was loaded (DNS rebinding), and would then read the sign-in codes of
// /dev/mails as one of this origin; it cannot make a browser send another name than its own.
type hosts struct {
	names     map[string]bool
	addresses bool // of every kind, not only loopback: nobody has to be asked where an address leads
}

// ownHosts are loopback names and addresses and what LISTEN and PUBLIC_BASE_URL name. Where LISTEN is
// no loopback address, every address is one that somebody may have chosen to reach it by.
func ownHosts(c config.Config) hosts {
	h := hosts{names: map[string]bool{"localhost": true}}
	if parsed, err := url.Parse(c.PublicBaseURL); err == nil {
		h.names[strings.ToLower(parsed.Hostname())] = true
	}
	if host := gatewayHost(c); host != "" {
		h.names[string(host)] = true
	}
	if name, _, err := net.SplitHostPort(c.Listen); err == nil {
		h.names[strings.ToLower(name)] = true
		address, err := netip.ParseAddr(name)
		h.addresses = name == "" || err == nil && !address.IsLoopback()
	}
	return h
}

// own tells whether a Host header names this process.
func (h hosts) own(header string) bool {
	name := hostName(header)
	if address, err := netip.ParseAddr(name); err == nil {
		return address.Unmap().IsLoopback() || h.addresses || h.names[name]
	}
	return h.names[name] || strings.HasSuffix(name, ".localhost")
}

// guard refuses every other name. Calls of the gateway do not pass here: they carry a key that no
// other site's page has.
func (h hosts) guard(c *fiber.Ctx) error {
	if named := string(c.Request().Header.Host()); named != "" && !h.own(named) {
		return fault.New(fault.WrongHost, "callgate dev does not answer to this host name; use localhost, or set PUBLIC_BASE_URL to the address you use")
	}
	return c.Next()
}

// hostName is the name or address in a Host header, as it is compared.
func hostName(header string) string {
	name := header
	if host, _, err := net.SplitHostPort(header); err == nil {
		name = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
}

// onlyGateway is the host name of a gateway that has one of its own.
type onlyGateway string

// gatewayHost is the name in PUBLIC_GATEWAY_URL, empty where the console has the same.
func gatewayHost(c config.Config) onlyGateway {
	gateway, err := url.Parse(c.PublicGatewayURL)
	base, wrong := url.Parse(c.PublicBaseURL)
	if err != nil || wrong != nil || hostName(gateway.Host) == hostName(base.Host) {
		return ""
	}
	return onlyGateway(hostName(gateway.Host))
}

// guard keeps the console off the gateway's host: what upstreams answer there then shares its origin
// with nothing. Calls and health were answered before.
func (h onlyGateway) guard(c *fiber.Ctx) error {
	if hostName(string(c.Request().Header.Host())) == string(h) {
		return fault.New(fault.NotFound, "this host serves the gateway only; the console is at PUBLIC_BASE_URL")
	}
	return c.Next()
}
