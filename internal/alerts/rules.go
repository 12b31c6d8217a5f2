package alerts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"callgate/internal/audit"
	"callgate/internal/fault"
	"callgate/internal/secret"
)

// Store keeps rules, and what was sent of them, in PostgreSQL.
type Store struct {
	pool          *pgxpool.Pool
	ring          *secret.Keyring
	allowPrivate  bool
	administrator func(email string) bool
}

// New returns a store on pool. allowPrivate lets webhooks go to addresses that are not public; administrator tells who is one.
func New(pool *pgxpool.Pool, ring *secret.Keyring, allowPrivate bool, administrator func(email string) bool) *Store {
	return &Store{pool, ring, allowPrivate, administrator}
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

const ruleColumns = `
	r.id, r.owner_id, r.name, r.kind,
	CASE WHEN r.application_id IS NOT NULL THEN 'application' WHEN r.capability_id IS NOT NULL THEN 'capability'
	     WHEN r.upstream_id IS NOT NULL THEN 'upstream' WHEN r.owner_id IS NOT NULL THEN 'account' ELSE 'platform' END,
	coalesce(r.application_id::text, r.capability_id, r.upstream_id), coalesce(a.name, c.name, u.name, ''),
	r.threshold, r.resolve_threshold, coalesce(r.window_minutes, 0), coalesce(r.min_calls, 0), coalesce(r.period, ''), coalesce(r.currency, ''),
	coalesce(r.limit_name, ''), r.enabled OR r.watched, r.silenced_until, r.created_by, r.created_at, r.updated_at,
	coalesce(s.value, 'ok'), coalesce(s.told, 'ok'), s.since, coalesce(s.streak, 0), coalesce(s.unknown, ''), s.measured,
	coalesce(s.figures, t.figures), coalesce(s.sequence, t.sequence), s.evaluated_at`

const fromRules = `
	FROM alert_rules r LEFT JOIN alert_states s ON s.rule_id = r.id LEFT JOIN alert_days t ON t.rule_id = r.id
	LEFT JOIN applications a ON a.id = r.application_id
	LEFT JOIN capabilities c ON c.id = r.capability_id
	LEFT JOIN upstreams u ON u.id = r.upstream_id `

// fields are where ruleColumns go.
func (r *Rule) fields() []any {
	s := &r.State
	return []any{
		&r.ID, &r.Owner, &r.Name, &r.Kind, &r.Target.Type, &r.Target.ID, &r.Target.Name,
		&r.Threshold, &r.ResolveThreshold, &r.WindowMinutes, &r.MinCalls, &r.Period, &r.Currency,
		&r.Limit, &r.Enabled, &r.SilencedUntil, &r.CreatedBy, &r.CreatedAt, &r.UpdatedAt,
		&s.Value, &s.Told, &s.Since, &s.Streak, &s.Unknown, &s.Measured, &s.Figures, &s.Sequence, &s.EvaluatedAt,
	}
}

// channelColumns are those of the rule's channels, as an array; countColumns its Counts.
const (
	channelColumns = `
	coalesce((SELECT jsonb_agg(jsonb_build_object('ID', n.id, 'Kind', n.kind, 'Destination', n.destination, 'HasSecret', n.sealed_secret IS NOT NULL,
	          'FormerSecretUntil', CASE WHEN n.former_until > now() THEN n.former_until END) ORDER BY n.position)
	          FROM alert_channels n WHERE n.rule_id = r.id), '[]'::jsonb)`
	countColumns = `
	(SELECT ARRAY[count(*) FILTER (WHERE d.status = 'pending'), count(*) FILTER (WHERE d.status = 'pending' AND d.error IS NOT NULL),
	              count(*) FILTER (WHERE d.status = 'given_up' AND e.at > now() - interval '24 hours')]
	 FROM alert_events e JOIN alert_deliveries d ON d.event_id = e.id WHERE e.rule_id = r.id)`
)

// ownedBy is the condition that a rule is of whom $1 says; administrators' have no owner.
const ownedBy = ` WHERE r.owner_id IS NOT DISTINCT FROM $1 `

func queryRules(ctx context.Context, db querier, condition string, args ...any) ([]Rule, error) {
	rows, err := db.Query(ctx, `SELECT `+ruleColumns+`,`+channelColumns+`,`+countColumns+fromRules+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("alerts: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Rule, err error) {
		var counts [3]int64
		err = row.Scan(append(r.fields(), &r.Channels, &counts)...)
		r.Deliveries = Counts{counts[0], counts[1], counts[2]}
		return r, err
	})
	if err != nil {
		return nil, fmt.Errorf("alerts: %w", err)
	}
	return found, nil
}

// one is a rule of who, locked as lock says; another's is fault.Absent.
func one(ctx context.Context, db querier, who Who, id uuid.UUID, lock string) (Rule, error) {
	found, err := queryRules(ctx, db, ownedBy+`AND r.id = $2 `+lock, who.owner(), id)
	if err != nil {
		return Rule{}, err
	}
	if len(found) == 0 {
		return Rule{}, fault.Absent()
	}
	return found[0], nil
}

// List gives all rules of who, those that fire first, then by name; and how many there may be.
func (s *Store) List(ctx context.Context, who Who) (rules []Rule, most int, err error) {
	rules, err = queryRules(ctx, s.pool, ownedBy+`ORDER BY s.value IS NOT DISTINCT FROM 'firing' DESC, lower(r.name), r.id`, who.owner())
	return rules, mostOf(who), err
}

// mostOf is how many rules there may be.
func mostOf(who Who) int {
	if who.Owner == uuid.Nil {
		return MaxOfAdministrators
	}
	return MaxPerOwner
}

// Get gives one rule; another's is fault.Absent.
func (s *Store) Get(ctx context.Context, who Who, id uuid.UUID) (Rule, error) {
	return one(ctx, s.pool, who, id, "")
}

// Create makes a rule; the one after the most that there may be is a Conflict. who is recorded.
func (s *Store) Create(ctx context.Context, who Who, d Draft) (r Rule, err error) {
	wrong := fault.Fields{}
	r = d.rule(who, wrong)
	channels := s.checkChannels(who, d.Channels, wrong)
	if err := wrong.Err(); err != nil {
		return Rule{}, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := makeRoom(ctx, tx, who); err != nil {
			return err
		}
		if err := findTarget(ctx, tx, who, &r); err != nil {
			return err
		}
		if err := insert(ctx, tx, &r); err != nil {
			return err
		}
		if err := s.saveChannels(ctx, tx, r.ID, nil, channels); err != nil {
			return err
		}
		if r, err = one(ctx, tx, who, r.ID, ""); err != nil {
			return err
		}
		return record(ctx, tx, who, "alert.create", r, differences(Rule{}, r))
	})
	return r, err
}

// makeRoom has those who make rules of one owner take turns, and counts them.
func makeRoom(ctx context.Context, tx pgx.Tx, who Who) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('alerts of ' || $1, 0))`, who.Owner.String()); err != nil {
		return fmt.Errorf("take turns: %w", err)
	}
	var held int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM alert_rules r`+ownedBy, who.owner()).Scan(&held); err != nil {
		return fmt.Errorf("count alerts: %w", err)
	}
	if most := mostOf(who); held >= most {
		return fault.New(fault.Conflict, "there are %d alerts already: delete one that is not needed", most)
	}
	return nil
}

// findTarget makes sure that the target exists, and is the owner's: an application that is moved to another owner meanwhile
// waits, or is waited for.
func findTarget(ctx context.Context, tx pgx.Tx, who Who, r *Rule) (err error) {
	if r.Target.ID != nil && !fault.Storable(*r.Target.ID) {
		return nowhere()
	}
	switch r.Target.Type {
	case Application:
		id, _ := uuid.Parse(*r.Target.ID) // the nil id is nobody's
		err = tx.QueryRow(ctx, `SELECT id::text FROM applications WHERE id = $1 AND owner_id = $2 FOR SHARE`, id, who.Owner).Scan(r.Target.ID)
	case Capability:
		err = tx.QueryRow(ctx, `SELECT id FROM capabilities WHERE id = $1 FOR KEY SHARE`, *r.Target.ID).Scan(r.Target.ID)
	case Upstream:
		err = tx.QueryRow(ctx, `SELECT id FROM upstreams WHERE id = $1 FOR KEY SHARE`, *r.Target.ID).Scan(r.Target.ID)
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nowhere()
	case err != nil:
		return fmt.Errorf("find target: %w", err)
	}
	return nil
}

func nowhere() error {
	return fault.InvalidFields(map[string]string{"targetId": "there is nothing with this id"})
}

func insert(ctx context.Context, tx pgx.Tx, r *Rule) error {
	of := func(t TargetType) *string {
		if r.Target.Type != t {
			return nil
		}
		return r.Target.ID
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO alert_rules (id, owner_id, name, kind, application_id, capability_id, upstream_id, threshold, resolve_threshold,
			window_minutes, min_calls, period, currency, limit_name, enabled, watched, created_by)
		VALUES ($1, $2, $3, $4, $5::text::uuid, $6, $7, $8, $9, nullif($10, 0), nullif($11::bigint, 0), nullif($12, ''), nullif($13, ''), nullif($14, ''), 
			$15 AND $4 NOT IN ('upstreamLeftOut', 'budget'), $15 AND $4 IN ('upstreamLeftOut', 'budget'), $16)`,
		r.ID, r.Owner, r.Name, r.Kind, of(Application), of(Capability), of(Upstream), r.Threshold, r.ResolveThreshold,
		r.WindowMinutes, r.MinCalls, r.Period, r.Currency, r.Limit, r.Enabled, r.CreatedBy)
	if err == nil {
		state := `INSERT INTO alert_states (rule_id) VALUES ($1)`
		if r.Kind == DayClosed {
			state = `INSERT INTO alert_days (rule_id, told) VALUES ($1, ` + lastDayEvent + `)`
		}
		_, err = tx.Exec(ctx, state, r.ID)
	}
	if err != nil {
		return fmt.Errorf("insert alert: %w", err)
	}
	return nil
}

// record keeps who did what with a rule.
func record(ctx context.Context, tx pgx.Tx, who Who, action string, r Rule, changes audit.Changes) error {
	return audit.Append(ctx, tx, audit.Entry{
		Actor: who.Email, Action: action, TargetType: "alert", TargetID: r.ID.String(), TargetName: r.Name, Changes: changes,
	})
}

// differences tells what two states of a rule have otherwise; URLs and secrets are not in it.
func differences(before, after Rule) (changed audit.Changes) {
	fresh := before.ID == uuid.Nil
	add := func(field string, from, to any) {
		if fresh {
			from = nil
		}
		changed.Add(field, from, to)
	}
	add("name", before.Name, after.Name)
	if fresh {
		add("kind", nil, string(after.Kind))
		target := string(after.Target.Type)
		if after.Target.ID != nil {
			target += " " + *after.Target.ID
		}
		add("target", nil, target)
	}
	add("threshold", before.Threshold, after.Threshold)
	add("resolveThreshold", before.ResolveThreshold, after.ResolveThreshold)
	if after.Kind.windowed() {
		add("windowMinutes", before.WindowMinutes, after.WindowMinutes)
		add("minCalls", before.MinCalls, after.MinCalls)
	}
	add("enabled", before.Enabled, after.Enabled)
	add("silencedUntil", until(before.SilencedUntil), until(after.SilencedUntil))
	add("channels", destinations(before.Channels), destinations(after.Channels))
	return changed
}

func until(at *time.Time) any {
	if at == nil {
		return nil
	}
	return *instant(*at)
}

func destinations(channels []Channel) string {
	texts := make([]string, len(channels))
	for i, c := range channels {
		texts[i] = string(c.Kind) + " " + c.Destination
	}
	return strings.Join(texts, ", ")
}
