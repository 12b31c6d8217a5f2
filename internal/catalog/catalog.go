// Package catalog keeps capabilities and their groups: what administrators maintain
// and developers look up. The hard decision is two types for one row: Capability has no field an
// upstream address or key could stand in, so that no developers' answer can leak them; Details, with
// the address, is for the back office. No type that leaves the package has a field for the key.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/fault"
	"callgate/internal/secret"
)

// The states of a capability.
const (
	Enabled  = "enabled"
	Disabled = "disabled"
)

// identifier is the form of a capability's or group's identifier (createCapability, createGroup in openapi.yaml).
var identifier = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`)

// Store keeps the catalog in PostgreSQL.
type Store struct {
	pool         *pgxpool.Pool
	ring         *secret.Keyring
	allowPrivate bool
	keyMoved     func(context.Context, KeyMove)
}

// KeyMove says that the stored key of a capability, which was kept, is from now on sent to another origin: a scheme,
// host and port, as https://api.example.com:8443.
type KeyMove struct {
	Actor    string // the administrator's e-mail
	ID, Name string // of the capability
	From, To string
}

// OnKeyMove has tell called after every KeyMove that was saved. It is set before the store is used.
func (s *Store) OnKeyMove(tell func(context.Context, KeyMove)) { s.keyMoved = tell }

// New returns a store that seals upstream keys with ring. allowPrivate lets upstreams be private
// addresses (UPSTREAM_ALLOW_PRIVATE).
func New(pool *pgxpool.Pool, ring *secret.Keyring, allowPrivate bool) *Store {
	return &Store{pool: pool, ring: ring, allowPrivate: allowPrivate}
}

// Group is a group of capabilities.
type Group struct {
	ID        string
	Name      string
	SortOrder int64
	UpdatedAt time.Time
}

// Capability is what developers see of a capability.
type Capability struct {
	ID            string
	Name          string
	DefaultPath   string
	Description   string
	GroupID       string
	SortOrder     int64
	Status        string // Enabled or Disabled
	UpstreamModel string
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

const (
	capabilityColumns = `c.id, c.name, c.default_path, c.description, c.group_id, c.sort_order, c.status, c.upstream_model`
	catalogOrder      = `ORDER BY g.sort_order, g.id, c.sort_order, c.id`
)

// Available gives the enabled capabilities, by group, then by their own sort order.
func (s *Store) Available(ctx context.Context) ([]Capability, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+capabilityColumns+`
		FROM capabilities c JOIN capability_groups g ON g.id = c.group_id
		WHERE c.status = 'enabled' `+catalogOrder)
	if err != nil {
		return nil, fmt.Errorf("available capabilities: %w", err)
	}
	available, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Capability])
	if err != nil {
		return nil, fmt.Errorf("available capabilities: %w", err)
	}
	return available, nil
}

// Capability gives one capability, a disabled one too; an unknown one is fault.Absent.
func (s *Store) Capability(ctx context.Context, id string) (Capability, error) {
	if !identifier.MatchString(id) {
		return Capability{}, fault.Absent()
	}
	rows, err := s.pool.Query(ctx, `SELECT `+capabilityColumns+` FROM capabilities c WHERE c.id = $1`, id)
	if err != nil {
		return Capability{}, fmt.Errorf("capability: %w", err)
	}
	capability, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Capability])
	return capability, absentOr(err, "capability")
}

// Names gives the name of every capability by its identifier.
func (s *Store) Names(ctx context.Context) (map[string]string, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, name FROM capabilities`)
	if err != nil {
		return nil, fmt.Errorf("capability names: %w", err)
	}
	names := map[string]string{}
	var id, name string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { names[id] = name; return nil }); err != nil {
		return nil, fmt.Errorf("capability names: %w", err)
	}
	return names, nil
}

// State is what a capability is called and whether it is enabled, now.
type State struct{ Name, Status string }

// States gives the state of every capability by its identifier.
func (s *Store) States(ctx context.Context) (map[string]State, error) {
	rows, err := s.pool.Query(ctx, `SELECT id, name, status FROM capabilities`)
	if err != nil {
		return nil, fmt.Errorf("states of capabilities: %w", err)
	}
	states := map[string]State{}
	var id string
	var state State
	if _, err := pgx.ForEachRow(rows, []any{&id, &state.Name, &state.Status}, func() error { states[id] = state; return nil }); err != nil {
		return nil, fmt.Errorf("states of capabilities: %w", err)
	}
	return states, nil
}

func absentOr(err error, doing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return fault.Absent()
	}
	return fmt.Errorf("%s: %w", doing, err)
}
