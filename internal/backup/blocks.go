package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// Rows are kept in ClickHouse's format Native, block after block, so that any ClickHouse reads them without us.
const (
	blockRows       = 100_000
	blockOfFailures = 5_000 // with bodies of 16 KB each
)

// dump writes the rows of a query, and tells counted how many of them, now and then.
func dump(ctx context.Context, conn driver.Conn, query string, parameters []any, perBlock int, to io.Writer, counted func(int64)) (total int64, err error) {
	rows, err := conn.Query(ctx, query, parameters...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	block := proto.NewBlock()
	var into, values []any
	for _, t := range rows.ColumnTypes() {
		if err := block.AddColumn(t.Name(), column.Type(t.DatabaseTypeName())); err != nil {
			return 0, err
		}
		into, values = append(into, reflect.New(t.ScanType()).Interface()), append(values, nil)
	}
	var buffer chproto.Buffer
	flush := func() error {
		n := int64(block.Rows())
		if n == 0 {
			return nil
		}
		buffer.Reset()
		if err := block.Encode(&buffer, 0); err != nil {
			return err
		}
		block.Reset()
		total += n
		counted(n)
		_, err := to.Write(buffer.Buf)
		return err
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return total, err
		}
		for i := range into {
			values[i] = reflect.ValueOf(into[i]).Elem().Interface()
		}
		if err := block.Append(values...); err != nil {
			return total, err
		}
		if block.Rows() == perBlock {
			if err := flush(); err != nil {
				return total, err
			}
		}
	}
	if err := rows.Err(); err != nil {
		return total, err
	}
	return total, flush()
}

// load inserts what dump has written, a block at a time.
func load(ctx context.Context, conn driver.Conn, insert string, from io.Reader, counted func(int64)) (total int64, err error) {
	buffered := bufio.NewReaderSize(from, 1<<18)
	reader := chproto.NewReader(buffered)
	for {
		columns, err := reader.UVarInt()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		rows, err := reader.UVarInt()
		if err != nil {
			return total, err
		}
		if rows > blockRows {
			return total, fmt.Errorf("a block of %d rows", rows)
		}
		batch, err := conn.PrepareBatch(ctx, insert)
		if err != nil {
			return total, err
		}
		if err := fill(batch.Columns(), reader, int(columns), int(rows)); err != nil {
			return total, errors.Join(err, batch.Abort())
		}
		if err := batch.Send(); err != nil {
			return total, err
		}
		total += int64(rows)
		counted(int64(rows))
	}
}

// fill reads the columns of a block into those of an insert, which have their names and types.
func fill(into []column.Interface, from *chproto.Reader, columns, rows int) error {
	if columns != len(into) {
		return fmt.Errorf("a block of %d columns, the table has %d", columns, len(into))
	}
	for _, c := range into {
		name, err := from.Str()
		if err != nil {
			return err
		}
		kind, err := from.Str()
		if err != nil {
			return err
		}
		if name != c.Name() || plainType(kind) != plainType(string(c.Type())) {
			return fmt.Errorf("column %s %s of the backup is %s %s in the table", name, kind, c.Name(), c.Type())
		}
		if custom, ok := c.(column.CustomSerialization); ok {
			if err := custom.ReadStatePrefix(from); err != nil {
				return err
			}
		}
		if err := c.Decode(from, rows); err != nil {
			return err
		}
	}
	return nil
}

// plainType is a type without how it is aggregated: the values are the same.
func plainType(of string) string {
	if inner, ok := strings.CutPrefix(of, "SimpleAggregateFunction("); ok {
		if _, base, ok := strings.Cut(strings.TrimSuffix(inner, ")"), ", "); ok {
			return base
		}
	}
	return of
}
