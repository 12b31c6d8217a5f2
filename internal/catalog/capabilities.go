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
	"callgate/internal/secret"
	"callgate/internal/upstream"
)

// Details is what administrators see of a capability; its key is never returned.
type Details struct {
	Capability
	UpstreamBaseURL       string // "" when the capability only has Upstreams
	UpstreamAuth          string // bearer, x-api-key, api-key or x-goog-api-key
	HasUpstreamKey        bool
	Upstreams             []Member // in the order in which they are tried; none: its own address and key
	AllowedMethods        []string // that may be called; none: all
	AllowedPaths          []string // beginnings of the paths that may be called; none: all
	BoundApplicationCount int64
	UpdatedAt             time.Time
}

// A capability without an address of its own has a sealed empty key, which versions before 00017 can open.
var selectDetails = `
	SELECT ` + capabilityColumns + `, c.upstream_base_url, c.upstream_auth, c.upstream_base_url <> '',
	       c.allowed_methods, c.allowed_paths, ` + membersColumn + `,
	       (SELECT count(*) FROM application_capabilities b WHERE b.capability_id = c.id), c.updated_at
	FROM capabilities c JOIN capability_groups g ON g.id = c.group_id `

func scanDetails(row pgx.CollectableRow) (d Details, err error) {
	err = row.Scan(&d.ID, &d.Name, &d.DefaultPath, &d.Description, &d.GroupID, &d.SortOrder, &d.Status, &d.UpstreamModel,
		&d.UpstreamBaseURL, &d.UpstreamAuth, &d.HasUpstreamKey, &d.AllowedMethods, &d.AllowedPaths, &d.Upstreams, &d.BoundApplicationCount, &d.UpdatedAt)
	return d, err
}

// Filter narrows the back office's list; an empty field does not narrow it.
type Filter struct {
	GroupID string
	Status  string
	Text    string // part of the identifier or the name, in any case
	Page    int    // from 1
	Size    int
}

const filtered = `WHERE ($1 = '' OR c.group_id = $1) AND ($2 = '' OR c.status = $2)
	AND ($3 = '' OR strpos(lower(c.id), lower($3)) > 0 OR strpos(lower(c.name), lower($3)) > 0) `

// Search gives one page of capabilities by group, then by sort order, and how many match.
func (s *Store) Search(ctx context.Context, f Filter) ([]Details, int, error) {
	wrong := fault.Fields{}
	wrong.Text("q", f.Text, 0, maxName)
	wrong.Text("groupId", f.GroupID, 0, maxName)
	if f.Status != "" && f.Status != Enabled && f.Status != Disabled {
		wrong.Add("status", "must be enabled or disabled")
	}
	if err := wrong.Err(); err != nil {
		return nil, 0, err
	}
	var total int
	err := s.pool.QueryRow(ctx, `SELECT count(*) FROM capabilities c `+filtered, f.GroupID, f.Status, f.Text).Scan(&total)
	if err != nil {
		return nil, 0, fmt.Errorf("count capabilities: %w", err)
	}
	rows, err := s.pool.Query(ctx, selectDetails+filtered+catalogOrder+` LIMIT $4 OFFSET $5`,
		f.GroupID, f.Status, f.Text, f.Size, int64(f.Page-1)*int64(f.Size))
	if err != nil {
		return nil, 0, fmt.Errorf("search capabilities: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanDetails)
	if err != nil {
		return nil, 0, fmt.Errorf("search capabilities: %w", err)
	}
	return found, total, nil
}

// Details gives one capability as administrators see it; an unknown one is fault.Absent.
func (s *Store) Details(ctx context.Context, id string) (Details, error) {
	return getDetails(ctx, s.pool, id, "")
}

func getDetails(ctx context.Context, db querier, id, lock string) (Details, error) {
	if !identifier.MatchString(id) {
		return Details{}, fault.Absent()
	}
	rows, err := db.Query(ctx, selectDetails+`WHERE c.id = $1 `+lock, id)
	if err != nil {
		return Details{}, fmt.Errorf("capability details: %w", err)
	}
	d, err := pgx.CollectExactlyOneRow(rows, scanDetails)
	return d, absentOr(err, "capability details")
}

// Create makes a capability; a taken identifier is a Conflict. actor, an e-mail address, is recorded.
func (s *Store) Create(ctx context.Context, actor string, settings Settings) (Details, error) {
	wrong := settings.check(s.allowPrivate)
	settings.checkRequired(wrong)
	if err := wrong.Err(); err != nil {
		return Details{}, err
	}
	d := Details{Capability: Capability{ID: *settings.ID, Status: Enabled}, UpstreamAuth: "bearer", AllowedMethods: []string{}, AllowedPaths: []string{}, Upstreams: []Member{}}
	settings.apply(&d)
	d.HasUpstreamKey = d.UpstreamBaseURL != ""
	key := ""
	if d.HasUpstreamKey {
		key = *settings.UpstreamKey
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := settings.lockUpstreams(ctx, tx); err != nil {
			return err
		}
		if err := checkGroup(ctx, tx, d.GroupID); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `
			INSERT INTO capabilities (id, name, group_id, description, sort_order, status, upstream_base_url,
			                          upstream_auth, upstream_key, upstream_model, default_path, allowed_methods, allowed_paths)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING
			RETURNING updated_at`,
			d.ID, d.Name, d.GroupID, d.Description, d.SortOrder, d.Status, d.UpstreamBaseURL,
			d.UpstreamAuth, s.seal(d.ID, key), d.UpstreamModel, d.DefaultPath, d.AllowedMethods, d.AllowedPaths).Scan(&d.UpdatedAt)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return taken(d.ID)
		case err != nil:
			return fmt.Errorf("insert capability: %w", err)
		}
		if err := storeMembers(ctx, tx, &d); err != nil {
			return err
		}
		entry := capabilityEntry(actor, "capability.create", d)
		entry.Changes = differences(Details{}, d, d.HasUpstreamKey)
		for i := range entry.Changes {
			entry.Changes[i].From = nil
		}
		return audit.Append(ctx, tx, entry)
	})
	return d, err
}

// Update edits a capability; its identifier cannot change. actor is recorded. seen, if given, is the
// precondition; when it does not hold the capability as it is comes with the Changed fault.
func (s *Store) Update(ctx context.Context, actor, id string, settings Settings, seen ...time.Time) (Details, error) {
	wrong := settings.check(s.allowPrivate)
	checkImmutable(wrong, settings.ID, id)
	if err := wrong.Err(); err != nil {
		return Details{}, err
	}
	return s.change(ctx, actor, "capability.update", id, settings, seen)
}

// SetStatus enables or disables a capability; bindings stay. Setting the state it
// has changes nothing. actor is recorded; seen is as in Update.
func (s *Store) SetStatus(ctx context.Context, actor, id, status string, seen ...time.Time) (Details, error) {
	settings := Settings{Status: &status}
	if err := settings.check(s.allowPrivate).Err(); err != nil {
		return Details{}, err
	}
	return s.change(ctx, actor, "capability.set_status", id, settings, seen)
}

// DisableAndEnd disables a capability and ends its calls that run; they are ended, too, when it is disabled already. seen is as in Update.
func (s *Store) DisableAndEnd(ctx context.Context, actor, id string, seen ...time.Time) (Details, error) {
	status := Disabled
	return s.change(ctx, actor, "capability.set_status", id, Settings{Status: &status, endRunning: true}, seen)
}

func (s *Store) change(ctx context.Context, actor, action, id string, settings Settings, seen []time.Time) (d Details, err error) {
	var before Details
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := settings.lockUpstreams(ctx, tx); err != nil {
			return err
		}
		// NO KEY: bindings that refer to the row need not wait, so they cannot deadlock with us.
		if before, err = getDetails(ctx, tx, id, `FOR NO KEY UPDATE OF c`); err != nil {
			return err
		}
		d = before
		if err := fault.Unchanged(d.UpdatedAt, seen...); err != nil {
			return err
		}
		settings.apply(&d)
		if d.GroupID != before.GroupID {
			if err := checkGroup(ctx, tx, d.GroupID); err != nil {
				return err
			}
		}
		if err := errors.Join(checkReachable(d), checkKept(before, d, settings.newKey())); err != nil {
			return err
		}
		changes := differences(before, d, settings.newKey())
		if len(changes) == 0 && !settings.endRunning {
			return nil
		}
		var sealed []byte // nil keeps the stored key
		if settings.newKey() {
			sealed = s.seal(id, *settings.UpstreamKey)
		}
		if d.HasUpstreamKey = d.UpstreamBaseURL != ""; !d.HasUpstreamKey {
			sealed = s.seal(id, "") // a key without an address is nobody's
		}
		if err := update(ctx, tx, &d, sealed); err != nil {
			return err
		}
		if described(before.Upstreams) != described(d.Upstreams) {
			if err := storeMembers(ctx, tx, &d); err != nil {
				return err
			}
		}
		if settings.endRunning {
			if _, err := tx.Exec(ctx, `INSERT INTO access_changes (capability_id, version, ends_calls) SELECT id, version, true FROM capabilities WHERE id = $1`, id); err != nil {
				return fmt.Errorf("end the capability's calls: %w", err)
			}
			changes.Add("endRunning", nil, true)
		}
		entry := capabilityEntry(actor, action, d)
		entry.Changes = changes
		return audit.Append(ctx, tx, entry)
	})
	if err == nil && s.keyMoved != nil && keyMoves(before, d, settings.newKey()) {
		s.keyMoved(ctx, KeyMove{Actor: actor, ID: d.ID, Name: d.Name,
			From: upstream.Origin(before.UpstreamBaseURL), To: upstream.Origin(d.UpstreamBaseURL)})
	}
	return d, err
}

func update(ctx context.Context, tx pgx.Tx, d *Details, sealed []byte) error {
	err := tx.QueryRow(ctx, `
		UPDATE capabilities
		SET name = $2, group_id = $3, description = $4, sort_order = $5, status = $6, upstream_base_url = $7,
		    upstream_auth = $8, upstream_key = coalesce($9, upstream_key), upstream_model = $10, default_path = $11,
		    allowed_methods = $12, allowed_paths = $13,
		    updated_at = clock_timestamp()
		WHERE id = $1 RETURNING updated_at`,
		d.ID, d.Name, d.GroupID, d.Description, d.SortOrder, d.Status, d.UpstreamBaseURL,
		d.UpstreamAuth, sealed, d.UpstreamModel, d.DefaultPath, d.AllowedMethods, d.AllowedPaths).Scan(&d.UpdatedAt)
	if err != nil {
		return fmt.Errorf("update capability: %w", err)
	}
	return nil
}

func (s *Store) seal(id, key string) []byte {
	return s.ring.Seal([]byte(key), secret.UpstreamKeyContext(id))
}

// checkGroup demands that the group exists. Groups are never deleted, so it needs no lock.
func checkGroup(ctx context.Context, tx pgx.Tx, id string) error {
	_, err := getGroup(ctx, tx, id, "")
	var f *fault.Error
	if errors.As(err, &f) && f.Kind == fault.NotFound {
		return fault.InvalidFields(map[string]string{"groupId": "no such group"})
	}
	return err
}

func capabilityEntry(actor, action string, d Details) audit.Entry {
	return audit.Entry{Actor: actor, Action: action, TargetType: "capability", TargetID: d.ID, TargetName: d.Name}
}

func differences(before, after Details, key bool) (changes audit.Changes) {
	changes.Add("name", before.Name, after.Name)
	changes.Add("groupId", before.GroupID, after.GroupID)
	changes.Add("description", before.Description, after.Description)
	changes.Add("sortOrder", before.SortOrder, after.SortOrder)
	changes.Add("status", before.Status, after.Status)
	changes.Add("upstreamBaseUrl", before.UpstreamBaseURL, after.UpstreamBaseURL)
	changes.Add("upstreamAuth", before.UpstreamAuth, after.UpstreamAuth)
	changes.Add("upstreamModel", before.UpstreamModel, after.UpstreamModel)
	changes.Add("defaultPath", before.DefaultPath, after.DefaultPath)
	changes.Add("allowedMethods", strings.Join(before.AllowedMethods, ", "), strings.Join(after.AllowedMethods, ", "))
	changes.Add("allowedPaths", strings.Join(before.AllowedPaths, ", "), strings.Join(after.AllowedPaths, ", "))
	changes.Add("upstreams", described(before.Upstreams), described(after.Upstreams))
	if key {
		changes = append(changes, audit.Change{Field: "upstreamKey", To: audit.Secret})
	}
	if keyMoves(before, after, key) {
		changes.Add("upstreamKeySentTo", upstream.Origin(before.UpstreamBaseURL), upstream.Origin(after.UpstreamBaseURL))
	}
	return changes
}
