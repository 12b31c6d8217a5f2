package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"unsafe"

	"github.com/ebitengine/purego"

	"callgate/clickhouse"
)

// account is the name of the one user of both databases, and of the database itself.
const account = "callgate"

// Cluster is what the shards of Options.Shards are called.
const Cluster = "callgate"

// clickHouse is the embedded ClickHouse, or one shard of it: its directory and how to reach it.
type clickHouse struct {
	name     string     // also of its native port
	shards   [][]string // names of the replicas of each shard; nil of a single server
	lib      string
	dir      string
	password string
	reader   string // password of the data team's account
	ports    *ports
	replica  *replica // nil of all but one of several replicas
}

func (c *clickHouse) engine() engine {
	return engine{
		name:    c.name,
		log:     filepath.Join(c.dir, "stderr.log"),
		command: c.command,
		repick: func() error {
			return c.ports.repick(c.name, c.name+"_http")
		},
		ready: c.ready,
		interrupt: func(pid int, stdin io.Closer) error {
			if c.replica != nil { // it would wait for those that end beside it
				return syscall.Kill(pid, syscall.SIGKILL)
			}
			return stdin.Close()
		},
	}
}

// command re-executes this binary: see init in role.go.
func (c *clickHouse) command() (*exec.Cmd, error) {
	values := map[string]any{
		"Dir": c.dir, "TCP": c.ports.of(c.name), "HTTP": c.ports.of(c.name + "_http"),
		"Account": account, "PasswordHash": sha256Hex(c.password),
		"Reader": clickhouse.ReaderUser, "ReaderHash": sha256Hex(c.reader), "ReaderGrants": clickhouse.ReaderGrants(account),
		"ReaderLimits": clickhouse.ReaderLimits, "ReaderDefaults": clickhouse.ReaderDefaults, "ReaderQuota": clickhouse.ReaderQuota,
		"ReaderRole": clickhouse.ReaderRole,
		"Cluster":    Cluster, "Password": c.password, "Shards": c.portsOf(c.shards), "Replica": c.replica.config(c.ports),
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, fmt.Errorf("clickhouse directory: %w", err)
	}
	for _, file := range []*template.Template{clickHouseConfig, clickHouseUsers} {
		var text bytes.Buffer
		if err := file.Execute(&text, values); err != nil {
			return nil, fmt.Errorf("clickhouse %s: %w", file.Name(), err)
		}
		if err := writeFile(filepath.Join(c.dir, file.Name()), text.Bytes(), 0o600); err != nil {
			return nil, err
		}
	}
	config := filepath.Join(c.dir, "config.xml")
	cmd, err := c.replica.command(c.lib, config, c.ports)
	if err != nil {
		return nil, err
	}
	if cmd == nil {
		self, err := selfExecutable()
		if err != nil {
			return nil, fmt.Errorf("own executable: %w", err)
		}
		cmd = exec.Command(self)
		cmd.Args = []string{"callgate-clickhouse", c.lib, config}
		cmd.Env = append(os.Environ(), roleVariable+"="+roleClickHouse)
	}
	cmd.Dir = c.dir
	cmd.SysProcAttr = childAttributes(syscall.SIGKILL, nil)
	return cmd, nil
}

// portsOf are the native ports of the replicas of each shard.
func (c *clickHouse) portsOf(shards [][]string) (found [][]int) {
	for _, replicas := range shards {
		var native []int
		for _, name := range replicas {
			native = append(native, c.ports.of(name))
		}
		found = append(found, native)
	}
	return found
}

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ready asks over HTTP, with the password: a stranger on our port does not count. The native
// port is opened before the HTTP port.
func (c *clickHouse) ready(ctx context.Context) error {
	if c.replica != nil {
		return c.readyNatively(ctx)
	}
	return queryClickHouse(ctx, c.httpURL(""), "CREATE DATABASE IF NOT EXISTS "+account)
}

// url is the native DSN of one database.
func (c *clickHouse) url(database string) string {
	return dsn("clickhouse", account, c.password, c.ports.of(c.name), database)
}

func (c *clickHouse) httpURL(database string) string {
	return dsn("http", account, c.password, c.ports.of(c.name+"_http"), database)
}

func (c *clickHouse) readerURL(database string) string {
	return dsn("http", clickhouse.ReaderUser, c.reader, c.ports.of(c.name+"_http"), database)
}

func dsn(scheme, user, password string, port int, database string) string {
	u := url.URL{Scheme: scheme, User: url.UserPassword(user, password), Host: "127.0.0.1:" + strconv.Itoa(port), Path: "/" + database}
	return u.String()
}

// loopback speaks HTTP to our own children only, never through a proxy.
var loopback = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// queryClickHouse runs one statement that returns nothing. The password travels in a header, out of the access log.
func queryClickHouse(ctx context.Context, dsn, statement string) error {
	u, err := url.Parse(dsn)
	if err != nil {
		return fmt.Errorf("clickhouse address: %w", err)
	}
	password, _ := u.User.Password()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+u.Host+"/", strings.NewReader(statement))
	if err != nil {
		return fmt.Errorf("clickhouse request: %w", err)
	}
	request.Header.Set("X-ClickHouse-User", u.User.Username())
	request.Header.Set("X-ClickHouse-Key", password)
	response, err := loopback.Do(request)
	if err != nil {
		return fmt.Errorf("ask clickhouse: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("ask clickhouse: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("clickhouse answered %d: %s", response.StatusCode, bytes.TrimSpace(body))
	}
	return nil
}

// serveClickHouse is the child's whole life: it turns this process into a ClickHouse server until
// its standard input is closed, which the parent's end does too. It must run on the main thread,
// whose stack is as large as the engine expects. loaded, if
// there is one, is called before the engine starts.
func serveClickHouse(lib, config string, loaded func() error) error {
	runtime.LockOSThread()
	handle, err := purego.Dlopen(lib, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", lib, err)
	}
	if loaded != nil {
		if err := loaded(); err != nil {
			return err
		}
	}
	var setSignalHandlers func(enabled int32)
	var queryCommandLine func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	var resultError func(result unsafe.Pointer) string
	purego.RegisterLibFunc(&setSignalHandlers, handle, "chdb_set_signal_handlers_enabled")
	purego.RegisterLibFunc(&queryCommandLine, handle, "chdb_query_cmdline")
	purego.RegisterLibFunc(&resultError, handle, "chdb_result_error")
	setSignalHandlers(0) // the Go runtime has its own
	if err := standInput(); err != nil {
		return err
	}

	arguments := []string{
		"clickhouse", "--config-file=" + config, "--log-level=warning",
		"--interactive", "--disable_suggestion", "--progress=off", // see standInput
		// The last statement reads standard input to its end and so keeps the server alive.
		"--query=SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP; SELECT count() FROM file('-', LineAsString) FORMAT Null",
	}
	argv := make([]*byte, 0, len(arguments)+1)
	for _, argument := range arguments {
		argv = append(argv, unsafe.StringData(argument+"\x00"))
	}
	argv = append(argv, nil)
	result := queryCommandLine(int32(len(arguments)), unsafe.Pointer(&argv[0]))
	runtime.KeepAlive(argv)
	if result == nil {
		return nil
	}
	if message := resultError(result); message != "" {
		return fmt.Errorf("clickhouse: %s", message)
	}
	return nil
}
