package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls"
)

// Drops counts calls that will be missing from the statistics, per source, Beijing day and
// application. The counts are totals of their source, not increments: storing them twice changes
// nothing. The source is a spool for what did not fit, a segment for what was damaged in it.
type Drops struct {
	mu      sync.Mutex
	spool   uuid.UUID
	dir     string // of the file that keeps what the ledger does not know
	counts  map[DropKey]int64
	changed uint64 // rises with every count
	stored  uint64 // value of changed that the ledger knows
	kept    uint64 // value of changed that the file knows
}

// DropKey is what a count is of.
type DropKey struct {
	Source      uuid.UUID
	Day         beijing.Day
	Application uuid.UUID // nil: damaged records name none
}

// Drop is how many calls of a key will be missing.
type Drop struct {
	Key   DropKey
	Calls int64
}

func newDrops(spool uuid.UUID, dir string) *Drops {
	return &Drops{spool: spool, dir: dir, counts: map[DropKey]int64{}}
}

// add counts a record that found no room.
func (d *Drops) add(r *calls.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[DropKey{d.spool, beijing.DayOf(r.Start), r.ApplicationID}]++
	d.changed++
}

// Set notes that n calls of a source are missing; a greater number noted before stands.
func (d *Drops) Set(key DropKey, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts[key] < n {
		d.counts[key] = n
		d.changed++
	}
}

// Unstored returns what the ledger does not know yet, and the mark to confirm it with.
func (d *Drops) Unstored() (all []Drop, mark uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changed == d.stored {
		return nil, d.changed
	}
	for key, n := range d.counts {
		all = append(all, Drop{key, n})
	}
	return all, d.changed
}

// Confirm notes that the ledger knows everything up to mark, and removes the file.
func (d *Drops) Confirm(mark uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stored = max(d.stored, mark)
	if d.stored == d.changed && d.kept > 0 {
		_ = os.Remove(filepath.Join(d.dir, dropsFile))
		d.kept = 0
	}
}

const dropsFile = "drops.json"

// Keep writes what the ledger does not know to a file, so that it outlives the process.
func (d *Drops) Keep() error {
	all, mark := d.Unstored()
	d.mu.Lock()
	known := d.kept
	d.mu.Unlock()
	if len(all) == 0 || mark == known {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("keep drop counts: %w", err)
	}
	name := filepath.Join(d.dir, dropsFile)
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		return fmt.Errorf("keep drop counts: %w", err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("keep drop counts: %w", err)
	}
	d.mu.Lock()
	d.kept = mark
	d.mu.Unlock()
	return nil
}

// adopt takes over what an earlier process kept in dir.
func (d *Drops) adopt(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, dropsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("adopt drop counts: %w", err)
	}
	var all []Drop
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("adopt drop counts of %s: %w", filepath.Base(dir), err)
	}
	for _, kept := range all {
		d.Set(kept.Key, kept.Calls)
	}
	return nil
}
