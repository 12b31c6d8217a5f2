package alerts

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
	"callgate/internal/secret"
	"callgate/internal/upstream"
)

// ChannelKind is how a channel is spoken to.
type ChannelKind string

// The kinds: mail, signed webhooks (Standard Webhooks), and the bots of chat groups.
const (
	Mail     ChannelKind = "mail"
	Webhook  ChannelKind = "webhook"
	Feishu   ChannelKind = "feishu"
	DingTalk ChannelKind = "dingtalk"
	WeCom    ChannelKind = "wecom"
	Slack    ChannelKind = "slack"
)

var channelKinds = []ChannelKind{Mail, Webhook, Feishu, DingTalk, WeCom, Slack}

// Channel is where events of a rule go. Its URL and secrets are not in it.
type Channel struct {
	ID                uuid.UUID
	Kind              ChannelKind
	Destination       string // the address, or scheme and host of the URL
	HasSecret         bool
	FormerSecretUntil *time.Time // until then the secret before signs too
}

// ChannelDraft is a channel as it is entered.
type ChannelDraft struct {
	ID     *uuid.UUID // one that there is: it keeps what is not given
	Kind   ChannelKind
	URL    *string
	To     *string
	Secret *string // Feishu and DingTalk: the bot's own
}

// channelEdit is a draft that was checked.
type channelEdit struct {
	id          *uuid.UUID
	kind        ChannelKind
	destination string // empty: as it is
	url, secret string // empty: as they are
}

const (
	maxURL      = 2048
	secretBytes = 32
	// Prefix of the secrets of webhooks, as Standard Webhooks has it.
	secretPrefix = "whsec_"
)

// newSecret makes what a webhook is signed with.
func newSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// checkChannels reads drafts, and tells everything that is wrong with them.
func (s *Store) checkChannels(who Who, drafts []ChannelDraft, wrong fault.Fields) []channelEdit {
	if len(drafts) < 1 || len(drafts) > maxChannels {
		wrong.Add("channels", "must be 1 to %d", maxChannels)
		return nil
	}
	edits := make([]channelEdit, 0, len(drafts))
	for _, d := range drafts {
		edits = append(edits, s.checkChannel(who, d, wrong))
	}
	return edits
}

func (s *Store) checkChannel(who Who, d ChannelDraft, wrong fault.Fields) channelEdit {
	e := channelEdit{id: d.ID, kind: d.Kind}
	switch {
	case !slices.Contains(channelKinds, d.Kind):
		wrong.Add("channels", "the kind of a channel must be mail, webhook, feishu, dingtalk, wecom or slack")
	case d.Kind == Mail:
		e.destination = s.recipient(who, d, wrong)
	case d.URL != nil:
		address, err := parseHook(*d.URL, s.allowPrivate)
		if err != nil {
			wrong.Add("channels", "%s", err)
			return e
		}
		e.url, e.destination = *d.URL, address.Scheme+"://"+address.Host
	case d.ID == nil:
		wrong.Add("channels", "a new channel needs its URL")
	}
	if d.Secret != nil && *d.Secret != "" {
		if d.Kind != Feishu && d.Kind != DingTalk {
			wrong.Add("channels", "only bots of Feishu and DingTalk take a secret; one of webhooks is made here")
		}
		if len(*d.Secret) > 256 || !fault.Storable(*d.Secret) {
			wrong.Add("channels", "the secret of a channel must have at most %d bytes", 256)
		}
		e.secret = *d.Secret
	}
	return e
}

// recipient is whom a mail goes to: nobody can have strangers written to.
func (s *Store) recipient(who Who, d ChannelDraft, wrong fault.Fields) string {
	to := who.Email
	if d.To != nil && *d.To != "" {
		to = strings.ToLower(strings.TrimSpace(*d.To))
	}
	if who.Owner != uuid.Nil && to != who.Email {
		wrong.Add("channels", "mail can only go to your own address")
	}
	if who.Owner == uuid.Nil && to != who.Email && !s.administrator(to) {
		wrong.Add("channels", "mail can only go to an administrator's address")
	}
	return to
}

// parseHook reads the URL of a webhook or bot: what may be dialled is what may be of upstreams, but it may have a query.
func parseHook(text string, allowPrivate bool) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fault.New(fault.Invalid, "it is longer than %d bytes", maxURL)
	}
	base, query, _ := strings.Cut(text, "?")
	if _, err := upstream.ParseBaseURL(base, allowPrivate); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' || r == '#' }) {
		return nil, fault.New(fault.Invalid, "its query has a character that does not belong into one")
	}
	return url.Parse(text)
}

// saveChannels makes the edits the channels of a rule. What a draft does not name goes, and what waits for it is given up.
func (s *Store) saveChannels(ctx context.Context, tx pgx.Tx, rule uuid.UUID, held []Channel, edits []channelEdit) error {
	var kept []uuid.UUID
	for _, e := range edits {
		if e.id == nil {
			continue
		}
		at := slices.IndexFunc(held, func(c Channel) bool { return c.ID == *e.id })
		if at < 0 || held[at].Kind != e.kind || slices.Contains(kept, *e.id) {
			return fault.InvalidFields(map[string]string{"channels": "the id of a channel must be of one that the rule has, of the same kind, and named once"})
		}
		kept = append(kept, *e.id)
	}
	if kept == nil {
		kept = []uuid.UUID{}
	}
	if _, err := tx.Exec(ctx, `
		UPDATE alert_deliveries SET status = 'given_up', error = $3, claim = NULL, claimed_until = NULL
		WHERE status = 'pending' AND channel_id IN (SELECT id FROM alert_channels WHERE rule_id = $1 AND id <> ALL($2))`, rule, kept, failChannel); err != nil {
		return fmt.Errorf("give up deliveries: %w", err)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM alert_channels WHERE rule_id = $1 AND id <> ALL($2)`, rule, kept); err != nil {
		return fmt.Errorf("remove channels: %w", err)
	}
	if err := s.distinct(ctx, tx, edits); err != nil {
		return err
	}
	for i, e := range edits {
		if err := s.saveChannel(ctx, tx, rule, i, e); err != nil {
			return fmt.Errorf("write channel: %w", err)
		}
	}
	return nil
}

// distinct makes sure that no two channels of a rule go to the same address: each event goes there once.
func (s *Store) distinct(ctx context.Context, tx pgx.Tx, edits []channelEdit) error {
	var seen []string
	for _, e := range edits {
		address := e.destination
		switch {
		case e.url != "":
			address = e.url
		case e.kind != Mail: // it keeps its URL
			var sealed []byte
			if err := tx.QueryRow(ctx, `SELECT sealed_url FROM alert_channels WHERE id = $1`, *e.id).Scan(&sealed); err != nil {
				return fmt.Errorf("read URL: %w", err)
			}
			plain, err := s.ring.Open(sealed, secret.AlertURLContext(e.id.String()))
			if err != nil {
				continue // what cannot be opened cannot be delivered to either
			}
			address = string(plain)
		}
		if slices.Contains(seen, address) {
			return fault.InvalidFields(map[string]string{"channels": "two channels of a rule must not go to the same address"})
		}
		seen = append(seen, address)
	}
	return nil
}

func (s *Store) saveChannel(ctx context.Context, tx pgx.Tx, rule uuid.UUID, position int, e channelEdit) error {
	id := uuid.New()
	if e.id != nil {
		id = *e.id
	} else if e.kind == Webhook {
		e.secret = newSecret()
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO alert_channels AS old (id, rule_id, position, kind, destination, sealed_url, sealed_secret) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET position = excluded.position, destination = coalesce(nullif(excluded.destination, ''), old.destination),
			sealed_url = coalesce(excluded.sealed_url, old.sealed_url), sealed_secret = coalesce(excluded.sealed_secret, old.sealed_secret)`,
		id, rule, position, e.kind, e.destination, s.seal(e.url, secret.AlertURLContext(id.String())), s.seal(e.secret, secret.AlertSecretContext(id.String())))
	return err
}

// seal gives nil for an empty text.
func (s *Store) seal(text, context string) []byte {
	if text == "" {
		return nil
	}
	return s.ring.Seal([]byte(text), context)
}

// Secret gives the secret of a webhook; actor is recorded. A channel of another kind, or of somebody else, is fault.Absent.
func (s *Store) Secret(ctx context.Context, who Who, id, channel uuid.UUID) (text string, err error) {
	err = s.withChannel(ctx, who, id, channel, "alert.reveal_secret", func(tx pgx.Tx, sealed []byte) error {
		plain, err := s.ring.Open(sealed, secret.AlertSecretContext(channel.String()))
		text = string(plain)
		return err
	})
	return text, err
}

// RotateSecret gives a webhook another secret; the one before signs too for overlap. actor is recorded.
func (s *Store) RotateSecret(ctx context.Context, who Who, id, channel uuid.UUID, overlap time.Duration) (text string, err error) {
	text = newSecret()
	err = s.withChannel(ctx, who, id, channel, "alert.rotate_secret", func(tx pgx.Tx, sealed []byte) error {
		var former []byte
		var until *time.Time
		if overlap > 0 {
			plain, err := s.ring.Open(sealed, secret.AlertSecretContext(channel.String()))
			if err != nil {
				return err
			}
			end := time.Now().Add(overlap)
			former, until = s.ring.Seal(plain, secret.FormerAlertSecretContext(channel.String())), &end
		}
		_, err := tx.Exec(ctx, `UPDATE alert_channels SET sealed_secret = $2, former_secret = $3, former_until = $4 WHERE id = $1`,
			channel, s.seal(text, secret.AlertSecretContext(channel.String())), former, until)
		return err
	})
	return text, err
}

// withChannel does something with a webhook of a rule, and records it.
func (s *Store) withChannel(ctx context.Context, who Who, id, channel uuid.UUID, action string, do func(pgx.Tx, []byte) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		r, err := one(ctx, tx, who, id, `FOR NO KEY UPDATE OF r`)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(r.Channels, func(c Channel) bool { return c.ID == channel && c.Kind == Webhook })
		if at < 0 {
			return fault.Absent()
		}
		var sealed []byte
		if err := tx.QueryRow(ctx, `SELECT sealed_secret FROM alert_channels WHERE id = $1`, channel).Scan(&sealed); err != nil {
			return fmt.Errorf("read secret: %w", err)
		}
		if err := do(tx, sealed); err != nil {
			return fmt.Errorf("secret of channel %s: %w", channel, err)
		}
		return record(ctx, tx, who, action, r, nil)
	})
}
