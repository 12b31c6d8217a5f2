package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"callgate/clickhouse"
	"callgate/internal/cluster"
)

// placeShards decides where each ClickHouse engine lives.
func (e *Engines) placeShards(found binaries, options Options) {
	names := []string{"clickhouse"}
	for i := 2; i <= max(1, options.Shards)*max(1, options.replicas); i++ {
		names = append(names, fmt.Sprint("clickhouse", i))
	}
	var shards [][]string
	if len(names) > 1 {
		shards = slices.Collect(slices.Chunk(names, max(1, options.replicas)))
	}
	made := func(name string) *clickHouse {
		return &clickHouse{name: name, shards: shards, lib: found.libchdb, dir: filepath.Join(e.dir, name), password: e.state.ClickHousePassword,
			reader: e.state.ReaderPassword, ports: e.state.ports}
	}
	e.ch = made(names[0])
	for _, name := range names[1:] {
		e.others = append(e.others, made(name))
	}
	if options.replicas > 1 {
		e.placeReplicas(shards)
	}
}

// shards are all ClickHouse engines, replicas of one shard beside each other.
func (e *Engines) shards() []*clickHouse { return append([]*clickHouse{e.ch}, e.others...) }

// ClickHouseURL is the native DSN of the ClickHouse database callgate; of several shards the address of the
// cluster, with every node.
func (e *Engines) ClickHouseURL() string {
	return cluster.Address(e.ClickHouseDSN(), e.ClickHouseCluster())
}

// ClickHouseCluster is what several shards are called; empty without.
func (e *Engines) ClickHouseCluster() string {
	if len(e.others) == 0 {
		return ""
	}
	return Cluster
}

// ClickHouseDSN is the same without the cluster's name, as the environment gives it.
func (e *Engines) ClickHouseDSN() string {
	native := e.ch.url(account)
	for _, c := range e.others {
		native = withHost(native, address(c.ports.of(c.name)))
	}
	return native
}

// ClickHouseHTTPURL is the HTTP DSN of the same database.
func (e *Engines) ClickHouseHTTPURL() string { return e.ch.httpURL(account) }

// ReaderURL is the HTTP DSN of the same database for the data team's read-only account.
func (e *Engines) ReaderURL() string { return e.ch.readerURL(account) }

// OwnCluster is Own with ClickHouse in several shards: clickhouse, clickhouse2 and so on.
func OwnCluster(t TB, shards int) *Engines {
	t.Helper()
	return own(t, Options{Shards: shards})
}

// ClickHouse gives a test its own migrated ClickHouse database, as a native DSN: with EMBEDDED_SHARDS a
// cluster's, as package cluster reads it.
func ClickHouse(t TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	name := "test_" + randomHex(8)
	dsn := withDatabase(connection(t, "CLICKHOUSE_URL"), name)
	t.Cleanup(func() {
		for _, database := range []string{name, cluster.ShardDatabase(name)} {
			if err := onEveryShard(dsn, "DROP DATABASE IF EXISTS "+database); err != nil {
				t.Logf("drop the test's database: %v", err)
			}
		}
	})
	if err := clickhouse.Up(ctx, dsn); err != nil {
		t.Fatalf("migrate the test's database: %v", err)
	}
	return dsn
}

// WithSettings adds parameters, as "?name=value", to a DSN that may have some.
func WithSettings(dsn, parameters string) string {
	if strings.Contains(dsn, "?") {
		parameters = strings.Replace(parameters, "?", "&", 1)
	}
	return dsn + parameters
}

// OnShards runs a statement where the rows of an address are: in the database of a single server, or in the
// shard's own on every node of a cluster.
func OnShards(t TB, address, statement string, arguments ...any) {
	t.Helper()
	if err := onEveryShard(address, statement, arguments...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func onEveryShard(address, statement string, arguments ...any) error {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	var faults []error
	for _, host := range options.Addr {
		node := cluster.OfNode(options, host, options.Auth.Database)
		if name != "" {
			node.Auth.Database = cluster.ShardDatabase(options.Auth.Database)
		}
		if strings.HasPrefix(statement, "DROP DATABASE") {
			node.Auth.Database = "default"
		}
		db := driver.OpenDB(node)
		_, err := db.ExecContext(ctx, statement, arguments...)
		faults = append(faults, err, db.Close())
	}
	return errors.Join(faults...)
}

// withHost adds a host to a DSN.
func withHost(dsn, host string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn
	}
	u.Host += "," + host
	return u.String()
}
