package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// clickhouse is the ledger's HTTP interface: that of one server, or of the first shard's.
type clickhouse struct {
	dsn     string
	cluster string // empty: a single server
}

// of is a system table, of every shard.
func (c clickhouse) of(table string) string {
	if c.cluster == "" {
		return table
	}
	return "cluster('" + c.cluster + "', " + table + ")"
}

// ask runs one statement and returns what it prints. Parameters are pairs of name and value.
func (c clickhouse) ask(ctx context.Context, statement string, parameters ...any) (string, error) {
	u, err := url.Parse(c.dsn)
	if err != nil {
		return "", fmt.Errorf("clickhouse address: %w", err)
	}
	query := url.Values{"database": {strings.TrimPrefix(u.Path, "/")}}
	for i := 0; i+1 < len(parameters); i += 2 {
		query.Set(fmt.Sprint("param_", parameters[i]), fmt.Sprint(parameters[i+1]))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+u.Host+"/?"+query.Encode(), strings.NewReader(statement))
	if err != nil {
		return "", err
	}
	password, _ := u.User.Password()
	request.SetBasicAuth(u.User.Username(), password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask clickhouse: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("ask clickhouse: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("clickhouse: %s", body)
	}
	return strings.TrimSpace(string(body)), nil
}

// work is what a server was asked and what it read for it.
type work struct{ queries, rows float64 }

// work is that of the servers since they started, whoever asked, these questions too.
func (c clickhouse) work(ctx context.Context) (w work, err error) {
	told, err := c.ask(ctx, `SELECT sumIf(value, event = 'SelectQuery'), sumIf(value, event = 'SelectedRows') FROM `+c.of("system.events"))
	if err != nil {
		return w, err
	}
	if _, err := fmt.Sscan(told, &w.queries, &w.rows); err != nil {
		return w, fmt.Errorf("work of clickhouse: %w", err)
	}
	return w, nil
}
