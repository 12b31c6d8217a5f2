package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls"
)

// Config is what an operator can say about a spool. Zero values mean the defaults.
type Config struct {
	Dir       string        // on a disk that outlives the process; any number of processes may share it
	RingBytes int           // memory for records not yet written, default 64 MiB
	MaxBytes  int64         // bytes this process and what it adopted may take on disk, default: what the disk holds
	SealAfter time.Duration // age at which a segment is sealed, default 500 ms; longer with many gateways
}

func (c Config) withDefaults() Config {
	if c.RingBytes <= 0 {
		c.RingBytes = 64 << 20
	}
	if c.SealAfter <= 0 {
		c.SealAfter = sealAfter
	}
	return c
}

// Spool takes finished calls and keeps them on disk. Its directory has one subdirectory per process that
// writes or wrote there, named by its spool id, which holds its segments. A lock on each lets one process at
// a time own it: the one that writes it or, after that one's end, one that adopted it.
type Spool struct {
	// Drops are the calls that will be missing from the statistics.
	Drops *Drops

	dir  string
	id   uuid.UUID
	lock *os.File // on the directory, shared
	own  *home
	log  *slog.Logger

	redaction *redactionQueue
	ring      *ring
	writer    *writer

	segments

	writing  sync.WaitGroup
	adopting sync.WaitGroup
	leaving  chan struct{} // closed: nothing is adopted any more
	leave    sync.Once
	giveUp   chan struct{} // closed: what cannot be written is dropped
	draining sync.Once
	closing  sync.Once
	closed   error
}

// Open adopts what processes that have ended left in the spool directory, begins a spool of its own there and
// accepts records; what others leave later it adopts within some seconds. ctx bounds the opening alone. reg
// may be nil.
func Open(ctx context.Context, config Config, log *slog.Logger, reg prometheus.Registerer) (*Spool, error) {
	s, err := open(ctx, config.withDefaults(), log)
	if err != nil {
		return nil, err
	}
	if reg != nil {
		if err := s.register(reg); err != nil {
			return nil, errors.Join(err, s.release())
		}
	}
	s.redaction.done.Go(s.redaction.run)
	s.writer.sync.start(log)
	s.writing.Go(func() { s.writer.run(s.giveUp) })
	s.adopting.Go(s.adoptLater)
	return s, nil
}

// open shares the directory, adopts what is in it, and makes a home.
func open(ctx context.Context, config Config, log *slog.Logger) (*Spool, error) {
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool directory: %w", err)
	}
	s := newSpool(config, log)
	var err error
	if s.lock, err = shareDir(ctx, config.Dir); err != nil {
		return nil, err
	}
	if err = s.adopt(); err == nil {
		s.own, err = makeHome(ctx, config.Dir, s.id)
	}
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

func newSpool(config Config, log *slog.Logger) *Spool {
	id := uuid.New()
	s := &Spool{dir: config.Dir, id: id, log: log, segments: newSegments(), leaving: make(chan struct{}), giveUp: make(chan struct{})}
	s.Drops = newDrops(id, s.home())
	s.ring = newRing(config.RingBytes, s.Drops)
	s.redaction = newRedactionQueue(s.ring, log)
	s.writer = newWriter(config, s)
	return s
}

// ID names this process's spool; records of adopted ones stay under the ids of theirs.
func (s *Spool) ID() uuid.UUID { return s.id }

// home is where this process writes.
func (s *Spool) home() string { return filepath.Join(s.dir, s.id.String()) }

// Add hands over a finished call, from any goroutine, without ever waiting for a disk or a store. The
// detail of a failed one is made beside the caller, unless it is small or very much waits already.
// When memory is full, the failure detail is dropped, then the record, counted and warned about.
// The record must not be touched afterwards.
func (s *Spool) Add(record *calls.Record) {
	if record.Unredacted != nil {
		s.redaction.add(record)
		return
	}
	s.ring.add(record)
}

// Written is the number of records of which writing them has returned since Open.
func (s *Spool) Written() uint64 { return s.writer.written.Load() }

// Lost returns how many details and records were dropped since Open because memory was full.
func (s *Spool) Lost() (details, records uint64) { return s.ring.lost() }

// Drain stops adopting and accepting records, and writes, seals and syncs what it holds. Once ctx is done, what
// cannot be written is dropped and counted.
func (s *Spool) Drain(ctx context.Context) {
	s.draining.Do(func() {
		s.stopAdopting()
		s.redaction.close()
		s.ring.close()
		close(s.writer.stop)
		stop := context.AfterFunc(ctx, func() { close(s.giveUp) })
		s.writing.Wait()
		stop()
	})
}

func (s *Spool) stopAdopting() {
	s.leave.Do(func() { close(s.leaving) })
	s.adopting.Wait()
}

// Close frees what this process wrote and adopted. Nobody may use the spool any more. What is not confirmed
// waits there, and is adopted by the next process or one that shares the directory. Calling it again gives
// the same answer.
func (s *Spool) Close() error {
	s.closing.Do(func() {
		s.stopAdopting()
		s.closed = s.release()
	})
	return s.closed
}
