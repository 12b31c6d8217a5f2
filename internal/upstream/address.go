package upstream

import (
	"fmt"
	"net/netip"
)

// forbidden are the networks that the methods of netip.Addr do not name.
var forbidden = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network: Linux connects it to itself
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT, and a cloud's metadata at 100.100.100.200
	netip.MustParsePrefix("168.63.129.16/32"), // a cloud's platform service, public by number only
	netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments, and a cloud's metadata at 192.0.0.192
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved, and broadcast
	netip.MustParsePrefix("64:ff9b:1::/48"),   // local NAT64: what stands inside is the network's own affair
	netip.MustParsePrefix("2001::/32"),        // Teredo: wraps an obfuscated IPv4 address
	netip.MustParsePrefix("fec0::/10"),        // site-local
}

// embedding are the IPv6 networks that carry an IPv4 address, with the byte at which it begins.
var embedding = []struct {
	network netip.Prefix
	at      int
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0/96"), 12},   // IPv4-mapped, where Unmap has not seen it
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// checkPublic returns ErrForbiddenAddress for an address that is not a public unicast one, also when
// it stands inside an IPv6 address.
func checkPublic(addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	if addr.IsLoopback() || addr.IsPrivate() || addr.IsUnspecified() || addr.IsMulticast() ||
		addr.IsLinkLocalUnicast() || addr.IsInterfaceLocalMulticast() {
		return fmt.Errorf("%s: %w", addr, ErrForbiddenAddress)
	}
	for _, network := range forbidden {
		if network.Contains(addr) {
			return fmt.Errorf("%s: %w", addr, ErrForbiddenAddress)
		}
	}
	if addr.Is4() {
		return nil
	}
	bytes := addr.As16()
	for _, e := range embedding {
		if !e.network.Contains(addr) {
			continue
		}
		inner := netip.AddrFrom4([4]byte(bytes[e.at : e.at+4]))
		if err := checkPublic(inner); err != nil {
			return fmt.Errorf("inside %s: %w", addr, err)
		}
	}
	return nil
}
