package calls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"callgate/internal/beijing"
)

const (
	dialTimeout   = 3 * time.Second
	insertTimeout = time.Minute // of one batch; what it leaves uncertain is settled by its token
	lookTimeout   = 30 * time.Second
)

// openClickHouse prepares connections; it dials nothing. The settings are those under which a
// token makes an insert, its rollups included, count once.
func openClickHouse(url string) (driver.Conn, error) {
	options, err := clickhouse.ParseDSN(url)
	if err != nil {
		return nil, errors.New("CLICKHOUSE_URL is not a valid DSN") // the cause would show the password
	}
	if options.DialTimeout == 0 {
		options.DialTimeout = dialTimeout
	}
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	options.Settings["insert_deduplicate"] = 1
	options.Settings["async_insert"] = 0
	options.Settings["deduplicate_blocks_in_dependent_materialized_views"] = 1
	options.Settings["materialized_views_ignore_errors"] = 0
	options.MaxOpenConns, options.MaxIdleConns = 3, 2
	conn, err := clickhouse.Open(options)
	if err != nil {
		return nil, fmt.Errorf("open clickhouse: %w", err)
	}
	return conn, nil
}

const insertCalls = `INSERT INTO calls (application_id, start_time, call_id, user_id, model, duration_ms, status_code, success, streamed,
	first_byte_ms, ended_by, reason_type, reason_code, upstream_status, request_bytes, response_bytes, batch_id, stamped)`

// callColumns are the columns of insertCalls, reused from batch to batch.
type callColumns struct {
	application, call, user                []uuid.UUID
	start                                  []int64 // Unix milliseconds
	model, endedBy, reasonType, reasonCode []any   // strings, see repeat
	batch                                  []any
	duration                               []uint32
	firstByte                              []*uint32
	firstByteOf                            []uint32
	status, upstream                       []uint16
	success, streamed, stamped             []bool // stamped: the server notes when it got the row
	requestBytes, responseBytes            []uint64
}

func (c *callColumns) fill(rows []row, token string) []any {
	c.firstByteOf = resize(c.firstByteOf, len(rows))
	for _, column := range []*[]uuid.UUID{&c.application, &c.call, &c.user} {
		*column = resize(*column, len(rows))
	}
	for _, column := range []*[]any{&c.model, &c.endedBy, &c.reasonType, &c.reasonCode, &c.batch} {
		*column = resize(*column, len(rows))
	}
	c.start, c.duration, c.firstByte = resize(c.start, len(rows)), resize(c.duration, len(rows)), resize(c.firstByte, len(rows))
	c.status, c.upstream = resize(c.status, len(rows)), resize(c.upstream, len(rows))
	c.success, c.streamed, c.stamped = resize(c.success, len(rows)), resize(c.streamed, len(rows)), resize(c.stamped, len(rows))
	c.requestBytes, c.responseBytes = resize(c.requestBytes, len(rows)), resize(c.responseBytes, len(rows))
	for i := range rows {
		r := &rows[i]
		c.application[i], c.call[i], c.user[i] = r.application, r.call, r.user
		c.start[i], c.duration[i] = r.start, milliseconds(r.durationUS)
		repeat(c.model, i, r.model)
		repeat(c.endedBy, i, r.endedBy)
		repeat(c.reasonType, i, r.reasonType)
		repeat(c.reasonCode, i, r.reasonCode)
		repeat(c.batch, i, token)
		c.status[i], c.upstream[i], c.success[i], c.streamed[i], c.stamped[i] = r.status, r.upstream, r.success, r.streamed, true
		c.requestBytes[i], c.responseBytes[i] = r.requestBytes, r.responseBytes
		c.firstByte[i] = nil
		if r.hasFirstByte {
			c.firstByteOf[i] = milliseconds(r.firstByteUS)
			c.firstByte[i] = &c.firstByteOf[i]
		}
	}
	return []any{c.application, c.start, c.call, c.user, c.model, c.duration, c.status, c.success, c.streamed,
		c.firstByte, c.endedBy, c.reasonType, c.reasonCode, c.upstream, c.requestBytes, c.responseBytes, c.batch, c.stamped}
}

// repeat sets column[i] to text, as the value of the row before when it is the same: the driver
// would allocate one for every row of a low-cardinality column given as strings.
func repeat(column []any, i int, text string) {
	if i > 0 && column[i-1] == text {
		column[i] = column[i-1]
		return
	}
	column[i] = text
}

const insertFailures = `INSERT INTO call_failures (application_id, start_time, call_id, message, method, path, request_body, query, body_note, batch_id)`

// failureColumns returns the columns of insertFailures for the rows that carry a detail.
func failureColumns(rows []row, token string) (columns []any, count int) {
	var application, call []uuid.UUID
	var start []int64
	var message, method, path, body, query, note, batch []string
	for i := range rows {
		r := &rows[i]
		if !r.hasFailure {
			continue
		}
		f := &r.failure
		application, call, start = append(application, r.application), append(call, r.call), append(start, r.start)
		message, method, path = append(message, f.message), append(method, f.method), append(path, f.path)
		body, query, note, batch = append(body, f.body), append(query, f.query), append(note, f.note), append(batch, token)
	}
	return []any{application, start, call, message, method, path, body, query, note, batch}, len(call)
}

func resize[T any](column []T, n int) []T {
	if cap(column) < n {
		return make([]T, n)
	}
	return column[:n]
}

// milliseconds cuts finer digits off, and what no UInt32 holds (49 days).
func milliseconds(us uint64) uint32 { return uint32(min(us/1000, math.MaxUint32)) }

// insert sends columns as one block under a deduplication token.
func insert(ctx context.Context, conn driver.Conn, query, token string, columns []any) error {
	ctx, cancel := context.WithTimeout(ctx, insertTimeout)
	defer cancel()
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": token}))
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
func countRows(ctx context.Context, conn driver.Conn, table string, b *batch) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var count uint64
	err := conn.QueryRow(ctx, `SELECT count() FROM `+table+` WHERE batch_id = {batch:String}
		AND start_time >= fromUnixTimestamp64Milli({from:Int64}, 'Asia/Shanghai')
		AND start_time < fromUnixTimestamp64Milli({to:Int64}, 'Asia/Shanghai')`,
		clickhouse.Named("batch", b.token),
		clickhouse.Named("from", fmt.Sprint(b.day.Start().UnixMilli())),
		clickhouse.Named("to", fmt.Sprint(b.day.End().UnixMilli()))).Scan(&count)
	if err != nil {
		return 0, fmt.Errorf("look for batch %s: %w", b.token, err)
	}
	return int(count), nil
}

// serverStart asks when the ClickHouse server was started, within a second.
func serverStart(ctx context.Context, conn driver.Conn) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var seconds uint32
	if err := conn.QueryRow(ctx, `SELECT toUInt32(uptime())`).Scan(&seconds); err != nil {
		return time.Time{}, fmt.Errorf("ask for the server's uptime: %w", err)
	}
	return time.Now().Add(-time.Duration(seconds) * time.Second), nil
}

// batch is what one INSERT carries: rows of one Beijing day of one segment, in record order.
type batch struct {
	day   beijing.Day
	token string
	rows  []row
}
