package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/fault"
	"callgate/internal/secret"
	"callgate/internal/upstream"
)

// formerKeyLife is how long a replaced key may be put back.
const formerKeyLife = 24 * time.Hour

const defaultCheckPath = "/v1/models"

// CreateUpstream makes an upstream once its key was tried; a taken identifier is a Conflict. actor is recorded.
func (s *Store) CreateUpstream(ctx context.Context, actor string, settings UpstreamSettings) (Upstream, error) {
	wrong := settings.check(s.allowPrivate)
	if settings.ID == nil {
		made := uuid.NewString()
		settings.ID = &made
	}
	checkIdentifier(wrong, "id", *settings.ID)
	for field, value := range map[string]*string{"name": settings.Name, "baseUrl": settings.BaseURL, "key": settings.Key} {
		if value == nil || *value == "" {
			wrong.Add(field, "is required")
		}
	}
	if err := wrong.Err(); err != nil {
		return Upstream{}, err
	}
	u := Upstream{ID: *settings.ID, Auth: "bearer", CheckPath: defaultCheckPath, CapabilityIDs: []string{}, Health: HealthUnknown, Gateways: []UpstreamReport{}}
	settings.apply(&u)
	if err := s.tryKey(ctx, settings, u, *settings.Key); err != nil {
		return Upstream{}, err
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `
			INSERT INTO upstreams (id, name, base_url, auth, sealed_key, check_path, check_model)
			VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING created_at, updated_at`,
			u.ID, u.Name, u.BaseURL, u.Auth, s.ring.Seal([]byte(*settings.Key), secret.SharedUpstreamKeyContext(u.ID)),
			u.CheckPath, u.CheckModel).Scan(&u.CreatedAt, &u.Updated)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return taken(u.ID)
		case err != nil:
			return fmt.Errorf("insert upstream: %w", err)
		}
		entry := upstreamEntry(actor, "upstream.create", u)
		entry.Changes = append(upstreamDifferences(Upstream{}, u), keyChange(settings)...)
		for i := range entry.Changes {
			entry.Changes[i].From = nil
		}
		return audit.Append(ctx, tx, entry)
	})
	return u, err
}

// UpdateUpstream edits an upstream; its identifier cannot change. A new key, and a stored one for which address or
// style change, is tried first and not saved when the upstream does not take it; the key before may be put back
// for 24 h. actor is recorded. seen, if given, is the precondition; when it does not hold the upstream as it is
// comes with the Changed fault.
func (s *Store) UpdateUpstream(ctx context.Context, actor, id string, settings UpstreamSettings, seen ...time.Time) (Upstream, error) {
	wrong := settings.check(s.allowPrivate)
	checkImmutable(wrong, settings.ID, id)
	if err := wrong.Err(); err != nil {
		return Upstream{}, err
	}
	for {
		before, key, err := s.upstreamWithKey(ctx, id)
		if err != nil {
			return Upstream{}, err
		}
		if err := fault.Unchanged(before.Updated, seen...); err != nil {
			return before, err
		}
		after := before
		settings.apply(&after)
		if !settings.newKey() && !upstream.SameOrigin(before.BaseURL, after.BaseURL) {
			return Upstream{}, fault.InvalidFields(map[string]string{
				"key": "enter the key again: the stored one is sent only to the scheme, host and port it was saved for",
			})
		}
		if settings.newKey() {
			key = *settings.Key
		}
		if settings.newKey() || before.BaseURL != after.BaseURL || before.Auth != after.Auth {
			if err := s.tryKey(ctx, settings, after, key); err != nil {
				return Upstream{}, err
			}
		}
		if after, err = s.saveUpstream(ctx, actor, before, after, settings); !errors.Is(err, errMoved) {
			return after, err
		}
	}
}

// tryKey checks a key before it is saved.
func (s *Store) tryKey(ctx context.Context, settings UpstreamSettings, u Upstream, key string) error {
	if settings.SkipCheck != nil && *settings.SkipCheck {
		return nil
	}
	if result := s.try(ctx, u.checkSettings(), key); !result.OK {
		return refusedKey(result)
	}
	return nil
}

// saveUpstream writes what was checked; errMoved when somebody else was faster.
func (s *Store) saveUpstream(ctx context.Context, actor string, before, after Upstream, settings UpstreamSettings) (saved Upstream, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		now, err := getUpstream(ctx, tx, before.ID, `FOR NO KEY UPDATE OF u`)
		if err != nil {
			return err
		}
		if !now.Updated.Equal(before.Updated) {
			return errMoved
		}
		saved = now
		changes := append(upstreamDifferences(before, after), keyChange(settings)...)
		if len(changes) == 0 {
			return nil
		}
		settings.apply(&saved)
		if settings.newKey() {
			if err := s.replaceKey(ctx, tx, &saved, []byte(*settings.Key), upstream.SameOrigin(before.BaseURL, after.BaseURL)); err != nil {
				return err
			}
		}
		if err := tx.QueryRow(ctx, `
			UPDATE upstreams SET name = $2, base_url = $3, auth = $4, check_path = $5, check_model = $6, updated_at = clock_timestamp()
			WHERE id = $1 RETURNING updated_at`,
			saved.ID, saved.Name, saved.BaseURL, saved.Auth, saved.CheckPath, saved.CheckModel).Scan(&saved.Updated); err != nil {
			return fmt.Errorf("update upstream: %w", err)
		}
		entry := upstreamEntry(actor, "upstream.update", saved)
		entry.Changes = changes
		return audit.Append(ctx, tx, entry)
	})
	return saved, err
}

// replaceKey stores a key. The one before can be put back, unless it was saved for another origin: there it would
// be sent to a host that is not its own.
func (s *Store) replaceKey(ctx context.Context, tx pgx.Tx, u *Upstream, key []byte, keepFormer bool) error {
	var former []byte
	var until *time.Time
	if keepFormer {
		plain, err := s.upstreamKey(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		end := time.Now().Add(formerKeyLife)
		former, until = s.ring.Seal(plain, secret.FormerUpstreamKeyContext(u.ID)), &end
	}
	_, err := tx.Exec(ctx, `UPDATE upstreams SET sealed_key = $2, former_key = $3, former_until = $4 WHERE id = $1`,
		u.ID, s.ring.Seal(key, secret.SharedUpstreamKeyContext(u.ID)), former, until)
	if err != nil {
		return fmt.Errorf("replace the key of an upstream: %w", err)
	}
	u.FormerKeyUntil = until
	return nil
}

// RestoreUpstreamKey puts the key before back, without a check: it worked, and is the way back from one that does
// not. The two change places. Without one that was replaced in the last 24 h it is a Conflict. actor is recorded.
func (s *Store) RestoreUpstreamKey(ctx context.Context, actor, id string) (u Upstream, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if u, err = getUpstream(ctx, tx, id, `FOR NO KEY UPDATE OF u`); err != nil {
			return err
		}
		if u.FormerKeyUntil == nil {
			return fault.New(fault.Conflict, "there is no earlier key: one that is replaced can be put back for 24 hours")
		}
		var sealed []byte
		if err := tx.QueryRow(ctx, `SELECT former_key FROM upstreams WHERE id = $1`, id).Scan(&sealed); err != nil {
			return fmt.Errorf("read the former key of an upstream: %w", err)
		}
		former, err := s.ring.Open(sealed, secret.FormerUpstreamKeyContext(id))
		if err != nil {
			return fmt.Errorf("former key of upstream %s: %w", id, err)
		}
		if err := s.replaceKey(ctx, tx, &u, former, true); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `UPDATE upstreams SET updated_at = clock_timestamp() WHERE id = $1 RETURNING updated_at`, id).
			Scan(&u.Updated); err != nil {
			return fmt.Errorf("restore the key of an upstream: %w", err)
		}
		entry := upstreamEntry(actor, "upstream.restore_key", u)
		entry.Changes = audit.Changes{{Field: "key", To: audit.Secret}}
		return audit.Append(ctx, tx, entry)
	})
	return u, err
}

// CheckUpstream sends one smallest request to the upstream within 25 seconds: as it is stored, or with the fields of
// settings instead. A stored key is sent to the origin it was saved for only, and its use recorded with actor.
func (s *Store) CheckUpstream(ctx context.Context, actor, id string, settings UpstreamSettings) (CheckResult, error) {
	if err := settings.check(s.allowPrivate).Err(); err != nil {
		return CheckResult{}, err
	}
	stored, key, err := s.upstreamWithKey(ctx, id)
	if err != nil {
		return CheckResult{}, err
	}
	target := stored
	settings.apply(&target)
	if settings.newKey() {
		return s.try(ctx, target.checkSettings(), *settings.Key), nil
	}
	if !upstream.SameOrigin(stored.BaseURL, target.BaseURL) {
		return CheckResult{}, fault.InvalidFields(map[string]string{
			"key": "enter the key again: the stored one is sent only to the scheme, host and port it was saved for",
		})
	}
	entry := upstreamEntry(actor, "upstream.check", stored)
	entry.Changes = audit.Changes{{Field: "sentTo", To: target.BaseURL}}
	if err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return audit.Append(ctx, tx, entry) }); err != nil {
		return CheckResult{}, err
	}
	return s.try(ctx, target.checkSettings(), key), nil
}

// upstreamWithKey reads an upstream and its key, of one state.
func (s *Store) upstreamWithKey(ctx context.Context, id string) (u Upstream, key string, err error) {
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if u, err = getUpstream(ctx, tx, id, `FOR SHARE OF u`); err != nil {
			return err
		}
		plain, err := s.upstreamKey(ctx, tx, id)
		key = string(plain)
		return err
	})
	return u, key, err
}

func (s *Store) upstreamKey(ctx context.Context, tx pgx.Tx, id string) ([]byte, error) {
	var sealed []byte
	if err := tx.QueryRow(ctx, `SELECT sealed_key FROM upstreams WHERE id = $1`, id).Scan(&sealed); err != nil {
		return nil, fmt.Errorf("read the key of an upstream: %w", err)
	}
	plain, err := s.ring.Open(sealed, secret.SharedUpstreamKeyContext(id))
	if err != nil {
		return nil, fmt.Errorf("key of upstream %s: %w", id, err)
	}
	return plain, nil
}

// keyChange tells that a key was saved, and whether it was tried before.
func keyChange(settings UpstreamSettings) audit.Changes {
	if !settings.newKey() {
		return nil
	}
	changes := audit.Changes{{Field: "key", To: audit.Secret}}
	if settings.SkipCheck != nil && *settings.SkipCheck {
		changes = append(changes, audit.Change{Field: "keyChecked", To: false})
	}
	return changes
}
