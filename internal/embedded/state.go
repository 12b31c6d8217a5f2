package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// connectionsFile lists the DSNs and process ids for people and tools, one NAME=value per line.
const connectionsFile = "connections.env"

// lockName is the file in DATA_DIR that is locked by the process that uses it.
const lockName = "lock"

// claim makes DATA_DIR and locks it for this process.
func claim(dir string) (*os.File, error) {
	if err := makeDataDir(dir); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	path := filepath.Join(dir, lockName)
	file, err := tryLockFile(path)
	if errors.Is(err, errLocked) {
		holder, _ := os.ReadFile(path)
		return nil, fmt.Errorf("the data directory %s is in use by another callgate (pid %s): stop that one, or choose another DATA_DIR",
			dir, strings.TrimSpace(string(holder)))
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if err = file.Truncate(0); err == nil {
		_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("data directory: %w", err), file.Close())
	}
	return file, nil
}

// makeDataDir makes DATA_DIR for its owner alone; as root, PostgreSQL's user may pass through to
// its own directory, whatever the umask. A directory that exists keeps its mode.
func makeDataDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		return os.Chmod(dir, 0o711) //nolint:gosec // passed through, not listed
	}
	return nil
}

// state is what an instance keeps about itself between two starts, in DATA_DIR/engines.json.
type state struct {
	Instance           string         `json:"instance"`
	PostgresPassword   string         `json:"postgresPassword"`
	ClickHousePassword string         `json:"clickHousePassword"`
	ReaderPassword     string         `json:"readerPassword"`
	RedisPassword      string         `json:"redisPassword"`
	UpstreamKey        string         `json:"upstreamKey"`
	PostgresDir        string         `json:"postgresDir"` // relative to DATA_DIR when inside
	Ports              map[string]int `json:"ports"`

	dir   string
	ports *ports
}

func loadState(dir string) (*state, error) {
	s := &state{dir: dir}
	raw, err := os.ReadFile(s.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Instance = randomHex(8)
		s.PostgresPassword, s.ClickHousePassword, s.RedisPassword = randomHex(16), randomHex(16), randomHex(16)
		s.UpstreamKey = "sk-demo-" + randomHex(16)
	case err != nil:
		return nil, fmt.Errorf("data directory: %w", err)
	default:
		if err := json.Unmarshal(raw, s); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w", s.path(), err)
		}
	}
	if s.ReaderPassword == "" { // there was no such account before
		s.ReaderPassword = randomHex(16)
	}
	s.ports = &ports{chosen: map[string]int{}}
	for name, port := range s.Ports {
		s.ports.chosen[name] = port
	}
	return s, nil
}

func (s *state) path() string { return filepath.Join(s.dir, "engines.json") }

func (s *state) save() error {
	s.Ports = s.ports.all()
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return writeFile(s.path(), append(raw, '\n'), 0o600)
}

// postgresDir is where PostgreSQL lives, by default inside DATA_DIR.
func (s *state) postgresDir() string {
	switch {
	case s.PostgresDir == "":
		return filepath.Join(s.dir, "postgres")
	case filepath.IsAbs(s.PostgresDir):
		return s.PostgresDir
	}
	return filepath.Join(s.dir, s.PostgresDir)
}

// keepPostgresDir writes the state before the databases are made: their passwords are in it.
func (s *state) keepPostgresDir(dir string) error {
	s.PostgresDir = dir
	if inside, err := filepath.Rel(s.dir, dir); err == nil && filepath.IsLocal(inside) {
		s.PostgresDir = inside
	}
	return s.save()
}

// republish brings connections.env up to date after a child was started again.
func (e *Engines) republish() {
	e.publish.Lock()
	defer e.publish.Unlock()
	if !e.published {
		return // Start is not through yet and will write it
	}
	if err := e.writeConnections(); err != nil {
		e.logger.Warn("process ids in connections.env are out of date", "error", err)
	}
}

// announce writes connections.env for the first time.
func (e *Engines) announce() error {
	e.publish.Lock()
	defer e.publish.Unlock()
	e.published = true
	return e.writeConnections()
}

// writeConnections writes connections.env in one step, readable by the owner only.
func (e *Engines) writeConnections() error {
	lines := []string{
		"DATABASE_URL=" + e.DatabaseURL(),
		"CLICKHOUSE_URL=" + e.ClickHouseURL(),
		"CLICKHOUSE_HTTP_URL=" + e.ClickHouseHTTPURL(),
		"CLICKHOUSE_READER_URL=" + e.ReaderURL(),
		"REDIS_URL=" + e.RedisURL(),
		"SMTP_URL=" + e.mail.URL(),
		"DEMO_UPSTREAM_URL=" + e.upstream.URL(),
		"DEMO_UPSTREAM_KEY=" + e.upstream.Key(),
		"CALLGATE_PID=" + strconv.Itoa(os.Getpid()),
	}
	for _, c := range e.children {
		lines = append(lines, strings.ToUpper(c.name)+"_PID="+strconv.Itoa(c.pid()))
	}
	return writeFile(filepath.Join(e.dir, connectionsFile), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// Running gives the addresses of the engines that another process runs on a data directory: DATABASE_URL and so on;
// false when none does.
func Running(dir string) (addresses map[string]string, ok bool) {
	file, err := tryLockFile(filepath.Join(dir, "lock"))
	if err == nil {
		_ = file.Close()
	}
	if !errors.Is(err, errLocked) {
		return nil, false
	}
	addresses, err = readConnections(filepath.Join(dir, connectionsFile))
	return addresses, err == nil
}

// readConnections reads a connections.env.
func readConnections(path string) (map[string]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the engines' addresses: %w", err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			found[name] = value
		}
	}
	return found, nil
}
