package backup

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// archive is a backup that is being written, beside the place where it will stand.
type archive struct {
	dir, final string

	mu    sync.Mutex
	files map[string]File
}

// unfinished marks a directory as one that a backup began, so that the next may remove it.
const unfinished = "unfinished"

// newArchive begins a backup that will stand in final, which must not exist or be empty.
func newArchive(final string) (*archive, error) {
	final, err := filepath.Abs(final)
	if err != nil {
		return nil, fmt.Errorf("backup directory: %w", err)
	}
	entries, err := os.ReadDir(final)
	if err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty: name a directory that is not there yet, such as one with today's date", final)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("backup directory: %w", err)
	}
	a := &archive{dir: final + ".partial", final: final, files: map[string]File{}}
	if _, err := os.Stat(a.dir); err == nil {
		if _, err := os.Stat(filepath.Join(a.dir, unfinished)); err != nil {
			return nil, fmt.Errorf("%s is in the way: remove it", a.dir)
		}
		if err := os.RemoveAll(a.dir); err != nil {
			return nil, fmt.Errorf("remove a backup that was interrupted: %w", err)
		}
	}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return nil, fmt.Errorf("backup directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, unfinished), nil, 0o600); err != nil {
		return nil, fmt.Errorf("backup directory: %w", err)
	}
	return a, nil
}

// output is a file of the archive that is being written.
type output struct {
	to   *archive
	path string
	file *os.File
	sum  hash.Hash
	size int64
	zip  *zstd.Encoder
	*bufio.Writer
}

// create makes a file; what is written to it is compressed.
func (a *archive) create(path string) (*output, error) {
	full := filepath.Join(a.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, fmt.Errorf("write the backup: %w", err)
	}
	file, err := os.OpenFile(full, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write the backup: %w", err)
	}
	o := &output{to: a, path: path, file: file, sum: sha256.New()}
	if o.zip, err = zstd.NewWriter(writerFunc(o.keep), zstd.WithEncoderConcurrency(1)); err != nil {
		return nil, errors.Join(fmt.Errorf("write the backup: %w", err), file.Close())
	}
	o.Writer = bufio.NewWriterSize(o.zip, 1<<18)
	return o, nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (o *output) keep(p []byte) (int, error) {
	n, err := o.file.Write(p)
	_, _ = o.sum.Write(p[:n]) // never fails (hash.Hash)
	o.size += int64(n)
	return n, err
}

// Close ends the file and has it on disk.
func (o *output) Close() error {
	err := errors.Join(o.Flush(), o.zip.Close(), o.file.Sync(), o.file.Close())
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	o.to.mu.Lock()
	defer o.to.mu.Unlock()
	o.to.files[o.path] = File{o.size, hex.EncodeToString(o.sum.Sum(nil))}
	return nil
}

// finish writes the manifest and puts the backup in its place, all at once.
func (a *archive) finish(m *Manifest) error {
	m.Files = a.files
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(a.dir, manifestName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close(), os.Remove(filepath.Join(a.dir, unfinished)), syncDirs(a.dir)); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	if err := os.Remove(a.final); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return fmt.Errorf("write the backup: %w", err)
	}
	if err := errors.Join(os.Rename(a.dir, a.final), syncDir(filepath.Dir(a.final))); err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	return nil
}

// discard removes what was written of a backup that failed.
func (a *archive) discard() { _ = os.RemoveAll(a.dir) }

func syncDirs(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = syncDir(path)
		}
		return err
	})
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// check compares every file of a backup with what the manifest says.
func check(dir string, m *Manifest, looked func(bytes int64)) error {
	for path, want := range m.Files {
		file, err := os.Open(filepath.Join(dir, path))
		if err != nil {
			return fmt.Errorf("the backup is damaged: %w", err)
		}
		sum := sha256.New()
		size, err := io.Copy(sum, file)
		_ = file.Close()
		if err != nil {
			return fmt.Errorf("read the backup: %w", err)
		}
		if size != want.Bytes || hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
			return fmt.Errorf("the backup is damaged: %s is not what was written", path)
		}
		looked(size)
	}
	return nil
}

// input is a file of a backup that is being read.
type input struct {
	*zstd.Decoder
	file *os.File
}

func openInput(dir, path string) (*input, error) {
	file, err := os.Open(filepath.Join(dir, path))
	if err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	unzip, err := zstd.NewReader(bufio.NewReaderSize(file, 1<<18), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the backup: %w", err), file.Close())
	}
	return &input{unzip, file}, nil
}

func (i *input) Close() error {
	i.Decoder.Close()
	return i.file.Close()
}
