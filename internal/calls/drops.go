package calls

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
)

// drops counts calls that will be missing from the statistics, per source, Beijing day and
// application. The counts are totals of their source, not increments: storing them twice changes
// nothing. The source is a spool for what did not fit, a segment for what was damaged in it.
type drops struct {
	mu      sync.Mutex
	spool   uuid.UUID
	counts  map[dropKey]int64
	changed uint64 // rises with every count
	stored  uint64 // value of changed that the ledger knows
	kept    uint64 // value of changed that the file knows
}

type dropKey struct {
	Source      uuid.UUID
	Day         beijing.Day
	Application uuid.UUID // nil: damaged records name none
}

type drop struct {
	Key   dropKey
	Calls int64
}

func newDrops(spool uuid.UUID) *drops {
	return &drops{spool: spool, counts: map[dropKey]int64{}}
}

// call counts a record that found no room.
func (d *drops) call(r *Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.counts[dropKey{d.spool, beijing.DayOf(r.Start), r.ApplicationID}]++
	d.changed++
}

// set notes that n calls of a source are missing; a greater number noted before stands.
func (d *drops) set(key dropKey, n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts[key] < n {
		d.counts[key] = n
		d.changed++
	}
}

// unstored returns what the ledger does not know yet, and the mark to confirm it with.
func (d *drops) unstored() (all []drop, mark uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.changed == d.stored {
		return nil, d.changed
	}
	for key, n := range d.counts {
		all = append(all, drop{key, n})
	}
	return all, d.changed
}

// confirm notes that the ledger knows everything up to mark, and removes the file.
func (d *drops) confirm(mark uint64, dir string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stored = max(d.stored, mark)
	if d.stored == d.changed && d.kept > 0 {
		_ = os.Remove(filepath.Join(dir, dropsFile))
		d.kept = 0
	}
}

const dropsFile = "drops.json"

// keep writes what the ledger does not know to a file, so that it outlives the process.
func (d *drops) keep(dir string) error {
	all, mark := d.unstored()
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
	name := filepath.Join(dir, dropsFile)
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
func (d *drops) adopt(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, dropsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("adopt drop counts: %w", err)
	}
	var all []drop
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("adopt drop counts of %s: %w", filepath.Base(dir), err)
	}
	for _, kept := range all {
		d.set(kept.Key, kept.Calls)
	}
	return nil
}
