package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Left is what a process keeps in a spool directory of records that ClickHouse has not confirmed.
type Left struct {
	ID    uuid.UUID
	Files []string // names in the process's own directory
}

// Unconfirmed lists what waits in a spool directory, of processes that run too. What it lists may be confirmed, and
// gone, at any time; what it does not list of records that were there when it began has been confirmed by then.
func Unconfirmed(dir string) (left []Left, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read spool directory: %w", err)
	}
	for _, id := range idsIn(entries) {
		files, err := os.ReadDir(filepath.Join(dir, id.String()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read spool directory: %w", err)
		}
		found := Left{ID: id}
		for _, file := range files {
			if strings.HasSuffix(file.Name(), unsentSuffix) || file.Name() == dropsFile {
				found.Files = append(found.Files, file.Name())
			}
		}
		left = append(left, found)
	}
	return left, nil
}

// tokensForgotten is longer ago than ClickHouse certainly remembers a token (ledger.dedupWindow): of a segment that
// was last written before, rows are looked for before they are sent.
const tokensForgotten = time.Hour

// PutBack puts a file that Unconfirmed once listed into a spool directory, to be adopted by the next process there;
// false when it is there already, sent or not. It may be repeated. A nil from makes the process's directory alone.
func PutBack(dir string, id uuid.UUID, name string, from io.Reader) (put bool, err error) {
	home := filepath.Join(dir, id.String())
	if err := os.MkdirAll(home, 0o700); err != nil {
		return false, fmt.Errorf("spool directory: %w", err)
	}
	if from == nil {
		return false, nil
	}
	if filepath.Base(name) != name || !strings.HasSuffix(name, unsentSuffix) && name != dropsFile {
		return false, fmt.Errorf("%q is no file of a spool", name)
	}
	path := filepath.Join(home, name)
	for _, there := range []string{path, strings.TrimSuffix(path, unsentSuffix) + sentSuffix} {
		if _, err := os.Stat(there); err == nil {
			return false, nil
		}
	}
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return false, fmt.Errorf("put a segment back: %w", err)
	}
	_, err = io.Copy(file, from)
	long := time.Now().Add(-tokensForgotten)
	if err = errors.Join(err, file.Sync(), file.Close(), os.Chtimes(path+".new", long, long)); err != nil {
		return false, fmt.Errorf("put a segment back: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return false, fmt.Errorf("put a segment back: %w", err)
	}
	return true, nil
}
