package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// unread is the same gateway called by PUT: only what answers a POST is read for the tokens it reports, and
// to the mock the two are one. So one process tells what reading costs, where two differ by more than that.
func unread(gateway *subject) *subject {
	s := *gateway
	s.name, s.method = "unread", "PUT"
	return &s
}

// settling is how much of a turn's beginning belongs to what the turn before began.
const settling = 5 * time.Millisecond

// alternately measures a row of calls whose answers are read, and of the same calls whose answers are not: one crowd that has no
// pause makes them in many short turns.
func (b *bench) alternately(row, path string, parts int) func(context.Context, results) error {
	return b.usage(func(ctx context.Context, r results, read, not *subject) error {
		c, err := newCrowd(read, path, b.effort.clients)
		if err != nil {
			return err
		}
		defer c.close()
		if _, err := c.saturate(b.effort.warmUp()); err != nil {
			return err
		}
		var s switched
		made := make(chan error, 1)
		go func() { defer s.ended.Store(true); made <- s.calls(c, read.request(path), not.request(path)) }()
		for pairs := b.effort.pairs(); pairs > 0 && err == nil; pairs-- {
			for _, i := range rand.Perm(2) { // #nosec G404 -- an order
				err = errors.Join(err, s.measure(ctx, i, float64(parts), read, r.of(row, [...]string{read.name, not.name}[i])))
			}
		}
		s.ended.Store(true)
		return errors.Join(err, <-made)
	})
}

// pairs of turns last as long as the rounds of other rows.
func (e effort) pairs() int { return e.rounds * int(e.window/turn) }

// switched are calls of which the request is changed while they are made.
type switched struct {
	to    atomic.Int32 // which request is sent
	made  atomic.Int64
	ended atomic.Bool
}

func (s *switched) calls(c crowd, requests ...[]byte) error {
	return c.each(func(_ int, one *caller) error {
		for !s.ended.Load() {
			one.request = requests[s.to.Load()]
			if err := one.call(); err != nil {
				return err
			}
			s.made.Add(1)
		}
		return nil
	})
}

// measure takes one turn, a longer one where the machine stood still. parts are those of what is made.
func (s *switched) measure(ctx context.Context, to int, parts float64, gateway *subject, into *figures) error {
	s.to.Store(int32(to)) //nolint:gosec // 0 or 1
	time.Sleep(settling)
	before := s.made.Load()
	made := before
	used, err := gateway.using(func() error {
		for ; made == before; made = s.made.Load() {
			if s.ended.Load() || ctx.Err() != nil {
				return errors.Join(errors.New("nothing is made"), ctx.Err())
			}
			time.Sleep(turn - settling)
		}
		return nil
	})
	into.cpu = append(into.cpu, used/float64(made-before)/parts)
	return err
}

// usageChunks measures paced streams: of one crowd answers are read, of the other not, and the mock sends to each in its turns.
func (b *bench) usageChunks(ctx context.Context, r results) error {
	return b.usage(func(ctx context.Context, r results, read, not *subject) (err error) {
		var s switched
		var streams crowd
		var all sync.WaitGroup
		defer all.Wait()
		defer func() { streams.close() }()
		for _, one := range []struct {
			of   *subject
			path string
		}{{read, evenPath}, {not, oddPath}} {
			c, err := newCrowd(one.of, one.path, b.effort.streams)
			if err != nil {
				return err
			}
			streams = append(streams, c...)
			all.Go(func() {
				defer s.ended.Store(true)
				_ = c.each(func(_ int, one *caller) error {
					_, _, err := one.begin()
					if err == nil {
						_, err = io.Copy(counter{&s.made}, one.br)
					}
					return err
				})
			})
		}
		time.Sleep(b.effort.warmUp())
		for pairs := b.effort.pairs(); pairs > 0 && err == nil; pairs-- {
			for i, name := range []string{read.name, not.name} {
				time.Sleep(time.Until(nextTurn(time.Now().Add(-turn/2), i))) // that of the pair's second has just begun
				err = errors.Join(err, s.measure(ctx, i, 1/float64(len(sseChunk)), read, r.of(rowUsageChunk, name)))
			}
		}
		return err
	})(ctx, r)
}

// counter counts bytes.
type counter struct{ *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}

// usage starts a gateway as often as is asked for and has what reading costs measured.
func (b *bench) usage(measure func(ctx context.Context, r results, read, not *subject) error) func(context.Context, results) error {
	return func(ctx context.Context, r results) error {
		for range b.effort.starts {
			b.stopAfter(1)
			gateway, err := b.gateway(ctx, "callgate", b.binaries[0])
			if err == nil {
				err = measure(ctx, r, gateway, unread(gateway))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// usageMemory measures two gateways as they come fresh from their starts.
func (b *bench) usageMemory(ctx context.Context, r results) error {
	for _, as := range []func(*subject) *subject{unread, func(s *subject) *subject { return s }} {
		b.stopAfter(1)
		gateway, err := b.gateway(ctx, "callgate", b.binaries[0])
		if err != nil {
			return err
		}
		if err := b.effort.memory(ctx, as(gateway), r.of(rowUsageMemory, as(gateway).name)); err != nil {
			return err
		}
	}
	return nil
}

// usageLines are the rows of what reading costs: the cells of callgate and of what is not read.
func (r results) usageLines(starts int) (lines [][]string) {
	for _, line := range []struct{ row, what string }{
		{rowUsageCall, "CPU per call, its answer read for tokens ÷ not read"},
		{rowUsageChunk, "CPU per SSE chunk, paced, read for tokens ÷ not read"},
		{rowUsageBurst, "CPU per SSE chunk, 20 at once, read for tokens ÷ not read"},
		{rowUsageOpenAI, "CPU per SSE chunk, 20 of OpenAI at once, read for tokens ÷ not read"},
	} {
		if row := r[line.row]; row != nil {
			read, not := row["callgate"].cpu, row["unread"].cpu
			lines = append(lines, []string{line.what, "≤ 1.03", medianOfRatios(read, not, starts), micros(median(read)), micros(median(not)), "", ""})
		}
	}
	if row := r[rowUsageMemory]; row != nil {
		read, not := row["callgate"].memory/1024, row["unread"].memory/1024
		lines = append(lines, []string{"memory per held stream, read for tokens − not read", "≤ 1 KB", fmt.Sprintf("%.1f KB", read-not),
			fmt.Sprintf("%.1f KB", read), fmt.Sprintf("%.1f KB", not), "", ""})
	}
	return lines
}
