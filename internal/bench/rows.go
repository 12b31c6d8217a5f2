package main

import (
	"context"
	"errors"
	"os"
)

// bench is the mock, the stores, and whatever is measured at the moment.
type bench struct {
	effort   effort
	binary   string
	dir      string // of nginx and the spools
	stores   stores
	key      string
	upstream *subject
	running  []*subject
}

func newBench(ctx context.Context, e effort, binary string, s stores) (*bench, error) {
	dir, err := os.MkdirTemp("", "callgate-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{effort: e, binary: binary, dir: dir, stores: s}
	if b.upstream, err = b.started(launchRole(ctx, "upstream", "")); err == nil {
		b.key, err = furnish(ctx, s, b.upstream.address)
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

// contestants starts everything that is compared, anew; nginx is nil when it is not installed.
func (b *bench) contestants(ctx context.Context) (bare, fiber, nginx, ours *subject, err error) {
	b.stopAfter(1)
	up := b.upstream.address
	var faults [4]error
	bare, faults[0] = b.started(launchRole(ctx, "fasthttp", up))
	fiber, faults[1] = b.started(launchRole(ctx, "fiber", up))
	nginx, faults[2] = b.started(launchNginx(ctx, b.dir, up))
	spool, err := os.MkdirTemp(b.dir, "spool")
	if err == nil {
		ours, faults[3] = b.started(launchOurs(ctx, b.binary, spool, b.stores, b.key))
	}
	return bare, fiber, nginx, ours, errors.Join(append(faults[:], err)...)
}

// memory measures each subject as it comes fresh from its start.
func (b *bench) memory(ctx context.Context, r results) error {
	_, fiber, nginx, ours, err := b.contestants(ctx)
	if err != nil {
		return err
	}
	for _, s := range []*subject{fiber, nginx, ours} {
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

func (b *bench) calls(ctx context.Context, r results) error {
	bare, _, nginx, ours, err := b.contestants(ctx)
	if err != nil {
		return err
	}
	return b.effort.interleaved(ctx, r, rowCall, b.effort.calls, bare, nginx, ours)
}

func (b *bench) chunks(ctx context.Context, r results) error {
	_, fiber, nginx, ours, err := b.contestants(ctx)
	if err != nil {
		return err
	}
	return b.effort.interleaved(ctx, r, rowChunk, b.effort.chunks, fiber, nginx, ours)
}

func (b *bench) latency(ctx context.Context, r results) error {
	bare, _, nginx, ours, err := b.contestants(ctx)
	if err != nil {
		return err
	}
	return b.effort.interleaved(ctx, r, rowLatency, b.effort.latency, b.upstream, bare, nginx, ours)
}
