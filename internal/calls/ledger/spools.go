package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/fault"
)

// State is what is known of a spool's gateway.
type State string

// The states of a spool.
const (
	Live    State = "live"    // its gateway reports
	Adopted State = "adopted" // its gateway has ended, another one ships what it left
	Silent  State = "silent"  // nobody has reported it for SilentAfter: it holds the statistics back
	GivenUp State = "retired" // given up by command
)

const (
	// SilentAfter is how long a spool that is in use may go without a report; one is made every second.
	SilentAfter = 10 * time.Second
	// KeepRetired is how long one that was given up is listed, and a gateway that has ended remembered.
	KeepRetired = 90 * 24 * time.Hour
)

// Spool is one gateway's spool as the ledger knows it.
type Spool struct {
	ID        uuid.UUID
	Node      string // the host of who reports it
	State     State
	Through   time.Time
	UpdatedAt time.Time
	Gateway   *Heartbeat // nil: it has never sent one, as versions before did not
	GivenUp   *Surrender // nil: it is waited for
}

// Heartbeat is what a gateway last said of itself and of its spool.
type Heartbeat struct {
	Host, Role, Version string
	StartedAt, SeenAt   time.Time
	OldestAt            *time.Time // end of the oldest call held; nil: none, or not known
	HeldBytes           int64
	HeldCalls           map[string]int64 // per Beijing day of their start
}

// Held is how many calls the gateway held when it was last seen, nil when nobody has counted them. What it
// took after that, for a second at most, is not among them.
func (h *Heartbeat) Held() *int64 {
	var n int64
	for _, calls := range h.HeldCalls {
		n += calls
	}
	if n == 0 && h.OldestAt != nil {
		return nil
	}
	return &n
}

// Surrender tells of a spool that was given up.
type Surrender struct {
	At    time.Time
	By    string // an e-mail address, or what the command line calls itself
	Calls *int64 // that it was known to hold, and that count as missed; nil: not known
}

const spoolColumns = `
	s.id, s.node, s.through, s.updated_at, s.retired, s.given_up_at, s.given_up_by, s.given_up_calls,
	g.host, g.role, g.version, g.started_at, g.seen_at, g.oldest_at, g.held_bytes, g.held_calls, now()
	FROM spools s LEFT JOIN gateways g ON g.spool_id = s.id `

// Spools gives one page of the spools that are waited for, the one furthest behind first, and of those given up
// lately; and how many there are. page counts from 1.
func (l *Ledger) Spools(ctx context.Context, page, size int) (spools []Spool, total int, err error) {
	const listed = ` WHERE NOT s.retired OR s.given_up_at > now() - make_interval(secs => $1)`
	if err := l.pool.QueryRow(ctx, `SELECT count(*) FROM spools s`+listed, KeepRetired.Seconds()).Scan(&total); err != nil {
		return nil, 0, Unavailable(err)
	}
	rows, err := l.pool.Query(ctx, `SELECT `+spoolColumns+listed+`
		ORDER BY s.retired, s.given_up_at DESC, s.through, s.id LIMIT $2 OFFSET $3`, KeepRetired.Seconds(), size, int64(page-1)*int64(size))
	if err != nil {
		return nil, 0, Unavailable(err)
	}
	if spools, err = pgx.CollectRows(rows, scanSpool); err != nil {
		return nil, 0, Unavailable(err)
	}
	return spools, total, nil
}

// Retire gives up a spool whose disk will never come back, in the name of actor: it no longer holds Through
// back, and what it was known to hold counts as missed, for every application, since it may be anybody's.
// Conflict while it is in use, NotFound when there is none. Retiring it again changes nothing. Should it turn
// up after all, its calls are shipped, and are no longer missed.
func (l *Ledger) Retire(ctx context.Context, id uuid.UUID, actor string) (s Spool, err error) {
	err = pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if s, err = lockSpool(ctx, tx, id); err != nil || s.State == GivenUp {
			return err
		}
		if s.State != Silent {
			return fault.New(fault.Conflict, "this spool is in use: %s reported it %d s ago. Stop that gateway first; one that ends in order ships what it holds",
				s.Node, int(time.Since(s.UpdatedAt).Seconds()))
		}
		return giveUp(ctx, tx, &s, actor)
	})
	var ours *fault.Error
	if err != nil && !errors.As(err, &ours) {
		err = Unavailable(err)
	}
	return s, err
}

func lockSpool(ctx context.Context, tx pgx.Tx, id uuid.UUID) (Spool, error) {
	rows, err := tx.Query(ctx, `SELECT `+spoolColumns+` WHERE s.id = $1 FOR UPDATE OF s`, id)
	if err != nil {
		return Spool{}, fmt.Errorf("read the spool: %w", err)
	}
	s, err := pgx.CollectExactlyOneRow(rows, scanSpool)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fault.Absent()
	}
	return s, err
}

func giveUp(ctx context.Context, tx pgx.Tx, s *Spool, actor string) error {
	s.State, s.GivenUp = GivenUp, &Surrender{By: actor}
	if s.Gateway != nil {
		if s.GivenUp.Calls = s.Gateway.Held(); s.GivenUp.Calls != nil {
			for day, calls := range s.Gateway.HeldCalls {
				if err := miss(ctx, tx, s.ID, day, calls); err != nil {
					return err
				}
			}
		}
	}
	err := tx.QueryRow(ctx, `
		UPDATE spools SET retired = true, updated_at = now(), given_up_at = now(), given_up_by = $2, given_up_calls = $3
		WHERE id = $1 RETURNING given_up_at`, s.ID, actor, s.GivenUp.Calls).Scan(&s.GivenUp.At)
	if err != nil {
		return fmt.Errorf("retire the spool: %w", err)
	}
	changes := audit.Changes{{Field: "through", To: beijing.Format(s.Through)}}
	if s.GivenUp.Calls != nil {
		changes.Add("missedCalls", nil, *s.GivenUp.Calls)
	}
	return audit.Append(ctx, tx, audit.Entry{
		Actor: actor, Action: "spool.retire", TargetType: "spool", TargetID: s.ID.String(), TargetName: s.Node, Changes: changes,
	})
}

func miss(ctx context.Context, tx pgx.Tx, spool uuid.UUID, day string, calls int64) error {
	parsed, err := beijing.ParseDay(day)
	if err != nil {
		return fmt.Errorf("calls held per day: %w", err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO dropped_calls (day, application_id, spool_id, calls) VALUES ($1, $2, $3, $4)
		ON CONFLICT (day, application_id, spool_id) DO UPDATE SET calls = excluded.calls`, parsed.UTC(), uuid.Nil, spool, calls)
	if err != nil {
		return fmt.Errorf("count the calls held: %w", err)
	}
	return nil
}

// scanSpool reads spoolColumns.
func scanSpool(row pgx.CollectableRow) (s Spool, err error) {
	var retired bool
	var now time.Time
	var givenUpAt, startedAt, seenAt, oldestAt *time.Time
	var givenUpBy, host, role, version *string
	var givenUpCalls, heldBytes *int64
	var heldCalls map[string]int64
	err = row.Scan(&s.ID, &s.Node, &s.Through, &s.UpdatedAt, &retired, &givenUpAt, &givenUpBy, &givenUpCalls,
		&host, &role, &version, &startedAt, &seenAt, &oldestAt, &heldBytes, &heldCalls, &now)
	if err != nil {
		return s, err
	}
	reported := now.Sub(s.UpdatedAt) < SilentAfter
	if host != nil {
		s.Gateway = &Heartbeat{*host, *role, *version, *startedAt, *seenAt, oldestAt, *heldBytes, heldCalls}
	}
	switch {
	case givenUpAt != nil && retired:
		s.State, s.GivenUp = GivenUp, &Surrender{At: *givenUpAt, By: *givenUpBy, Calls: givenUpCalls}
	case retired: // it has ended in order: nothing is waited for
		s.State, s.GivenUp = GivenUp, nil
	case !reported:
		s.State = Silent
	case seenAt != nil && now.Sub(*seenAt) >= SilentAfter:
		s.State = Adopted
	default:
		s.State = Live
	}
	return s, nil
}

// Holder is a spool whose records of a day may not all be confirmed.
type Holder struct {
	ID      uuid.UUID
	Node    string
	Through time.Time
	Silent  bool // nobody has reported it for a while: it waits for its gateway, or for an administrator to give it up
}

// Holders are the spools that are waited for, the one furthest behind first. Faults: Unavailable.
func (l *Ledger) Holders(ctx context.Context) ([]Holder, error) {
	rows, err := l.pool.Query(ctx, `
		SELECT s.id, coalesce(nullif(g.host, ''), s.node), s.through, s.updated_at <= now() - make_interval(secs => $1)
		FROM spools s LEFT JOIN gateways g ON g.spool_id = s.id WHERE NOT s.retired ORDER BY s.through, s.id`, SilentAfter.Seconds())
	if err != nil {
		return nil, Unavailable(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Holder])
	if err != nil {
		return nil, Unavailable(err)
	}
	return found, nil
}
