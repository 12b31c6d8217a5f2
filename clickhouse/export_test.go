package clickhouse

import (
	"context"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"callgate/internal/cluster"
)

// ReaderStatements are what Reader runs.
var ReaderStatements = readerStatements

// ForShard are the migrations of a shard's database.
var ForShard = forShard

// Join makes the tables of a node as the other nodes of its shard have them.
func Join(ctx context.Context, options *driver.Options, address string, layout cluster.Layout) error {
	conn, err := driver.Open(cluster.OfNode(options, address, "default"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	n := &node{options: options, address: address, layout: layout}
	return n.join(ctx, conn)
}
