package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	native "github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/cluster"
	"callgate/internal/progress"
)

// upCluster brings every node of a cluster to the newest version. It connects to each and runs the statements
// there, and uses no ON CLUSTER: that needs a queue in Keeper, which a cluster of single replicas does without,
// leaves out nodes that are added later, and answers for other nodes by waiting for them. Each node remembers
// what it has, so a run that found one away is completed by the next, and a new node gets everything. All nodes
// are tried whatever fails, so that one that is away holds up itself alone.
func upCluster(ctx context.Context, options *driver.Options, name string, display progress.Output) error {
	if options.Protocol != driver.Native {
		return errors.New("CLICKHOUSE_CLUSTER needs a CLICKHOUSE_URL that begins with clickhouse://, for it is the native port of each node that remote_servers names")
	}
	layout, err := known(ctx, options, name)
	if err != nil {
		return err
	}
	var faults []error
	meter := display.Begin("nodes of the ClickHouse cluster migrated", int64(len(layout.Nodes())))
	defer meter.End()
	for _, address := range layout.Nodes() {
		n := &node{options: options, address: address, cluster: name, layout: layout}
		if err := n.up(ctx); err != nil {
			faults = append(faults, fmt.Errorf("node %s: %w", address, err))
		}
		meter.Add(1)
	}
	return errors.Join(faults...)
}

// known asks the nodes of the address for the cluster's layout, until one answers.
func known(ctx context.Context, options *driver.Options, name string) (cluster.Layout, error) {
	var faults []error
	for _, address := range options.Addr {
		conn, err := driver.Open(cluster.OfNode(options, address, "default"))
		if err != nil {
			return nil, fmt.Errorf("open clickhouse: %w", err)
		}
		layout, err := cluster.Ask(ctx, conn, name)
		_ = conn.Close()
		if err == nil {
			return layout, nil
		}
		faults = append(faults, err)
	}
	return nil, errors.Join(faults...)
}

// node is one server of a cluster that is being migrated.
type node struct {
	options *driver.Options
	address string
	cluster string
	layout  cluster.Layout
}

func (n *node) database() string { return n.options.Auth.Database }
func (n *node) shard() string    { return cluster.ShardDatabase(n.database()) }

func (n *node) up(ctx context.Context) error {
	conn, err := driver.Open(cluster.OfNode(n.options, n.address, "default"))
	if err != nil {
		return fmt.Errorf("open clickhouse: %w", err)
	}
	defer func() { _ = conn.Close() }()
	shards, err := n.shards(ctx, conn)
	if err != nil {
		return err
	}
	withKeeper, err := n.keeper(ctx, conn)
	if err != nil {
		return err
	}
	tables, err := forShard(withKeeper)
	if err != nil {
		return err
	}
	ofViews, err := forViews()
	if err != nil {
		return err
	}
	if err := n.join(ctx, conn); err != nil {
		return err
	}
	if err := n.upDatabase(ctx, n.shard(), tables); err != nil {
		return err
	}
	if err := createDatabase(ctx, *cluster.OfNode(n.options, n.address, n.database())); err != nil {
		return err
	}
	if err := n.distribute(ctx, conn, shards); err != nil {
		return err
	}
	if err := n.upDatabase(ctx, n.database(), ofViews); err != nil {
		return err
	}
	return replaceViews(ctx, cluster.OfNode(n.options, n.address, n.database()), globally)
}

// shards is over how many shards calls are spread: all there are, or those there were when the tables were
// made, here or, of a node that is new, elsewhere.
func (n *node) shards(ctx context.Context, conn native.Conn) (int, error) {
	shards, err := cluster.Shards(ctx, conn, n.database())
	if err == nil || !errors.Is(err, cluster.ErrNotMigrated) {
		return shards, err
	}
	for _, address := range n.layout.Nodes() {
		other, err := driver.Open(cluster.OfNode(n.options, address, "default"))
		if err != nil {
			return 0, fmt.Errorf("open clickhouse: %w", err)
		}
		shards, err = cluster.Shards(ctx, other, n.database())
		_ = other.Close()
		if !errors.Is(err, cluster.ErrNotMigrated) {
			return shards, err // a node that is away may be the one that knows
		}
	}
	return len(n.layout), nil
}

// keeper tells whether tables are to be replicated: wherever Keeper is configured. Without it a shard must
// have one replica, for several would each get a part of its calls.
func (n *node) keeper(ctx context.Context, conn native.Conn) (bool, error) {
	var keeper, plain, macros uint64
	err := conn.QueryRow(ctx, `SELECT
		(SELECT count() FROM system.tables WHERE database = 'system' AND name = 'zookeeper'),
		(SELECT count() FROM system.tables WHERE database = {shard:String} AND name = 'calls' AND engine = 'MergeTree'),
		(SELECT count() FROM system.macros WHERE macro IN ('shard', 'replica'))`, driver.Named("shard", n.shard())).Scan(&keeper, &plain, &macros)
	switch {
	case err != nil:
		return false, fmt.Errorf("ask for Keeper: %w", err)
	case n.layout.Replicated() && keeper == 0:
		return false, fmt.Errorf("cluster %q has several replicas of a shard, but the server has no Keeper: configure <zookeeper>, without which replicas would each hold a part of the calls", n.cluster)
	case n.layout.Replicated() && plain > 0:
		return false, fmt.Errorf("the tables of database %q are not replicated, for they were made before the server had a Keeper: attach them as replicated (ATTACH TABLE … AS REPLICATED) before a replica is added", n.shard())
	case keeper > 0 && plain == 0 && macros < 2:
		return false, errors.New("the server has no macros shard and replica, by which replicated tables find each other: configure <macros>")
	}
	return keeper > 0 && plain == 0, nil
}

// join makes the tables of a new replica as another one of its shard has them by now: Keeper takes no replica whose
// columns are those of an early version. What migrations say after that changes nothing. A replica that does not
// answer is passed over.
func (n *node) join(ctx context.Context, conn native.Conn) error {
	for _, shard := range n.layout {
		if !slices.Contains(shard.Replicas, n.address) {
			continue
		}
		for _, address := range shard.Replicas {
			if address == n.address {
				continue
			}
			tables, err := n.tablesOf(ctx, address)
			if err != nil || len(tables) == 0 {
				continue
			}
			tables = slices.Insert(tables, 0, "CREATE DATABASE "+identifier(n.shard()))
			for _, statement := range tables {
				if err := conn.Exec(ctx, ifMissing.Replace(statement)); err != nil {
					return fmt.Errorf("make the tables of a new replica: %w", err)
				}
			}
			return nil
		}
	}
	return nil
}

var ifMissing = strings.NewReplacer("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", "CREATE DATABASE ", "CREATE DATABASE IF NOT EXISTS ")

// tablesOf are the statements that make the tables of another node.
func (n *node) tablesOf(ctx context.Context, address string) (statements []string, err error) {
	other, err := driver.Open(cluster.OfNode(n.options, address, "default"))
	if err != nil {
		return nil, fmt.Errorf("open clickhouse: %w", err)
	}
	defer func() { _ = other.Close() }()
	rows, err := other.Query(ctx, `SELECT create_table_query FROM system.tables
		WHERE database = {shard:String} AND engine LIKE '%MergeTree' AND name NOT LIKE 'goose%'`, driver.Named("shard", n.shard()))
	if err != nil {
		return nil, fmt.Errorf("ask for tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return nil, fmt.Errorf("ask for tables: %w", err)
		}
		statements = append(statements, statement)
	}
	return statements, rows.Err()
}

// codeMetadataBehind is ClickHouse's CANNOT_ASSIGN_ALTER: this replica has not yet heard of what another one
// was told.
const codeMetadataBehind = 517

// upDatabase migrates one database of the node. Another replica of the shard may have done it already, for the
// tables, and this one be about to hear of it.
func (n *node) upDatabase(ctx context.Context, database string, migrations fs.FS) error {
	return whileBehind(ctx, func() error {
		return up(ctx, cluster.OfNode(n.options, n.address, database), migrations, progress.Output{})
	})
}

// whileBehind repeats a change for as long as its replica has not heard of the one before, within reason.
func whileBehind(ctx context.Context, change func() error) error {
	for attempt := 0; ; attempt++ {
		err := change()
		var refused *driver.Exception
		if err == nil || attempt == 20 || !errors.As(err, &refused) || refused.Code != codeMetadataBehind {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

const columnsOf = `SELECT table, arraySort(groupArray((position, name, type, default_kind, default_expression, comment))) AS columns FROM system.columns`

// distribute makes a Distributed table over each table of the shards, or makes it anew where the columns are
// others now: it holds nothing, and queries that run keep the one they began with.
func (n *node) distribute(ctx context.Context, conn native.Conn, shards int) error {
	rows, err := conn.Query(ctx, `
		SELECT t.name, t.comment FROM system.tables AS t
		LEFT JOIN (`+columnsOf+` WHERE database = {shard:String} GROUP BY table) AS s ON s.table = t.name
		LEFT JOIN (`+columnsOf+` WHERE database = {database:String} GROUP BY table) AS d ON d.table = t.name
		WHERE t.database = {shard:String} AND t.engine LIKE '%MergeTree' AND t.name NOT LIKE 'goose%' AND s.columns != d.columns`,
		driver.Named("shard", n.shard()), driver.Named("database", n.database()))
	if err != nil {
		return fmt.Errorf("compare tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var statements []string
	for rows.Next() {
		var table, comment string
		if err := rows.Scan(&table, &comment); err != nil {
			return fmt.Errorf("compare tables: %w", err)
		}
		statements = append(statements, fmt.Sprintf("CREATE OR REPLACE TABLE %[1]s.%[2]s AS %[3]s.%[2]s ENGINE = Distributed(%[4]s, %[5]s, %[6]s, %[7]s) COMMENT %[8]s",
			identifier(n.database()), identifier(table), identifier(n.shard()), literal(n.cluster), literal(n.shard()), literal(table), cluster.Key(shards), literal(comment)))
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("compare tables: %w", err)
	}
	for _, statement := range statements {
		if err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("distribute tables: %w", err)
		}
	}
	return nil
}

var quoting = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "`", "\\`")

func identifier(name string) string { return "`" + quoting.Replace(name) + "`" }
func literal(text string) string    { return "'" + quoting.Replace(text) + "'" }
