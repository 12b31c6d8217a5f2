package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"
)

// Ports are taken below the range the kernel hands out to outgoing connections, so that none of
// those takes a child's port while it is being started again.
const (
	lowestPort  = 15000
	highestPort = 32000
	// portGrace is how long a port of the run before may still be held by an ending child.
	portGrace = 3 * time.Second
)

// ports remembers which port each part has, from one start to the next.
type ports struct {
	mu     sync.Mutex
	chosen map[string]int
}

// of returns the port of a part; settle has chosen it.
func (p *ports) of(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chosen[name]
}

func (p *ports) all() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	copied := make(map[string]int, len(p.chosen))
	for name, port := range p.chosen {
		copied[name] = port
	}
	return copied
}

// settle keeps every part's port if it is still free and chooses another one if not.
func (p *ports) settle(names ...string) error {
	deadline := time.Now().Add(portGrace)
	for _, name := range names {
		if port := p.of(name); port != 0 && isFreeBy(deadline, port) {
			continue
		}
		if err := p.repick(name); err != nil {
			return err
		}
	}
	return nil
}

// repick chooses new ports.
func (p *ports) repick(names ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range names {
		port, err := p.pick()
		if err != nil {
			return fmt.Errorf("port for %s: %w", name, err)
		}
		p.chosen[name] = port
	}
	return nil
}

func (p *ports) pick() (int, error) {
	taken := make(map[int]bool, len(p.chosen))
	for _, port := range p.chosen {
		taken[port] = true
	}
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // a port is no secret
		if !taken[port] && isFree(port) {
			return port, nil
		}
	}
	return 0, errors.New("no free port on 127.0.0.1")
}

// isFreeBy waits for an ending child to give its port back.
func isFreeBy(deadline time.Time, port int) bool {
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	return poll(ctx, func() error {
		if !isFree(port) {
			return errors.New("in use")
		}
		return nil
	}) == nil
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
