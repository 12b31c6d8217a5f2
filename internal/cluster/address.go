package cluster

import (
	"errors"
	"net/url"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// parameter of an address names the cluster; a single server's has none.
const parameter = "cluster"

// Address adds the name of a cluster to a DSN. Without a name it is the DSN.
func Address(dsn, name string) string {
	if name == "" {
		return dsn
	}
	separator := "?"
	if strings.Contains(dsn, "?") {
		separator = "&"
	}
	return dsn + separator + parameter + "=" + url.QueryEscape(name)
}

// Parse reads an address: the driver's options, and the name of the cluster, empty for a single server. Its
// error does not repeat the address, which holds a password.
func Parse(address string) (options *clickhouse.Options, name string, err error) {
	options, err = clickhouse.ParseDSN(address)
	if err != nil {
		return nil, "", errors.New("CLICKHOUSE_URL is not a ClickHouse address")
	}
	name, _ = options.Settings[parameter].(string)
	delete(options.Settings, parameter)
	return options, name, nil
}

// OfNode are the options for one node alone, in a database.
func OfNode(options *clickhouse.Options, address, database string) *clickhouse.Options {
	node := *options
	node.Addr = []string{address}
	node.Auth.Database = database
	node.Settings = clickhouse.Settings{}
	for name, value := range options.Settings {
		node.Settings[name] = value
	}
	return &node
}

// ShardDatabase holds the rows of a shard, beside the database of the address.
func ShardDatabase(database string) string { return database + "_shard" }
