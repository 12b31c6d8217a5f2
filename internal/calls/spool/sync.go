package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// syncDir makes the entry of a new file durable.
func syncDir(name string) error {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// syncer makes written segments durable beside the writer, and closes them.
type syncer struct {
	files chan *os.File // next file to care for; nil: the present one is complete
	dirty atomic.Bool
	done  sync.WaitGroup
	log   *slog.Logger
}

func (s *syncer) start(log *slog.Logger) {
	s.log = log
	s.files = make(chan *os.File, 1024)
	s.done.Go(s.run)
}

func (s *syncer) begin(file *os.File) { s.files <- file }
func (s *syncer) end()                { s.files <- nil }

// close waits until everything handed over is durable.
func (s *syncer) close() {
	close(s.files)
	s.done.Wait()
}

func (s *syncer) run() {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	var file *os.File
	finish := func() {
		if file != nil {
			s.report(errors.Join(file.Sync(), file.Close()))
			file = nil
		}
	}
	defer finish()
	for {
		select {
		case next, ok := <-s.files:
			finish()
			if !ok {
				return
			}
			if file = next; file != nil {
				s.report(syncDir(file.Name()))
			}
		case <-tick.C:
			if file != nil && s.dirty.Swap(false) {
				s.report(file.Sync())
			}
		}
	}
}

func (s *syncer) report(err error) {
	if err != nil {
		s.log.Warn("cannot sync the spool", "error", err)
	}
}
