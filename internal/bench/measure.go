package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// effort says how long and with how many connections is measured.
type effort struct {
	starts  int // of the processes that are compared: one may cost some percent more than the next one of the same build
	rounds  int // of each start
	clients int // of calls that are not streamed
	window  time.Duration
	streams int // at a time
	rate    int // calls per second of the latency row
	held    int // streams held for the memory row
}

var (
	full  = effort{starts: 1, rounds: 7, clients: 64, window: 1500 * time.Millisecond, streams: 160, rate: 2000, held: 2000}
	quick = effort{starts: 2, rounds: 1, clients: 4, window: 100 * time.Millisecond, streams: 2, rate: 500, held: 20}
)

// figures are what the rounds gave for one subject, one value per round.
type figures struct {
	cpu     []float64 // µs per call or chunk
	rate    []float64 // calls per second
	mallocs []float64 // per call
	latency []float64 // µs
	memory  float64   // bytes per held stream
}

// results are the figures by row and subject.
type results map[string]row

func (r results) of(name, subject string) *figures {
	if r[name] == nil {
		r[name] = row{}
	}
	if r[name][subject] == nil {
		r[name][subject] = &figures{}
	}
	return r[name][subject]
}

// The rows of the table.
const (
	rowMemory      = "memory"
	rowCall        = "call"
	rowChunkedCall = "chunked"
	rowPaced       = "paced"
	rowSecure      = "tls"
	rowChunk       = "chunk"
	rowBurst       = "burst"
	rowLatency     = "latency"
	rowUsageCall   = "usage-call"
	rowUsageChunk  = "usage-chunk"
	rowUsageBurst  = "usage-burst"
	rowUsageOpenAI = "usage-openai"
	rowUsageMemory = "usage-memory"
)

var rowNames = []string{rowMemory, rowCall, rowChunkedCall, rowPaced, rowSecure, rowChunk, rowBurst, rowLatency,
	rowUsageCall, rowUsageChunk, rowUsageBurst, rowUsageOpenAI, rowUsageMemory}

// warmUp is long enough for connections, pools and collector to settle.
func (e effort) warmUp() time.Duration { return e.window / 5 }

// calls measures a subject saturated by calls that are not streamed.
func (e effort) calls(path string) func(*subject, *figures) error {
	return func(s *subject, into *figures) error { return e.saturated(s, path, 1, into) }
}

// bursts measures a subject saturated by streams whose chunks all come at once.
func (e effort) bursts(s *subject, into *figures) error {
	return e.saturated(s, burstPath, burstChunks, into)
}

// saturated measures what a part of an answer costs a subject that has no pause.
func (e effort) saturated(s *subject, path string, parts int, into *figures) error {
	c, err := newCrowd(s, path, e.clients)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.saturate(e.warmUp()); err != nil {
		return err
	}
	var before, after float64
	if s.private != "" {
		if before, err = s.mallocs(); err != nil {
			return err
		}
	}
	var made int64
	began := time.Now()
	used, err := s.using(func() (err error) { made, err = c.saturate(e.window); return err })
	took := time.Since(began)
	if err != nil {
		return err
	}
	if s.private != "" {
		if after, err = s.mallocs(); err != nil {
			return err
		}
		into.mallocs = append(into.mallocs, (after-before)/float64(made))
	}
	into.cpu = append(into.cpu, used/float64(made)/float64(parts))
	into.rate = append(into.rate, float64(made)/took.Seconds())
	return nil
}

// paced measures what a call costs a subject at a fixed rate that leaves the machine idle most of the time.
func (e effort) paced(s *subject, into *figures) error {
	c, err := newCrowd(s, jsonPath, e.clients)
	if err != nil {
		return err
	}
	defer c.close()
	if _, _, err := c.pace(e.rate, e.warmUp()); err != nil {
		return err
	}
	var made int
	used, err := s.using(func() (err error) { _, made, err = c.pace(e.rate, e.window); return err })
	into.cpu = append(into.cpu, used/float64(max(made, 1)))
	return err
}

// chunks measures one subject relaying paced streams.
func (e effort) chunks(s *subject, into *figures) error {
	c, err := newCrowd(s, ssePath, e.streams)
	if err != nil {
		return err
	}
	defer c.close()
	const each = 2
	used, err := s.using(func() error {
		return c.each(func(_ int, one *caller) (err error) {
			for range each {
				err = errors.Join(err, one.call())
			}
			return err
		})
	})
	into.cpu = append(into.cpu, used/float64(each*e.streams*sseChunks))
	return err
}

// using returns the CPU time the subject used during work, in µs.
func (s *subject) using(work func() error) (float64, error) {
	before, err := s.cpu()
	if err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, fmt.Errorf("%s: %w", s.name, err)
	}
	after, err := s.cpu()
	return float64((after - before).Microseconds()), err
}

func (e effort) latency(s *subject, into *figures) error {
	c, err := newCrowd(s, jsonPath, e.clients)
	if err != nil {
		return err
	}
	defer c.close()
	if _, _, err := c.pace(e.rate, e.warmUp()); err != nil {
		return err
	}
	middle, _, err := c.pace(e.rate, e.window)
	into.latency = append(into.latency, float64(middle.Nanoseconds())/1000)
	return err
}

// memory measures a subject that has not served anything before.
func (e effort) memory(ctx context.Context, s *subject, into *figures) error {
	settle, err := hold(ctx, s, 1) // what the first call alone brings in
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer settle.close()
	before, err := s.resident()
	if err != nil {
		return err
	}
	c, err := hold(ctx, s, e.held)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer c.close()
	select { // the callers of silent streams are watched after a moment
	case <-time.After(e.window / 3):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := s.resident()
	into.memory = float64(after-before) / float64(e.held)
	return err
}

// interleaved measures the subjects in turns, so that a noisy moment hits all, in another order each round: gateways write
// their records for some time after their turn, into that of the next.
func (e effort) interleaved(ctx context.Context, r results, row string, measure func(*subject, *figures) error, subjects ...*subject) error {
	subjects = slices.DeleteFunc(subjects, func(s *subject) bool { return s == nil })
	for range e.rounds {
		rand.Shuffle(len(subjects), func(i, k int) { subjects[i], subjects[k] = subjects[k], subjects[i] }) // #nosec G404 -- an order
		for _, s := range subjects {
			if err := errors.Join(measure(s, r.of(row, s.name)), ctx.Err()); err != nil {
				return fmt.Errorf("%s of %s: %w", row, s.name, err)
			}
		}
	}
	return nil
}
