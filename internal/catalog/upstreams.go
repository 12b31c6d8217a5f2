package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
)

// maxUpstreams bounds the list of upstreams, which is one page.
const maxUpstreams = 1000

// Upstream is an address and a key that capabilities share. Its keys are never returned.
type Upstream struct {
	ID                 string
	Name               string
	BaseURL            string
	Auth               string // bearer, x-api-key, api-key or x-goog-api-key
	CheckPath          string // what a check asks for
	CheckModel         string
	FormerKeyUntil     *time.Time // until when the key before may be put back; nil: there is none
	CapabilityIDs      []string   // of those that use it, disabled members included
	Health             string     // see the values of Health
	Gateways           []UpstreamReport
	CreatedAt, Updated time.Time
}

// UpstreamReport is how one gateway sees an upstream.
type UpstreamReport struct {
	Host       string     `json:"host"`
	State      string     `json:"state"`    // of its breaker: closed, open or probing
	OpenedAt   *time.Time `json:"openedAt"` // nil: it is closed
	Calls      int64      `json:"calls"`    // of the ten seconds before the report
	Failures   int64      `json:"failures"`
	Error      string     `json:"error"` // the last one, in a few fixed words; empty: none
	ErrorAt    *time.Time `json:"errorAt"`
	ReportedAt time.Time  `json:"reportedAt"`
}

var selectUpstreams = `
	SELECT u.id, u.name, u.base_url, u.auth, u.check_path, u.check_model,
	       CASE WHEN u.former_until > now() THEN u.former_until END,
	       ARRAY(SELECT m.capability_id FROM capability_upstreams m WHERE m.upstream_id = u.id ORDER BY m.capability_id),
	       ` + fmt.Sprintf(reportedHealth, "u.id") + `,
	       coalesce((SELECT jsonb_agg(jsonb_build_object('host', g.host, 'state', s.state, 'openedAt', s.opened_at, 'calls', s.calls,
	                'failures', s.failures, 'error', s.error, 'errorAt', s.error_at, 'reportedAt', s.reported_at) ORDER BY g.host, g.spool_id)
	        FROM gateway_upstreams s JOIN gateways g ON g.spool_id = s.spool_id
	        WHERE s.upstream_id = u.id AND ` + reportsNow + `), '[]'::jsonb),
	       u.created_at, u.updated_at
	FROM upstreams u `

func scanUpstream(row pgx.CollectableRow) (u Upstream, err error) {
	err = row.Scan(&u.ID, &u.Name, &u.BaseURL, &u.Auth, &u.CheckPath, &u.CheckModel, &u.FormerKeyUntil, &u.CapabilityIDs,
		&u.Health, &u.Gateways, &u.CreatedAt, &u.Updated)
	return u, err
}

// Upstreams gives all upstreams by name.
func (s *Store) Upstreams(ctx context.Context) ([]Upstream, error) {
	rows, err := s.pool.Query(ctx, selectUpstreams+`ORDER BY lower(u.name), u.id LIMIT $1`, maxUpstreams)
	if err != nil {
		return nil, fmt.Errorf("upstreams: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanUpstream)
	if err != nil {
		return nil, fmt.Errorf("upstreams: %w", err)
	}
	return all, nil
}

// Upstream gives one upstream; an unknown one is fault.Absent.
func (s *Store) Upstream(ctx context.Context, id string) (Upstream, error) {
	return getUpstream(ctx, s.pool, id, "")
}

func getUpstream(ctx context.Context, db querier, id, lock string) (Upstream, error) {
	if !identifier.MatchString(id) {
		return Upstream{}, fault.Absent()
	}
	rows, err := db.Query(ctx, selectUpstreams+`WHERE u.id = $1 `+lock, id)
	if err != nil {
		return Upstream{}, fmt.Errorf("upstream: %w", err)
	}
	u, err := pgx.CollectExactlyOneRow(rows, scanUpstream)
	return u, absentOr(err, "upstream")
}

// UpstreamSettings are the fields of an upstream that an administrator sets; a nil one stays as it is. On creation
// Name, BaseURL and Key are required; without an ID one is made, the style is bearer and CheckPath /v1/models.
type UpstreamSettings struct {
	ID         *string
	Name       *string
	Auth       *string
	BaseURL    *string
	CheckModel *string
	CheckPath  *string
	Key        *string // "" keeps the stored one
	SkipCheck  *bool   // save without trying the key first; recorded
}

// check notes what is wrong with the fields that are set, and brings them to the form they are kept in.
func (s *UpstreamSettings) check(allowPrivate bool) fault.Fields {
	wrong := fault.Fields{}
	for _, text := range []*string{s.Name, s.BaseURL, s.CheckModel, s.CheckPath} {
		trim(text)
	}
	checkName(wrong, s.Name)
	checkText(wrong, "checkModel", s.CheckModel, 0, maxModel)
	if s.CheckPath != nil {
		checkPath(wrong, "checkPath", *s.CheckPath)
	}
	if s.Auth != nil && !validAuth(*s.Auth) {
		wrong.Add("auth", "must be bearer, x-api-key, api-key or x-goog-api-key")
	}
	switch {
	case s.BaseURL == nil:
	case *s.BaseURL == "":
		wrong.Add("baseUrl", "is required")
	default:
		checkBaseURL(wrong, "baseUrl", s.BaseURL, allowPrivate)
	}
	if s.Key != nil {
		checkUpstreamKey(wrong, "key", *s.Key)
	}
	return wrong
}

func (s *UpstreamSettings) newKey() bool { return s.Key != nil && *s.Key != "" }

func (s *UpstreamSettings) apply(u *Upstream) {
	set(&u.Name, s.Name)
	set(&u.Auth, s.Auth)
	set(&u.BaseURL, s.BaseURL)
	set(&u.CheckPath, s.CheckPath)
	set(&u.CheckModel, s.CheckModel)
}

// checkSettings are what of u a check needs.
func (u Upstream) checkSettings() Details {
	return Details{
		Capability:      Capability{DefaultPath: u.CheckPath, UpstreamModel: u.CheckModel},
		UpstreamBaseURL: u.BaseURL, UpstreamAuth: u.Auth,
	}
}

// DeleteUpstream removes an upstream that no capability uses; one in use is a Conflict. actor is recorded.
func (s *Store) DeleteUpstream(ctx context.Context, actor, id string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		u, err := getUpstream(ctx, tx, id, `FOR UPDATE OF u`)
		if err != nil {
			return err
		}
		if len(u.CapabilityIDs) > 0 {
			return fault.New(fault.Conflict, "capabilities use this upstream: %s. Take it out of them first", strings.Join(u.CapabilityIDs, ", "))
		}
		if _, err := tx.Exec(ctx, `DELETE FROM upstreams WHERE id = $1`, id); err != nil {
			return fmt.Errorf("delete upstream: %w", err)
		}
		return audit.Append(ctx, tx, upstreamEntry(actor, "upstream.delete", u))
	})
}

func upstreamEntry(actor, action string, u Upstream) audit.Entry {
	return audit.Entry{Actor: actor, Action: action, TargetType: "upstream", TargetID: u.ID, TargetName: u.Name}
}

func upstreamDifferences(before, after Upstream) (changes audit.Changes) {
	changes.Add("name", before.Name, after.Name)
	changes.Add("baseUrl", before.BaseURL, after.BaseURL)
	changes.Add("auth", before.Auth, after.Auth)
	changes.Add("checkPath", before.CheckPath, after.CheckPath)
	changes.Add("checkModel", before.CheckModel, after.CheckModel)
	return changes
}

// refusedKey is what an administrator is told of a key that was not saved.
func refusedKey(result CheckResult) error {
	wrong := fault.Fields{}
	if result.Status == 0 {
		wrong.Add("key", "was not saved: the upstream could not be tried with it (%s); or save it without the check", result.Stage)
	} else {
		wrong.Add("key", "was not saved: the upstream answered %d when it was tried; correct it, or the address or path of the check; or save it without the check", result.Status)
	}
	return wrong.Err()
}

// errMoved says that an upstream was changed while a key for it was being checked.
var errMoved = errors.New("upstream changed while its key was checked")
