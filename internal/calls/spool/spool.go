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
	Dir       string        // on a disk that outlives the process; one process at a time
	RingBytes int           // memory for records not yet written, default 64 MiB
	MaxBytes  int64         // bytes the spool may take on disk, default: what the disk holds
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
// ever wrote there, named by its spool id, which holds its segments. A lock lets one process at a time own
// them all.
type Spool struct {
	// Drops are the calls that will be missing from the statistics.
	Drops *Drops

	dir  string
	id   uuid.UUID
	lock *os.File
	log  *slog.Logger

	redaction *redactionQueue
	ring      *ring
	writer    *writer

	segments

	writing  sync.WaitGroup
	giveUp   chan struct{} // closed: what cannot be written is dropped
	draining sync.Once
	closing  sync.Once
	closed   error
}

// Open takes over the spool directory, with what earlier processes left there, begins a spool of its own
// and accepts records. ctx bounds the opening alone. reg may be nil.
func Open(ctx context.Context, config Config, log *slog.Logger, reg prometheus.Registerer) (*Spool, error) {
	s, err := open(ctx, config.withDefaults(), log)
	if err != nil {
		return nil, err
	}
	if reg != nil {
		if err := s.register(reg); err != nil {
			return nil, errors.Join(err, s.lock.Close())
		}
	}
	for _, id := range s.adopted {
		if err := s.Drops.adopt(s.homeOf(id)); err != nil {
			log.Error("cannot adopt counts of dropped calls", "error", err)
		}
	}
	s.redaction.done.Go(s.redaction.run)
	s.writer.sync.start(log)
	s.writing.Go(func() { s.writer.run(s.giveUp) })
	return s, nil
}

// open locks the directory and adopts what is in it.
func open(ctx context.Context, config Config, log *slog.Logger) (*Spool, error) {
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("spool directory: %w", err)
	}
	s := newSpool(config, log)
	var err error
	if s.lock, err = lockDir(ctx, config.Dir); err != nil {
		return nil, err
	}
	if err := s.adopt(); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	if err := os.Mkdir(s.home(), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("spool directory: %w", err), s.lock.Close())
	}
	return s, nil
}

func newSpool(config Config, log *slog.Logger) *Spool {
	id := uuid.New()
	s := &Spool{dir: config.Dir, id: id, log: log, segments: newSegments(), giveUp: make(chan struct{})}
	s.Drops = newDrops(id, s.home())
	s.ring = newRing(config.RingBytes, s.Drops)
	s.redaction = newRedactionQueue(s.ring, log)
	s.writer = newWriter(config, s)
	return s
}

// ID names this process's spool; records of adopted ones stay under the ids of theirs.
func (s *Spool) ID() uuid.UUID { return s.id }

// home is where this process writes.
func (s *Spool) home() string { return s.homeOf(s.id) }

func (s *Spool) homeOf(id uuid.UUID) string { return filepath.Join(s.dir, id.String()) }

// Add hands over a finished call, from any goroutine, without ever waiting for a disk or a store. The
// detail of a failed one is made beside the caller, unless it is small or very much waits already.
// When memory is full, the failure detail is dropped, then the record, counted and warned about
// (spec section 7). The record must not be touched afterwards.
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

// Drain stops accepting records, and writes, seals and syncs what it holds. Once ctx is done, what cannot
// be written is dropped and counted.
func (s *Spool) Drain(ctx context.Context) {
	s.draining.Do(func() {
		s.redaction.close()
		s.ring.close()
		close(s.writer.stop)
		stop := context.AfterFunc(ctx, func() { close(s.giveUp) })
		s.writing.Wait()
		stop()
	})
}

// Close lets the next process have the directory. Nobody may use the spool any more. What is not confirmed
// waits there. Calling it again gives the same answer.
func (s *Spool) Close() error {
	s.closing.Do(func() { s.closed = s.lock.Close() })
	return s.closed
}
