package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// lockPatience is how long a new process waits for one that must let something go first.
const lockPatience = 5 * time.Second

// errTaken means that another process holds a lock.
var errTaken = errors.New("held by another process")

// home is the directory of one process's segments. Whoever holds the lock beside it is the only one who
// reads, ships or removes it; the kernel frees the lock when its holder ends, however that ends. The lock is
// taken before the directory is made and freed after it is removed, so that a directory without a holder
// always is that of a process that has ended.
type home struct {
	id   uuid.UUID
	dir  string
	lock *os.File
	told bool // the ledger knows that nothing of it is missing
}

const lockSuffix = ".lock"

func (h *home) lockPath() string { return h.dir + lockSuffix }

// makeHome makes a home of this process's own in a spool directory.
func makeHome(ctx context.Context, dir string, id uuid.UUID) (*home, error) {
	h := &home{id: id, dir: filepath.Join(dir, id.String())}
	// Until it is locked, another process may take the file for one that was left over, and remove it.
	err := patiently(ctx, func() (err error) {
		h.lock, err = lockFile(h.lockPath(), syscall.LOCK_EX)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("spool directory: %w", err)
	}
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("spool directory: %w", err), h.unlock())
	}
	return h, nil
}

// claim takes the home of a process that has ended. It fails with errTaken when that process lives, another
// one was faster, or there is no such home any more; a lock that was left without one is removed then.
func claim(dir string, id uuid.UUID) (*home, error) {
	h := &home{id: id, dir: filepath.Join(dir, id.String())}
	var err error
	if h.lock, err = lockFile(h.lockPath(), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	if _, err := os.Stat(h.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(errTaken, h.unlock())
	} else if err != nil {
		return nil, errors.Join(fmt.Errorf("adopt a spool: %w", err), h.free())
	}
	return h, nil
}

// free lets others claim the home.
func (h *home) free() error { return h.lock.Close() }

// remove removes the directory, and the lock with it; false when the directory is not empty.
func (h *home) remove() bool {
	if os.Remove(h.dir) != nil {
		return false
	}
	_ = h.unlock() // a lock that is left goes with somebody's next look
	return true
}

// unlock removes the lock of a home whose directory is not there.
func (h *home) unlock() error { return errors.Join(os.Remove(h.lockPath()), h.lock.Close()) }

// lockFile locks a file, made if need be, and fails with errTaken when another process has it. A file that
// was removed before it was locked keeps nobody out, for others make another one: that is errTaken too.
func lockFile(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spool lock: %w", err)
	}
	switch err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(errTaken, file.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("cannot lock %s; SPOOL_DIR must be on a file system with flock: %w", path, err), file.Close())
	}
	locked, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spool lock: %w", err), file.Close())
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(locked, named) {
		return nil, errors.Join(errTaken, file.Close())
	}
	return file, nil
}

// shareDir makes sure that no process of a version that takes a spool directory for itself alone uses it
// together with this one: such a process locks it exclusively, this one and its like share the lock.
func shareDir(ctx context.Context, dir string) (lock *os.File, err error) {
	err = patiently(ctx, func() (err error) {
		lock, err = lockFile(filepath.Join(dir, "lock"), syscall.LOCK_SH)
		return err
	})
	if errors.Is(err, errTaken) {
		err = fmt.Errorf("spool directory %s belongs to a running process of an older version, which shares it with nobody; stop that one first", dir)
	}
	return lock, err
}

// patiently tries to lock something until it succeeds, fails for another reason than that others hold it, or
// ctx or lockPatience is over.
func patiently(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		err := try()
		if !errors.Is(err, errTaken) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}
