package clickhouse

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"callgate/internal/cluster"
)

// The data team's account and the role that holds its rights. A company grants the role to accounts
// of its own.
const (
	ReaderUser = "callgate_reader"
	ReaderRole = "callgate_data"
)

// Limit is a setting or quota of the data team and its value.
type Limit struct {
	Name  string
	Value int64
	Most  int64 // that a query may set; 0: Value
}

// Max is the most that a query may set a limit to.
func (l Limit) Max() int64 { return cmp.Or(l.Most, l.Value) }

// ReaderLimits bound one query of the data team, which may lower them. Clients set the time by their own deadlines: Grafana's
// is 60 s, of which its driver makes 64.
var ReaderLimits = []Limit{
	{Name: "max_execution_time", Value: 60, Most: 120},
	{Name: "max_memory_usage", Value: 4 << 30},
	{Name: "max_rows_to_read", Value: 2_000_000_000},
	{Name: "max_result_rows", Value: 1_000_000},
}

// ReaderDefaults hold unless a query sets something else: what exceeds a limit over HTTP gets an error in place of the answer,
// not one that breaks off after 200; and a part of a column, such as tags['team'], is read as the column that may be read, not as
// one of its own, which no grant of columns has (ClickHouse 26.7).
var ReaderDefaults = []Limit{{Name: "http_wait_end_of_query", Value: 1}, {Name: "optimize_functions_to_subcolumns", Value: 0}}

// ReaderQuota bounds an hour of each account of the data team: a dozen open tabs of the dashboard, which
// ask fourteen queries a minute each, take less than half of it.
var ReaderQuota = []Limit{
	{Name: "queries", Value: 36_000},
	{Name: "execution_time", Value: 7200},
	{Name: "read_rows", Value: 50_000_000_000},
}

// readable are the columns the data team may read. A column is named here or it stays unseen: none
// holds a body, a query, a path or a key.
var readable = []struct {
	view    string
	columns []string
}{
	{"live_calls", []string{
		"application_id", "user_id", "call_id", "start_time", "day", "model", "duration_ms", "status_code", "success", "streamed",
		"first_byte_ms", "ended_by", "reason_type", "reason_code", "upstream_status", "request_bytes", "response_bytes", "trace_id",
		"usage_state", "upstream_model", "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens",
		"key_id",
		"upstream_id", "attempts", "estimated_tokens",
		"failed_upstream_id", "failed_status", "failed_ms", "failed_reason",
		"used_models", "used_tiers", "used_bands", "used_meters", "used_amounts", "answer_id", "reported_cost", "reported_currency",
		"tags", "end_user",
	}},
	{"live_failures", []string{"application_id", "call_id", "start_time", "day", "message", "method", "body_note"}},
	{"live_usage_daily", []string{"application_id", "day", "model", "calls", "successes", "failures", "duration_ms"}},
	{"live_usage_hourly", []string{"application_id", "hour", "model", "calls", "successes", "failures", "duration_ms"}},
	{"live_tokens_daily", []string{
		"application_id", "day", "model", "upstream_model", "reported", "partial", "absent", "unreadable", "streamed", "streamed_absent", "counted",
		"input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens",
	}},
	{"live_meters_daily", []string{"application_id", "day", "model", "upstream_model", "tier", "band", "meter", "amount"}},
	{"live_keys_daily", []string{"application_id", "key_id", "day", "model", "upstream_model", "tier", "band", "meter", "amount"}},
	{"live_durations", []string{"application_id", "day", "model", "from_ms", "below_ms", "middle_ms", "calls"}},
	{"live_days_closed", []string{
		"application_id", "day", "revision", "user_id", "closed_at", "calls", "successes", "failures", "duration_ms", "reported", "partial", "absent", "unreadable",
		"input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens", "currencies", "amounts", "unpriced_calls", "missing_calls", "missing_unknown",
	}},
	{"live_models", []string{"application_id", "model", "first_used", "last_used"}},
}

// ReaderGrants are the rights of the data team in a database, without the account they go to. Tools ask for columns by DESCRIBE.
func ReaderGrants(database string) []string {
	grants := make([]string, len(readable))
	for i, r := range readable {
		grants[i] = fmt.Sprintf("GRANT SHOW COLUMNS, SELECT(%[1]s) ON %[2]s.%[3]s", strings.Join(r.columns, ", "), database, r.view)
	}
	return grants
}

// Reader makes the data team's account with this password, its role, limits and quota, or brings them
// up to date; of a cluster on every node. It may be repeated. The servers must keep accounts of their own, and
// the account of the address must be allowed to make them. The password goes there as a hash.
func Reader(ctx context.Context, address, password string) error {
	options, name, err := cluster.Parse(address)
	if err != nil {
		return err
	}
	nodes := []*driver.Options{options}
	if name != "" {
		layout, err := known(ctx, options, name)
		if err != nil {
			return err
		}
		nodes = nodes[:0]
		for _, node := range layout.Nodes() {
			nodes = append(nodes, cluster.OfNode(options, node, options.Auth.Database))
		}
	}
	var faults []error
	for _, node := range nodes {
		faults = append(faults, makeReader(ctx, node, password))
	}
	return errors.Join(faults...)
}

func makeReader(ctx context.Context, options *driver.Options, password string) error {
	db := driver.OpenDB(options)
	defer func() { _ = db.Close() }()
	for _, statement := range readerStatements(options.Auth.Database, password) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("account of the data team: %w", err)
		}
	}
	return nil
}

func readerStatements(database, password string) []string {
	sum := sha256.Sum256([]byte(password))
	identified := "IDENTIFIED WITH sha256_hash BY '" + hex.EncodeToString(sum[:]) + "'"
	settings := []string{"readonly = 2"} // its tools may set what they like, within the limits
	for _, l := range ReaderLimits {
		settings = append(settings, fmt.Sprintf("%s = %d MIN 1 MAX %d", l.Name, l.Value, l.Max()))
	}
	for _, d := range ReaderDefaults {
		settings = append(settings, fmt.Sprintf("%s = %d", d.Name, d.Value))
	}
	var quota []string
	for _, l := range ReaderQuota {
		quota = append(quota, fmt.Sprintf("%s = %d", l.Name, l.Value))
	}
	statements := []string{
		"CREATE SETTINGS PROFILE IF NOT EXISTS " + ReaderRole,
		"ALTER SETTINGS PROFILE " + ReaderRole + " SETTINGS " + strings.Join(settings, ", "),
		"CREATE ROLE IF NOT EXISTS " + ReaderRole,
		"ALTER ROLE " + ReaderRole + " SETTINGS PROFILE '" + ReaderRole + "'",
		"CREATE QUOTA IF NOT EXISTS " + ReaderRole + " KEYED BY user_name",
		"ALTER QUOTA " + ReaderRole + " FOR INTERVAL 1 hour MAX " + strings.Join(quota, ", ") + " TO " + ReaderRole,
		"CREATE USER IF NOT EXISTS " + ReaderUser + " " + identified,
		"ALTER USER " + ReaderUser + " " + identified,
	}
	for _, grant := range ReaderGrants(database) {
		statements = append(statements, grant+" TO "+ReaderRole)
	}
	return append(statements, "GRANT "+ReaderRole+" TO "+ReaderUser, "ALTER USER "+ReaderUser+" DEFAULT ROLE "+ReaderRole)
}
