package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/go-faster/city"
	"github.com/google/uuid"
)

// Shard is one shard and its replicas.
type Shard struct {
	Number   int      // from 1, as in system.clusters
	Replicas []string // host:port of the native protocol
}

// Layout is the shards of a cluster, by number.
type Layout []Shard

// Nodes are the addresses of all replicas.
func (l Layout) Nodes() (addresses []string) {
	for _, s := range l {
		addresses = append(addresses, s.Replicas...)
	}
	return addresses
}

// Replicated tells whether any shard has several replicas.
func (l Layout) Replicated() bool {
	for _, s := range l {
		if len(s.Replicas) > 1 {
			return true
		}
	}
	return false
}

// Ask reads a cluster's layout as one node knows it. All shards must have the weight 1: others would shift what
// the key names.
func Ask(ctx context.Context, conn driver.Conn, name string) (Layout, error) {
	rows, err := conn.Query(ctx, `SELECT shard_num, shard_weight, host_name, port FROM system.clusters
		WHERE cluster = {name:String} ORDER BY shard_num, replica_num`, clickhouse.Named("name", name))
	if err != nil {
		return nil, fmt.Errorf("ask for the cluster's shards: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var layout Layout
	for rows.Next() {
		var shard, weight uint32
		var host string
		var port uint16
		if err := rows.Scan(&shard, &weight, &host, &port); err != nil {
			return nil, fmt.Errorf("ask for the cluster's shards: %w", err)
		}
		if weight != 1 {
			return nil, fmt.Errorf("shard %d of cluster %q has the weight %d in remote_servers: give every shard the weight 1, the default", shard, name, weight)
		}
		if int(shard) > len(layout) {
			layout = append(layout, Shard{Number: int(shard)})
		}
		last := &layout[len(layout)-1]
		last.Replicas = append(last.Replicas, net.JoinHostPort(host, strconv.Itoa(int(port))))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ask for the cluster's shards: %w", err)
	}
	if len(layout) == 0 {
		return nil, fmt.Errorf("the server knows no cluster %q: CLICKHOUSE_CLUSTER must name one of its remote_servers (SELECT DISTINCT cluster FROM system.clusters)", name)
	}
	return layout, nil
}

// Key is the sharding key of tables on so many shards. The number stands in it, so that a shard added to
// remote_servers changes nothing about where the calls of an application are: those that are there stay found.
func Key(shards int) string { return fmt.Sprintf("cityHash64(application_id) %% %d", shards) }

// Of is the index of the shard, from 0, that Key gives to an application.
func Of(application uuid.UUID, shards int) int {
	// A UUID is stored as two little-endian halves.
	var stored [16]byte
	for i := range 8 {
		stored[i], stored[8+i] = application[7-i], application[15-i]
	}
	return int(city.CH64(stored[:]) % uint64(shards))
}

// ErrNotMigrated means that the tables of a cluster are not there.
var ErrNotMigrated = errors.New("the cluster has no tables yet: run callgate migrate")

var keyed = regexp.MustCompile(`cityHash64\(application_id\) % (\d+)`)

// Shards asks a node over how many shards the calls of a database are spread: those that were there when its
// tables were made. ErrNotMigrated when there are none.
func Shards(ctx context.Context, conn driver.Conn, database string) (int, error) {
	rows, err := conn.Query(ctx, `SELECT engine_full FROM system.tables WHERE database = {database:String} AND name = 'calls'`,
		clickhouse.Named("database", database))
	if err != nil {
		return 0, fmt.Errorf("ask for the cluster's tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var engine string
	for rows.Next() {
		if err := rows.Scan(&engine); err != nil {
			return 0, fmt.Errorf("ask for the cluster's tables: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("ask for the cluster's tables: %w", err)
	}
	if engine == "" {
		return 0, ErrNotMigrated
	}
	found := keyed.FindStringSubmatch(engine)
	if found == nil {
		return 0, fmt.Errorf("database %q holds the tables of a single server: choose another database in CLICKHOUSE_URL for the cluster, run callgate migrate and copy the calls into it (deploy/docs/cluster.md)", database)
	}
	return strconv.Atoi(found[1])
}

// discovery bounds the questions to one node about its cluster.
const discovery = 5 * time.Second

// Discover asks the nodes of an address, one after the other, for the shards that hold its calls.
func Discover(ctx context.Context, options *clickhouse.Options, name string) (Layout, error) {
	var faults []error
	for _, address := range options.Addr {
		layout, err := discover(ctx, OfNode(options, address, "default"), options.Auth.Database, name)
		if err == nil {
			return layout, nil
		}
		faults = append(faults, err)
	}
	return nil, errors.Join(faults...)
}

func discover(ctx context.Context, node *clickhouse.Options, database, name string) (Layout, error) {
	ctx, cancel := context.WithTimeout(ctx, discovery)
	defer cancel()
	conn, err := clickhouse.Open(node)
	if err != nil {
		return nil, fmt.Errorf("open clickhouse: %w", err)
	}
	defer func() { _ = conn.Close() }()
	layout, err := Ask(ctx, conn, name)
	if err != nil {
		return nil, err
	}
	shards, err := Shards(ctx, conn, database)
	if err != nil {
		return nil, err
	}
	if shards > len(layout) {
		return nil, fmt.Errorf("the calls lie on %d shards, but cluster %q has %d: the shards that are missing in remote_servers hold a part of them", shards, name, len(layout))
	}
	return layout[:shards], nil
}
