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

// clickHouseConfig is the server's configuration. Pools are those of a two-core machine; no
// system log table is configured, so an idle engine writes nothing.
var clickHouseConfig = template.Must(template.New("config.xml").Parse(`<clickhouse>
  <path>{{.Dir}}/data/</path>
  <listen_host>127.0.0.1</listen_host>
  <tcp_port>{{.TCP}}</tcp_port>
  <http_port>{{.HTTP}}</http_port>
  <users_config>{{.Dir}}/users.xml</users_config>
  <logger>
    <log>{{.Dir}}/server.log</log>
    <size>10M</size>
    <count>2</count>
  </logger>
  <max_server_memory_usage>3221225472</max_server_memory_usage>
  <mark_cache_size>134217728</mark_cache_size>
  <index_mark_cache_size>33554432</index_mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <background_pool_size>4</background_pool_size>
  <background_common_pool_size>2</background_common_pool_size>
  <background_fetches_pool_size>1</background_fetches_pool_size>
  <background_move_pool_size>1</background_move_pool_size>
  <background_schedule_pool_size>4</background_schedule_pool_size>
  <asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>
  <database_atomic_delay_before_drop_table_sec>5</database_atomic_delay_before_drop_table_sec>
  <merge_tree>
    <number_of_free_entries_in_pool_to_execute_mutation>2</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>2</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>2</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
</clickhouse>
`))

// clickHouseUsers: the engine runs its start-up statements as "default", without a password, and
// that session lasts as long as the engine. A limit of one session per user therefore shuts
// "default" to everybody else, before the first port is opened. The engine keeps no accounts of its
// own, so the data team's, which a server gets from clickhouse.Reader, stands here.
var clickHouseUsers = template.Must(template.New("users.xml").Parse(`<clickhouse>
  <profiles>
    <default>
      <async_insert>0</async_insert>
      <insert_deduplicate>1</insert_deduplicate>
    </default>
    <keeper><max_sessions_for_user>1</max_sessions_for_user></keeper>
    <{{.Reader}}>
      <readonly>2</readonly>
      {{- range .ReaderLimits}}
      <{{.Name}}>{{.Value}}</{{.Name}}>
      {{- end}}
      <constraints>
        {{- range .ReaderLimits}}
        <{{.Name}}><min>1</min><max>{{.Value}}</max></{{.Name}}>
        {{- end}}
      </constraints>
    </{{.Reader}}>
  </profiles>
  <quotas>
    <default/>
    <{{.Reader}}>
      <interval>
        <duration>3600</duration>
        {{- range .ReaderQuota}}
        <{{.Name}}>{{.Value}}</{{.Name}}>
        {{- end}}
      </interval>
    </{{.Reader}}>
  </quotas>
  <users>
    <default>
      <no_password/>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>keeper</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT CREATE TEMPORARY TABLE ON *.*</query>
        <query>GRANT READ ON FILE</query>
      </grants>
    </default>
    <{{.Account}}>
      <password_sha256_hex>{{.PasswordHash}}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <access_management>1</access_management>
    </{{.Account}}>
    <{{.Reader}}>
      <password_sha256_hex>{{.ReaderHash}}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>{{.Reader}}</profile>
      <quota>{{.Reader}}</quota>
      <grants>
        {{- range .ReaderGrants}}
        <query>{{.}}</query>
        {{- end}}
      </grants>
    </{{.Reader}}>
  </users>
</clickhouse>
`))

// clickHouse is the embedded ClickHouse: its directory and how to reach it.
type clickHouse struct {
	lib      string
	dir      string
	password string
	reader   string // password of the data team's account
	ports    *ports
}

func (c *clickHouse) engine() engine {
	return engine{
		name:    "clickhouse",
		log:     filepath.Join(c.dir, "stderr.log"),
		command: c.command,
		repick: func() error {
			return c.ports.repick("clickhouse", "clickhouse_http")
		},
		ready:     c.ready,
		interrupt: func(_ int, stdin io.Closer) error { return stdin.Close() },
	}
}

// command re-executes this binary: see init in role.go.
func (c *clickHouse) command() (*exec.Cmd, error) {
	values := map[string]any{
		"Dir": c.dir, "TCP": c.ports.of("clickhouse"), "HTTP": c.ports.of("clickhouse_http"),
		"Account": account, "PasswordHash": sha256Hex(c.password),
		"Reader": clickhouse.ReaderUser, "ReaderHash": sha256Hex(c.reader), "ReaderGrants": clickhouse.ReaderGrants(account),
		"ReaderLimits": clickhouse.ReaderLimits, "ReaderQuota": clickhouse.ReaderQuota,
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
	self, err := selfExecutable()
	if err != nil {
		return nil, fmt.Errorf("own executable: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Args = []string{"callgate-clickhouse", c.lib, filepath.Join(c.dir, "config.xml")}
	cmd.Env = append(os.Environ(), roleVariable+"="+roleClickHouse)
	cmd.Dir = c.dir
	cmd.SysProcAttr = childAttributes(syscall.SIGKILL, nil)
	return cmd, nil
}

func sha256Hex(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ready asks over HTTP, with the password: a stranger on our port does not count. The native
// port is opened before the HTTP port.
func (c *clickHouse) ready(ctx context.Context) error {
	return queryClickHouse(ctx, c.httpURL(""), "CREATE DATABASE IF NOT EXISTS "+account)
}

// url is the native DSN of one database.
func (c *clickHouse) url(database string) string {
	return dsn("clickhouse", account, c.password, c.ports.of("clickhouse"), database)
}

func (c *clickHouse) httpURL(database string) string {
	return dsn("http", account, c.password, c.ports.of("clickhouse_http"), database)
}

func (c *clickHouse) readerURL(database string) string {
	return dsn("http", clickhouse.ReaderUser, c.reader, c.ports.of("clickhouse_http"), database)
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
// whose stack is as large as the engine expects.
func serveClickHouse(lib, config string) error {
	runtime.LockOSThread()
	handle, err := purego.Dlopen(lib, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", lib, err)
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
