package spool

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
)

// What a home in the spool directory is to this process.
const (
	homeOwn       = "own"       // it writes there
	homeAdopted   = "adopted"   // of a process that has ended, and sent by this one
	homeOther     = "other"     // of another process that runs, or sent by one
	homeAbandoned = "abandoned" // of a process that has ended, and taken by nobody yet
)

// homes tells, when metrics are read, what the spool directory holds and how much the disk has left. It looks
// at the directory, so that it sees what other processes left there too.
type homes struct {
	spool             *Spool
	limit             int64
	bytes, free, size *prometheus.Desc
	most              *prometheus.Desc
}

func newHomes(s *Spool, limit int64) *homes {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("callgate_spool_"+name, help, labels, nil)
	}
	return &homes{
		spool: s, limit: limit,
		bytes: desc("home_bytes", "Bytes of the spools in SPOOL_DIR; state own, adopted, other (of running processes) or abandoned (of ended ones, taken by nobody).", "state"),
		free:  desc("disk_free_bytes", "Bytes that the disk under SPOOL_DIR has left for this process."),
		size:  desc("disk_bytes", "Bytes of the disk under SPOOL_DIR."),
		most:  desc("limit_bytes", "SPOOL_MAX_BYTES; 0: what the disk holds."),
	}
}

// Describe is prometheus.Collector's.
func (h *homes) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{h.bytes, h.free, h.size, h.most} {
		to <- d
	}
}

// Collect is prometheus.Collector's.
func (h *homes) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(h.most, float64(h.limit))
	var disk syscall.Statfs_t
	if syscall.Statfs(h.spool.dir, &disk) == nil {
		gauge(h.free, float64(disk.Bavail)*float64(disk.Bsize))
		gauge(h.size, float64(disk.Blocks)*float64(disk.Bsize))
	}
	entries, err := os.ReadDir(h.spool.dir)
	if err != nil {
		return
	}
	// By state and not by spool: every process has a spool of a new name.
	total := map[string]int64{homeOwn: 0, homeAdopted: 0, homeOther: 0, homeAbandoned: 0}
	for _, id := range idsIn(entries) {
		path := filepath.Join(h.spool.dir, id.String())
		if bytes, there := bytesIn(path); there {
			total[h.spool.stateOf(id, path+lockSuffix)] += bytes
		}
	}
	for state, bytes := range total {
		gauge(h.bytes, float64(bytes), state)
	}
}

// stateOf tells whose a home is. Whether a lock is held can only be found out by asking for it, shared and for a
// moment; who wants to adopt the home just then comes again.
func (s *Spool) stateOf(id uuid.UUID, lock string) string {
	if id == s.id {
		return homeOwn
	}
	if s.owns(id) {
		return homeAdopted
	}
	file, err := os.Open(lock)
	if err != nil {
		return homeOther // it is being made or removed
	}
	defer func() { _ = file.Close() }()
	if syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		return homeOther
	}
	return homeAbandoned
}

// bytesIn is the size of the files of a home, false when it is gone.
func bytesIn(dir string) (bytes int64, there bool) {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path == dir {
				return err
			}
			return nil // removed meanwhile
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes, err == nil
}
