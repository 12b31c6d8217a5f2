package main

import (
	"context"
	"errors"
	"os"
	"strings"
)

// bench is the mock, the stores, and whatever is measured at the moment.
type bench struct {
	effort   effort
	binaries []string // callgate, and those beside it
	dir      string   // of nginx, the spools and the mock's certificate
	stores   stores
	keys     keys
	upstream *subject
	secure   string // host:port where the mock speaks TLS
	running  []*subject
}

func newBench(ctx context.Context, e effort, binaries []string, s stores) (*bench, error) {
	dir, err := os.MkdirTemp("", "callgate-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{effort: e, binaries: binaries, dir: dir, stores: s, secure: freeAddress()}
	if err = writeCertificate(dir); err == nil {
		b.upstream, err = b.started(launchRole(ctx, "upstream", b.secure, dir))
	}
	if err == nil {
		b.keys, err = furnish(ctx, s, b.upstream.address, b.secure)
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) started(s *subject, err error) (*subject, error) {
	if s != nil {
		b.running = append(b.running, s)
	}
	return s, err
}

// close stops everything, the last one started first.
func (b *bench) close() {
	b.stopAfter(0)
	_ = os.RemoveAll(b.dir)
}

func (b *bench) stopAfter(kept int) {
	for i := len(b.running) - 1; i >= kept; i-- {
		b.running[i].stop()
	}
	b.running = b.running[:kept]
}

// contestants are what is compared: bare proxies that only forward, the floor that a loop of Go can reach,
// and ours.
type contestants struct {
	bare, fiber, nginx, loop, ours *subject // nginx is nil when it is not installed
	others                         []*subject
}

// contestants starts everything that is compared, anew, before the mock at upstream.
func (b *bench) contestants(ctx context.Context, upstream string) (c contestants, err error) {
	b.stopAfter(1)
	var faults [4]error
	c.bare, faults[0] = b.started(launchRole(ctx, "fasthttp", upstream))
	c.fiber, faults[1] = b.started(launchRole(ctx, "fiber", upstream))
	c.loop, faults[2] = b.started(launchRole(ctx, "loop", upstream))
	c.nginx, faults[3] = b.started(launchNginx(ctx, b.dir, upstream))
	err = errors.Join(faults[:]...)
	for i := 0; i < len(b.binaries) && err == nil; i++ {
		if i == 0 {
			c.ours, err = b.gateway(ctx, "callgate", b.binaries[i])
			continue
		}
		var other *subject
		other, err = b.gateway(ctx, b.binaries[i], b.binaries[i])
		c.others = append(c.others, other)
	}
	return c, err
}

func (b *bench) gateway(ctx context.Context, name, binary string) (*subject, error) {
	spool, err := os.MkdirTemp(b.dir, "spool")
	if err != nil {
		return nil, err
	}
	key := b.keys.unlimited
	if program, ok := strings.CutSuffix(binary, withLimits); ok {
		binary, key = program, b.keys.limited
	}
	return b.started(launchOurs(ctx, name, binary, spool, b.stores, key))
}

// memory measures each subject as it comes fresh from its start.
func (b *bench) memory(ctx context.Context, r results) error {
	c, err := b.contestants(ctx, b.upstream.address)
	if err != nil {
		return err
	}
	for _, s := range append(c.others, c.fiber, c.loop, c.nginx, c.ours) {
		if s == nil {
			continue
		}
		if err := b.effort.memory(ctx, s, r.of(rowMemory, s.name)); err != nil {
			return err
		}
		s.stop() // not every proxy notices that its callers have gone: the mock's connections are needed
	}
	return nil
}

// compared measures a row of subjects in turns, before the plain mock.
func (b *bench) compared(row string, measure func(*subject, *figures) error, pick func(contestants) []*subject) func(context.Context, results) error {
	return func(ctx context.Context, r results) error {
		return b.startedAnew(ctx, func(c contestants) error {
			return b.effort.interleaved(ctx, r, row, measure, pick(c)...)
		})
	}
}

// secureCalls compares calls whose upstream speaks TLS, over connections that are kept.
func (b *bench) secureCalls(ctx context.Context, r results) error {
	return b.startedAnew(ctx, func(c contestants) error {
		bare, err := b.started(launchRole(ctx, "fasthttps", b.secure))
		if err != nil {
			return err
		}
		subjects := []*subject{bare}
		for _, s := range append(c.others, c.ours) {
			secure := *s
			secure.query = "?model=" + secureCapability
			subjects = append(subjects, &secure)
		}
		return b.effort.interleaved(ctx, r, rowSecure, b.effort.calls(jsonPath), subjects...)
	})
}

// startedAnew measures everything that is compared, started anew as often as is asked for.
func (b *bench) startedAnew(ctx context.Context, measure func(contestants) error) error {
	for range b.effort.starts {
		c, err := b.contestants(ctx, b.upstream.address)
		if err == nil {
			err = measure(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
