package shards

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/beijing"
)

const (
	dialTimeout = 3 * time.Second
	// InsertTimeout bounds an insert; what it leaves uncertain is made certain by its token.
	InsertTimeout = time.Minute
	lookTimeout   = 30 * time.Second
)

// openClickHouse prepares connections; it dials nothing. The settings are those under which a
// token makes an insert, its rollups included, count once.
func openClickHouse(of *clickhouse.Options) (driver.Conn, error) {
	options := *of
	if options.DialTimeout == 0 {
		options.DialTimeout = dialTimeout
	}
	options.Settings = clickhouse.Settings{}
	maps.Copy(options.Settings, of.Settings)
	options.Settings["insert_deduplicate"] = 1
	options.Settings["async_insert"] = 0
	options.Settings["deduplicate_blocks_in_dependent_materialized_views"] = 1
	options.Settings["materialized_views_ignore_errors"] = 0
	options.Settings["parallel_view_processing"] = 1 // rows are seen before their rollups are: half as long so
	options.MaxOpenConns, options.MaxIdleConns = 3, 2
	conn, err := clickhouse.Open(&options)
	if err != nil {
		return nil, fmt.Errorf("open clickhouse: %w", err)
	}
	return conn, nil
}

// insert sends columns as one block with settings, its deduplication token among them.
func insert(ctx context.Context, conn driver.Conn, query string, settings clickhouse.Settings, columns []any) error {
	ctx, cancel := context.WithTimeout(ctx, InsertTimeout)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings))
	batch, err := conn.PrepareBatch(ctx, query) // a fresh one for every attempt (clickhouse-go#1420)
	if err != nil {
		return fmt.Errorf("begin insert: %w", err)
	}
	for i, column := range columns {
		if err := batch.Column(i).Append(column); err != nil {
			return errors.Join(fmt.Errorf("fill column %d: %w", i, err), batch.Abort())
		}
	}
	if err := batch.Send(); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

// countRows asks how many rows of a batch a table ("calls" or "call_failures") holds.
func countRows(ctx context.Context, conn driver.Conn, table string, day beijing.Day, token string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var count uint64
	err := conn.QueryRow(ctx, `SELECT count() FROM `+table+` WHERE batch_id = {batch:String}
		AND start_time >= fromUnixTimestamp64Milli({from:Int64}, 'Asia/Shanghai')
		AND start_time < fromUnixTimestamp64Milli({to:Int64}, 'Asia/Shanghai')`,
		clickhouse.Named("batch", token),
		clickhouse.Named("from", fmt.Sprint(day.Start().UnixMilli())),
		clickhouse.Named("to", fmt.Sprint(day.End().UnixMilli()))).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("look for batch %s: %w", token, err)
	}
	return int(count), nil
}

// serverStart asks when the ClickHouse server was started, within a second.
func serverStart(ctx context.Context, conn driver.Conn) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	var seconds uint32
	if err := conn.QueryRow(ctx, `SELECT toUInt32(uptime())`).Scan(&seconds); err != nil {
		return time.Time{}, fmt.Errorf("ask for the server's uptime: %w", err)
	}
	return time.Now().Add(-time.Duration(seconds) * time.Second), nil
}
