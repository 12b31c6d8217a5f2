package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/cluster"
	"callgate/internal/retention"
)

const (
	rawTable     = "calls"
	detailsTable = "call_failures"
	closedTable  = "days_closed"
	atOnce       = 2 // files that are written or read at the same time
)

// store is a ClickHouse that is read or filled: a server, or a cluster through one of its nodes.
type store struct {
	conn   driver.Conn
	shards int // 0: a single server
}

// openStore connects to the first node of an address that answers. settings are those of every statement.
func openStore(ctx context.Context, address string, settings clickhouse.Settings) (*store, error) {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, at := range options.Addr {
		node := cluster.OfNode(options, at, options.Auth.Database)
		for name, value := range settings {
			node.Settings[name] = value
		}
		conn, err := clickhouse.Open(node)
		if err != nil {
			return nil, fmt.Errorf("open clickhouse: %w", err)
		}
		s := &store{conn: conn}
		if err = conn.Ping(ctx); err == nil && name != "" {
			s.shards, err = cluster.Shards(ctx, conn, options.Auth.Database)
		}
		if err == nil {
			return s, nil
		}
		faults = append(faults, err, conn.Close())
	}
	return nil, fmt.Errorf("ask clickhouse: %w", errors.Join(faults...))
}

func (s *store) close() { _ = s.conn.Close() }

// list asks for a column of strings.
func (s *store) list(ctx context.Context, query string, parameters ...any) (values []string, err error) {
	rows, err := s.conn.Query(ctx, query, parameters...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, rows.Err()
}

// tables are those that hold rows, without goose's and what PostgreSQL tells (deleted applications).
func (s *store) tables(ctx context.Context) ([]string, error) {
	return s.list(ctx, `SELECT name FROM system.tables WHERE database = currentDatabase() AND (engine LIKE '%MergeTree' OR engine = 'Distributed')
		AND name NOT LIKE 'goose%' AND name != 'deleted_applications' ORDER BY name`)
}

func (s *store) columns(ctx context.Context, table string) ([]string, error) {
	return s.list(ctx, `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}
		AND default_kind NOT IN ('MATERIALIZED', 'ALIAS') ORDER BY position`, clickhouse.Named("table", table))
}

func (s *store) version(ctx context.Context) (version int64, err error) {
	err = s.conn.QueryRow(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("ClickHouse holds no Callgate: %w", err)
	}
	return version, nil
}

// piece is what one file holds.
type piece struct {
	Table
	where  string
	values []any
	block  int
}

// pieces are the files of a backup: raw calls by day, then details by day, then what of rollups no call tells any more.
func (s *store) pieces(ctx context.Context, days retention.Days, callsFrom, today beijing.Day) (pieces []piece, err error) {
	add := func(found []piece, failed error) {
		pieces, err = append(pieces, found...), errors.Join(err, failed)
	}
	add(s.byDay(ctx, rawTable, "toDate(start_time)", "toYYYYMMDD(start_time)", callsFrom, blockRows))
	add(s.byDay(ctx, detailsTable, "toDate(start_time)", "toYYYYMMDD(start_time)", days.FailuresFrom(today), blockOfFailures))
	tables, failed := s.tables(ctx)
	add(nil, failed)
	for _, table := range tables {
		if table == rawTable || table == detailsTable {
			continue
		}
		if table == closedTable { // kept as it was found, and filled by no call
			add(s.byDay(ctx, table, "day", "toYYYYMM(day)", 0, blockRows))
			continue
		}
		found, failed := s.ofRollup(ctx, table, callsFrom)
		add(found, failed)
	}
	if err != nil {
		return nil, fmt.Errorf("what is to be backed up of ClickHouse: %w", err)
	}
	return pieces, nil
}

// byDay are the pieces of a table from a day on: those whose part is the same number, a day's or a month's.
func (s *store) byDay(ctx context.Context, table, day, part string, from beijing.Day, block int) ([]piece, error) {
	return s.parted(ctx, table, part, day+" >= {from:Date}", from, block)
}

func (s *store) parted(ctx context.Context, table, part, condition string, from beijing.Day, block int) (pieces []piece, err error) {
	columns, err := s.columns(ctx, table)
	if err != nil {
		return nil, err
	}
	parameter := clickhouse.Named("from", from.String())
	rows, err := s.conn.Query(ctx, `SELECT toString(`+part+`) AS part, toInt64(count()) FROM `+table+` WHERE `+condition+` GROUP BY part ORDER BY part`, parameter)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		p := piece{Table: Table{Name: table, Columns: columns}, block: block}
		var number string
		if err := rows.Scan(&number, &p.Rows); err != nil {
			return nil, err
		}
		p.File = "clickhouse/" + table + "/" + number + ".native.zst"
		p.where, p.values = condition+` AND `+part+` = `+number, []any{parameter}
		pieces = append(pieces, p)
	}
	return pieces, rows.Err()
}

// ofRollup are the pieces of a rollup: of one that tells time the days before calls are kept, of another all, which must
// stay what it is however often it is told.
func (s *store) ofRollup(ctx context.Context, table string, callsFrom beijing.Day) ([]piece, error) {
	columns, err := s.columns(ctx, table)
	if err != nil {
		return nil, err
	}
	for _, time := range []string{"day", "hour"} {
		if slices.Contains(columns, time) {
			return s.parted(ctx, table, "toYYYYMM("+time+")", "toDate("+time+") < {from:Date}", callsFrom, blockRows)
		}
	}
	added, err := s.list(ctx, `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}
		AND type LIKE 'SimpleAggregateFunction(%' AND type NOT LIKE 'SimpleAggregateFunction(m__,%'`, clickhouse.Named("table", table))
	if err == nil && len(added) > 0 {
		err = fmt.Errorf("table %s adds up without telling time: it cannot be backed up", table)
	}
	return []piece{{Table: Table{Name: table, Columns: columns, File: "clickhouse/" + table + "/all.native.zst"}, where: "true", block: blockRows}}, err
}

func (t Table) list() string { return "`" + strings.Join(t.Columns, "`, `") + "`" }

// dumpClickHouse writes the pieces: all calls before any detail, all details before the rest.
func (s *store) dumpClickHouse(ctx context.Context, a *archive, pieces []piece, display meters) ([]Table, error) {
	var expected int64
	for _, p := range pieces {
		expected += p.Rows
	}
	meter := display.Begin("rows of ClickHouse written", expected)
	defer meter.End()
	var tables []Table
	for begin := 0; begin < len(pieces); {
		end := begin
		for end < len(pieces) && pieces[end].Name == pieces[begin].Name {
			end++
		}
		written, err := s.dumpPieces(ctx, a, pieces[begin:end], meter.Add)
		if err != nil {
			return nil, err
		}
		tables = append(tables, written...)
		begin = end
	}
	return tables, nil
}

func (s *store) dumpPieces(ctx context.Context, a *archive, pieces []piece, counted func(int64)) ([]Table, error) {
	tables := make([]Table, len(pieces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, p := range pieces {
		group.Go(func() error {
			out, err := a.create(p.File)
			if err != nil {
				return err
			}
			p.Rows, err = dump(ctx, s.conn, `SELECT `+p.list()+` FROM `+p.Name+` WHERE `+p.where, p.values, p.block, out, counted)
			if err = errors.Join(err, out.Close()); err != nil {
				return fmt.Errorf("read %s: %w", p.Name, err)
			}
			tables[i] = p.Table
			return nil
		})
	}
	return tables, group.Wait()
}

// loadClickHouse inserts all files of a backup.
func (s *store) loadClickHouse(ctx context.Context, dir string, tables []Table, display meters) error {
	var expected int64
	for _, t := range tables {
		expected += t.Rows
	}
	meter := display.Begin("rows of ClickHouse inserted", expected)
	defer meter.End()
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, t := range tables {
		group.Go(func() error {
			from, err := openInput(dir, t.File)
			if err != nil {
				return err
			}
			defer func() { _ = from.Close() }()
			rows, err := load(ctx, s.conn, `INSERT INTO `+t.Name+` (`+t.list()+`)`, from, func(n int64) {
				mu.Lock()
				defer mu.Unlock()
				meter.Add(n)
			})
			if err == nil && rows != t.Rows {
				err = fmt.Errorf("%d rows, %d were written", rows, t.Rows)
			}
			if err != nil {
				return fmt.Errorf("fill %s from %s: %w", t.Name, t.File, err)
			}
			return nil
		})
	}
	return group.Wait()
}
