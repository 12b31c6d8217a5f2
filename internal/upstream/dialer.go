package upstream

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Dialer connects to upstreams. The address is checked after resolution, on the socket about to
// connect, so that a name that resolves differently the second time cannot pass.
type Dialer struct {
	AllowPrivate bool          // let loopback, private and link-local addresses pass
	Timeout      time.Duration // for resolution and connection together; 0: only the context bounds them
}

// DialContext connects to host:port. The error wraps ErrForbiddenAddress when the resolved address
// may not be called.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: d.Timeout}
	if !d.AllowPrivate {
		dialer.Control = refusePrivate
	}
	return dialer.DialContext(ctx, network, address)
}

func refusePrivate(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%s: %w", network, ErrForbiddenAddress)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address to connect to: %w", err)
	}
	return checkPublic(target.Addr())
}
