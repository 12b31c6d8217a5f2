//go:build replicas

package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"text/template"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// The embedded engine has all of replication but the port on which replicas fetch parts from each other, so that
// its Replicated tables are read-only. `make replicas` changes the engine's code in the memory of its processes
// (replicas_patch.go): its HTTP port then serves fetches, and queries go over the native port alone. ON CLUSTER
// and the Replicated database stay out of reach. Nothing of this is in the product or in `make test`.

// replica is what makes an engine one of several replicas.
type replica struct {
	shard, name string // its macros
	keeper      string // the part whose port ZooKeeper has
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
	for i, names := range shards {
		for range names {
			engines[0].replica = &replica{shard: strconv.Itoa(i + 1), name: engines[0].name, keeper: zooKeeperName}
			engines = engines[1:]
		}
	}
}

// Every embedded engine has the same UUID, by which servers tell in Keeper which session is theirs: a path of its
// own keeps each from ending those of others. A dead replica's session ends after four seconds.
var replicaConfig = template.Must(template.New("replica").Parse(`
  <interserver_http_host>127.0.0.1</interserver_http_host>
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
	if err := replicaConfig.Execute(&text, map[string]any{"Port": of.of(r.keeper), "Name": r.name, "Shard": r.shard}); err != nil {
		panic(err) // the template is a constant
	}
	return text.String()
}

// interserverVariable tells an engine's process that it is a replica, and the port on which others fetch from it.
const interserverVariable = "CALLGATE_EMBEDDED_INTERSERVER"

func (r *replica) environment(port int) []string {
	if r == nil {
		return nil
	}
	return []string{interserverVariable + "=" + strconv.Itoa(port)}
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
	for _, statement := range []string{"CREATE TABLE IF NOT EXISTS system.zookeeper (name String) ENGINE = Null", "CREATE DATABASE IF NOT EXISTS " + account} {
		if err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// patched is the engine whose code replicas_patch.go knows: libchdb 26.7.3-stable.1 for Linux on x86-64.
const patched = "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5"

// knownEngine fails when the engine is another one.
var knownEngine = sync.OnceValue(func() error {
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
		return fmt.Errorf("%s is another engine (sha256 %s) than the one whose code internal/embedded/replicas_patch.go changes: find its places anew", path, found)
	}
	return nil
})
