package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// outside is where PostgreSQL lives when DATA_DIR or the clone cannot be entered by its user.
const outside = "/var/lib/callgate"

// unprivileged is the user PostgreSQL runs as when we are root: the owner of the data directory
// if it has one already, else nobody.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	if info, err := os.Stat(filepath.Join(dir, "data")); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 {
			return &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}, nil
		}
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root and there is no user nobody: %w", err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user nobody: %w", err)
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user nobody: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// reachable tells whether everybody may enter every directory above path.
func reachable(path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// reachableBuild returns a PostgreSQL build its user can read: where npm put it, or a copy.
func reachableBuild(found binaries) (string, error) {
	if reachable(filepath.Join(found.postgres, "bin", "postgres")) {
		return found.postgres, nil
	}
	place := filepath.Join(outside, found.pgSuffix)
	if _, err := os.Stat(place); err == nil {
		return place, nil
	}
	building := place + "." + randomHex(4)
	defer func() { _ = os.RemoveAll(building) }()
	if err := makeOutside(); err != nil {
		return "", err
	}
	if err := os.CopyFS(building, os.DirFS(found.postgres)); err != nil {
		return "", fmt.Errorf("copy PostgreSQL: %w", err)
	}
	if err := openToAll(building); err != nil {
		return "", fmt.Errorf("copy PostgreSQL: %w", err)
	}
	if err := os.Rename(building, place); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("copy PostgreSQL: %w", err)
	}
	return place, nil
}

// makeOutside makes the directory outside, enterable by everybody whatever the umask.
func makeOutside() error {
	err := os.MkdirAll(outside, 0o755) //nolint:gosec // another user has to enter it
	if err == nil {
		err = os.Chmod(outside, 0o755) //nolint:gosec // as above
	}
	if err != nil {
		return fmt.Errorf("directory for PostgreSQL: %w", err)
	}
	return nil
}

// openToAll lets everybody read a tree, and run what its owner may run.
func openToAll(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o444
		if mode&0o100 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode) //nolint:gosec // programs and libraries, nothing private
	})
}
