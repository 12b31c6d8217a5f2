//go:build replicas

package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"text/template"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// Replicas are made of a clickhouse-server on the PATH, or else of the embedded engine, changed by package replicapatch, which
// a test then imports. Nothing of this is in the product or in `make test`.

// replica is what makes an engine one of several replicas.
type replica struct {
	shard, name string // its macros
	keeper      string // the part whose port ZooKeeper has
	server      string // path of clickhouse-server; empty: the embedded engine
	fetches     string // the part whose port others fetch from
}

// OwnReplicas is Own with ClickHouse in shards of several replicas each, beside a ZooKeeper. The engines of the
// first shard are clickhouse, clickhouse2 and so on, then come those of the next one; ZooKeeper is zookeeper.
func OwnReplicas(t TB, shards, replicas int) *Engines {
	t.Helper()
	return own(t, Options{Shards: shards, replicas: replicas})
}

// ClickHouseDSNOf is the native DSN of one engine, by its name in PIDs, with a database of it.
func (e *Engines) ClickHouseDSNOf(name, database string) string {
	for _, c := range e.shards() {
		if c.name == name {
			return c.url(database)
		}
	}
	return ""
}

func (e *Engines) placeReplicas(shards [][]string) {
	engines := e.shards()
	server, _ := exec.LookPath("clickhouse-server")
	for i, names := range shards {
		for range names {
			name := engines[0].name
			fetches := name + "_http" // what it serves instead of queries
			if server != "" {
				fetches = name + "_interserver"
			}
			engines[0].replica = &replica{shard: strconv.Itoa(i + 1), name: name, keeper: zooKeeperName, server: server, fetches: fetches}
			engines = engines[1:]
		}
	}
}

// Every embedded engine has the same UUID, by which servers tell in Keeper which session is theirs: a path of its
// own keeps each from ending those of others. A dead replica's session ends after four seconds.
var replicaConfig = template.Must(template.New("replica").Parse(`
  <interserver_http_host>127.0.0.1</interserver_http_host>
  {{- if .Server}}
  <interserver_http_port>{{.Fetches}}</interserver_http_port>
  {{- end}}
  <zookeeper>
    <node><host>127.0.0.1</host><port>{{.Port}}</port></node>
    <sessions_path>/clickhouse/sessions/{{.Name}}</sessions_path>
    <session_timeout_ms>4000</session_timeout_ms>
  </zookeeper>
  <macros><shard>{{.Shard}}</shard><replica>{{.Name}}</replica></macros>`))

func (r *replica) config(of *ports) string {
	if r == nil {
		return ""
	}
	var text bytes.Buffer
	if err := replicaConfig.Execute(&text, map[string]any{"Port": of.of(r.keeper), "Name": r.name, "Shard": r.shard, "Server": r.server, "Fetches": of.of(r.fetches)}); err != nil {
		panic(err) // the template is a constant
	}
	return text.String()
}

// interserverVariable tells an engine's process that it is a replica, and the port on which others fetch from it.
const interserverVariable = "CALLGATE_EMBEDDED_INTERSERVER"

// command is what runs a replica with a configuration; nil for an engine that is none.
func (r *replica) command(lib, config string, of *ports) (*exec.Cmd, error) {
	switch {
	case r == nil:
		return nil, nil
	case r.server != "":
		return exec.Command(r.server, "--config-file="+config), nil
	}
	self, err := selfExecutable()
	if err != nil {
		return nil, fmt.Errorf("own executable: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Args = []string{"callgate-clickhouse", lib, config}
	cmd.Env = append(os.Environ(), interserverVariable+"="+strconv.Itoa(of.of(r.fetches)))
	return cmd, nil
}

// patched is the SHA-256 of the engine that is changed; empty where nobody changes it.
var patched string

// PatchReplicas is told what makes the engine, loaded into a process of its own and not started yet, one of several replicas
// that fetch from it on a port, and which engine that is. It does not return in such a process.
func PatchReplicas(sha256 string, patch func(port uint16) error) {
	patched = sha256
	told := os.Getenv(interserverVariable)
	if told == "" {
		return
	}
	port, err := strconv.ParseUint(told, 10, 16)
	if err == nil {
		err = serveClickHouse(os.Args[1], os.Args[2], func() error { return patch(uint16(port)) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// readyNatively is ready over the native port, with the password. It makes what tells callgate migrate that there is
// a Keeper: a server has system.zookeeper then, this engine never.
func (c *clickHouse) readyNatively(ctx context.Context) error {
	options, err := driver.ParseDSN(c.url("default"))
	if err != nil {
		return err
	}
	conn, err := driver.Open(options)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	statements := []string{"CREATE DATABASE IF NOT EXISTS " + account}
	if c.replica.server == "" {
		statements = append(statements, "CREATE TABLE IF NOT EXISTS system.zookeeper (name String) ENGINE = Null")
	}
	for _, statement := range statements {
		if err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// knownEngine fails when the engine is another one than that which is changed.
var knownEngine = sync.OnceValue(func() error {
	if patched == "" {
		return errors.New("replicas need a clickhouse-server on the PATH, or a test that imports internal/embedded/replicapatch")
	}
	dir, err := enginesDir("")
	if err != nil {
		return err
	}
	path := dir + "/node_modules/" + platforms[pinned].chdb + "/libchdb.so"
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("look at the engine: %w", err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fmt.Errorf("look at the engine: %w", err)
	}
	if found := hex.EncodeToString(sum.Sum(nil)); found != patched {
		return fmt.Errorf("%s is another engine (sha256 %s) than the one whose code internal/embedded/replicapatch changes: find its places anew", path, found)
	}
	return nil
})
