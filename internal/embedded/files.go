package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// pollEvery is the pause between two looks at something that has no event to wait for.
const pollEvery = 20 * time.Millisecond

// writeFile replaces path in one step: a reader sees the old content or the new, never a part.
func writeFile(path string, content []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// errLocked says that another process holds the lock.
var errLocked = errors.New("locked by another process")

// tryLockFile takes an exclusive lock that the kernel releases when the process ends, however it ends.
func tryLockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// lockFile is tryLockFile that waits for its turn until ctx ends.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	var held *os.File
	var hopeless error
	err := poll(ctx, func() (err error) {
		held, err = tryLockFile(path)
		if err != nil && !errors.Is(err, errLocked) {
			hopeless = err // waiting does not help
			return nil
		}
		return err
	})
	return held, errors.Join(hopeless, err)
}

// poll calls attempt until it succeeds and returns its last error when ctx ends first.
func poll(ctx context.Context, attempt func() error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	raw := make([]byte, n)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// tail returns the last lines of a log, for an error message.
func tail(path string) string {
	const most = 4 << 10
	file, err := os.Open(path)
	if err != nil {
		return "no log"
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd)
	}
	raw, _ := io.ReadAll(io.LimitReader(file, most))
	return lastLines(raw)
}

func lastLines(raw []byte) string {
	lines := strings.Split(string(bytes.TrimSpace(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}
