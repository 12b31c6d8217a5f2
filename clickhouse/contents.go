package clickhouse

import (
	"context"
	"fmt"
	"io/fs"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	native "github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/pressly/goose/v3"

	"callgate/internal/cluster"
)

// Newest is the version that Up leads to.
func Newest() (int64, error) {
	names, err := fs.Glob(Migrations, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, fmt.Errorf("clickhouse migrations: %w", err)
	}
	return goose.NumericComponent(names[len(names)-1])
}

// Empty removes every row of the tables, of a cluster on every node.
func Empty(ctx context.Context, address string) error {
	return onNodes(ctx, address, func(ctx context.Context, conn native.Conn) error {
		return onTables(ctx, conn, "MergeTree", "TRUNCATE TABLE %s SETTINGS max_table_size_to_drop = 0, max_partition_size_to_drop = 0")
	})
}

// Fetch waits until every replica of a cluster that can be reached has what others have by now. Of a single server it
// does nothing.
func Fetch(ctx context.Context, address string) error {
	options, name, err := cluster.Parse(address)
	if err != nil || name == "" {
		return err
	}
	layout, err := known(ctx, options, name)
	if err != nil {
		return err
	}
	for _, node := range layout.Nodes() {
		err := visitOne(ctx, cluster.OfNode(options, node, cluster.ShardDatabase(options.Auth.Database)), func(ctx context.Context, conn native.Conn) error {
			if err := conn.Ping(ctx); err != nil {
				return nil //nolint:nilerr // it is away, and asked of nothing: the others have all
			}
			return onTables(ctx, conn, "Replicated", "SYSTEM SYNC REPLICA %s")
		})
		if err != nil {
			return fmt.Errorf("node %s: %w", node, err)
		}
	}
	return nil
}

// onTables runs a statement for each table of a kind of engine.
func onTables(ctx context.Context, conn native.Conn, kind, statement string) error {
	var names []string
	err := conn.QueryRow(ctx, `SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%' || {kind:String} || '%'
		AND name NOT LIKE 'goose%'`, driver.Named("kind", kind)).Scan(&names)
	if err != nil {
		return fmt.Errorf("ask for tables: %w", err)
	}
	for _, name := range names {
		if err := conn.Exec(ctx, fmt.Sprintf(statement, identifier(name))); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
