package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	native "github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"callgate/internal/cluster"
	"callgate/internal/retention"
)

// A table's time to live ends in a number of days, as system.tables tells it, and comments that speak of it do too.
var (
	timeToLive = regexp.MustCompile(`TTL (.+) \+ toIntervalDay\((\d+)\)`)
	keptDays   = regexp.MustCompile(`\bkept \d+ days\b`)
)

// Retain makes the rows of every table live as long as days says (retention.Days.Lives), of a cluster on every node. Where
// they do already nothing is done; elsewhere the ends of what is there are worked out anew, and no row is written
// again for it. Comments that tell the number follow.
func Retain(ctx context.Context, address string, days retention.Days) error {
	return onNodes(ctx, address, func(ctx context.Context, conn native.Conn) error {
		tables, err := retained(ctx, conn)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if err := t.retain(ctx, conn, days); err != nil {
				return fmt.Errorf("time to live of %s: %w", t.name, err)
			}
		}
		return nil
	})
}

// Lived is the least number of days that the rows of any table of a kind live by now, of a cluster on any node; 0 where
// there are none. A table without rows, such as one that was just made, has lost none either.
func Lived(ctx context.Context, address string) (lived retention.Days, err error) {
	err = onNodes(ctx, address, func(ctx context.Context, conn native.Conn) error {
		tables, err := retained(ctx, conn)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if of := t.of(&lived); t.rows && t.days > 0 && (*of == 0 || t.days < *of) {
				*of = t.days
			}
		}
		return nil
	})
	return lived, err
}

// onNodes visits the tables of an address: those of a server, or on each node of a cluster its shard's and, after
// them, those over them. All nodes are tried whatever fails.
func onNodes(ctx context.Context, address string, visit func(context.Context, native.Conn) error) error {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return err
	}
	if name == "" {
		return visitOne(ctx, options, visit)
	}
	layout, err := known(ctx, options, name)
	if err != nil {
		return err
	}
	var faults []error
	for _, node := range layout.Nodes() {
		for _, database := range []string{cluster.ShardDatabase(options.Auth.Database), options.Auth.Database} {
			if err := whileBehind(ctx, func() error { return visitOne(ctx, cluster.OfNode(options, node, database), visit) }); err != nil {
				faults = append(faults, fmt.Errorf("node %s: %w", node, err))
				break
			}
		}
	}
	return errors.Join(faults...)
}

func visitOne(ctx context.Context, options *driver.Options, visit func(context.Context, native.Conn) error) error {
	conn, err := driver.Open(options)
	if err != nil {
		return fmt.Errorf("open clickhouse: %w", err)
	}
	defer func() { _ = conn.Close() }()
	return visit(ctx, conn)
}

// table is a table with a time to live, or with a comment that tells one.
type table struct {
	name, comment string
	expires       string // what the days are added to; empty: rows do not expire
	days          int
	rows          bool // whether it has any
}

func retained(ctx context.Context, conn native.Conn) (tables []table, err error) {
	rows, err := conn.Query(ctx, `SELECT name, engine_full, comment, ifNull(total_rows, 0) > 0 FROM system.tables WHERE database = currentDatabase() ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("ask for times to live: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var t table
		var engine string
		if err := rows.Scan(&t.name, &engine, &t.comment, &t.rows); err != nil {
			return nil, fmt.Errorf("ask for times to live: %w", err)
		}
		if found := timeToLive.FindStringSubmatch(engine); found != nil {
			t.expires = found[1]
			if t.days, err = strconv.Atoi(found[2]); err != nil {
				return nil, fmt.Errorf("time to live of %s: %w", t.name, err)
			}
		}
		if t.expires != "" || keptDays.MatchString(t.comment) {
			tables = append(tables, t)
		}
	}
	return tables, rows.Err()
}

// of is the number of days that is the table's. What is neither calls nor their failures is counted from them.
func (t table) of(days *retention.Days) *int {
	switch t.name {
	case "calls", "live_calls":
		return &days.Calls
	case "call_failures", "live_failures":
		return &days.Failures
	}
	return &days.Statistics
}

// recalculateOnly keeps ClickHouse from writing rows again when their time to live changes: the ends are worked out
// for each part, and what is past them goes with the next merges.
const recalculateOnly = " MODIFY SETTING materialize_ttl_recalculate_only = 1"

func (t table) retain(ctx context.Context, conn native.Conn, days retention.Days) error {
	var statements []string
	lives := days.Lives()
	if wanted := *t.of(&lives); t.expires != "" && t.days != wanted {
		statements = append(statements, "ALTER TABLE "+identifier(t.name)+recalculateOnly,
			fmt.Sprintf("ALTER TABLE %s MODIFY TTL %s + toIntervalDay(%d)", identifier(t.name), t.expires, wanted))
	}
	if says := keptDays.ReplaceAllString(t.comment, fmt.Sprintf("kept %d days", *t.of(&days))); says != t.comment {
		statements = append(statements, "ALTER TABLE "+identifier(t.name)+" MODIFY COMMENT "+literal(says))
	}
	for _, statement := range statements {
		if err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
