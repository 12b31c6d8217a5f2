package alerts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/beijing"
	"callgate/internal/days"
)

const (
	// daysAtOnce bounds the events of days of one evaluation.
	daysAtOnce = 20
	// dayApplications bounds the applications of a message: of the others there is the sum.
	dayApplications = 100

	lastDayEvent = `(SELECT coalesce(max(number), 0) FROM day_events)`
)

// forgetDays has a rule that was not enabled told of what comes, and not of what was.
func forgetDays(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	if _, err := tx.Exec(ctx, `UPDATE alert_days SET told = greatest(told, `+lastDayEvent+`) WHERE rule_id = $1`, id); err != nil {
		return fmt.Errorf("skip days: %w", err)
	}
	return nil
}

// dayEvent is a closing or reopening of a day (internal/calls/ledger).
type dayEvent struct {
	number, revision int64
	kind             string // closed or reopened
	day              beijing.Day
	at               time.Time
	found            map[string]int64 // of a reopening
	missing          days.Missing     // of the revision
}

// payloadOfDay is the body of day.closed and day.reopened.
type payloadOfDay struct {
	Type      string  `json:"type"`
	Timestamp string  `json:"timestamp"`
	Data      dayData `json:"data"`
}

type dayData struct {
	EventID   uuid.UUID     `json:"eventId"`
	Sequence  int64         `json:"sequence"`
	Rule      ruleName      `json:"rule"`
	Target    Target        `json:"target"`
	Day       beijing.Day   `json:"day"`
	Revision  int64         `json:"revision"` // that was closed, or reopened
	At        string        `json:"at"`       // of the closing or reopening
	Figures   days.Figures  `json:"figures"`  // of the revision
	Missing   dayMissing    `json:"missing"`
	Changes   *days.Figures `json:"changes"`  // of a later revision: what it has otherwise than the one before
	CallsNow  *int64        `json:"callsNow"` // of a reopening: all calls of the day that were found
	Apps      []dayApp      `json:"applications"`
	AppsTotal int           `json:"applicationCount"`
	URL       string        `json:"url"`
}

// dayMissing is what is known to be missing beside the applications' own: owners are not told of gateways.
type dayMissing struct {
	Calls   int64 `json:"calls"`   // of the target's applications, and those that may be anybody's
	Unknown bool  `json:"unknown"` // nobody knows how many more: a gateway's records were given up
}

type dayApp struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	days.Figures
	Changes *days.Figures `json:"changes"`
}

// tellDays tells rules of the kind DayClosed of the days that were closed or reopened since; of each rule in order, each in
// one transaction with its place. A rule that is silenced is told when it no longer is.
func (e *evaluator) tellDays(ctx context.Context, conn *pgx.Conn, rules []*Rule, now time.Time) (told int, err error) {
	for _, r := range rules {
		if r.Kind != DayClosed || r.silenced(now) {
			continue
		}
		events, err := dayEvents(ctx, conn, r.ID)
		if err != nil {
			return told, err
		}
		for _, of := range events {
			ok, err := e.tellDay(ctx, conn, r, of, now)
			if err != nil {
				return told, fmt.Errorf("tell of a day: %w", err)
			}
			if !ok {
				break // it was edited: left to the next evaluation
			}
			told++
		}
	}
	return told, nil
}

func dayEvents(ctx context.Context, conn *pgx.Conn, rule uuid.UUID) ([]dayEvent, error) {
	rows, err := conn.Query(ctx, `
		SELECT e.number, e.revision, e.kind, e.day, e.at, e.found, v.missing
		FROM day_events e JOIN day_revisions v ON v.day = e.day AND v.revision = e.revision
		WHERE e.number > (SELECT told FROM alert_days WHERE rule_id = $1) ORDER BY e.number LIMIT $2`, rule, daysAtOnce)
	if err != nil {
		return nil, fmt.Errorf("events of days: %w", err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e dayEvent, err error) {
		var day time.Time
		err = row.Scan(&e.number, &e.revision, &e.kind, &day, &e.at, &e.found, &e.missing)
		e.day = beijing.Date(day.Date())
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("events of days: %w", err)
	}
	return events, nil
}

func (e *evaluator) tellDay(ctx context.Context, conn *pgx.Conn, r *Rule, of dayEvent, now time.Time) (told bool, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		same, err := unchanged(ctx, tx, r)
		if err != nil || !same {
			return err
		}
		data, err := dataOfDay(ctx, tx, r, of)
		if err != nil {
			return err
		}
		failures, text := data.Figures.Calls-data.Figures.Successes, of.day.String()
		r.State.Figures = Figures{Day: &text, Revision: &of.revision, Calls: &data.Figures.Calls, Failures: &failures, MissingCalls: &data.Missing.Calls}
		err = tx.QueryRow(ctx, `UPDATE alert_days SET told = $2, sequence = sequence + 1, figures = $3 WHERE rule_id = $1 AND told < $2 RETURNING sequence`,
			r.ID, of.number, r.State.Figures).Scan(&data.Sequence)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		told, data.URL = true, e.pages+pageOf(r)
		_, err = enqueueBody(ctx, tx, r, of.kind, &data.Sequence, now, giveUpAfter, func(id uuid.UUID) any {
			data.EventID = id
			return payloadOfDay{Type: "day." + of.kind, Timestamp: beijing.Format(now), Data: data}
		})
		return err
	})
	return told, err
}

// dataOfDay is what a rule's owner, or an administrator, is told of a closing or reopening.
func dataOfDay(ctx context.Context, tx pgx.Tx, r *Rule, of dayEvent) (dayData, error) {
	apps, err := dayAppsOf(ctx, tx, r, of.day, of.revision)
	if err != nil {
		return dayData{}, err
	}
	d := dayData{
		Rule: ruleName{r.ID, r.Name, r.Kind}, Target: r.Target, Day: of.day, Revision: of.revision, At: beijing.Format(of.at),
		Figures: sumOf(apps), Missing: dayMissing{Unknown: of.missing.Unknown()},
	}
	d.Missing.Calls = d.Figures.Missing + of.missing.Anyones
	if n, found := of.found["calls"]; found && r.Owner == nil {
		d.CallsNow = &n
	}
	if of.kind == "closed" && of.revision > 1 {
		before, err := dayAppsOf(ctx, tx, r, of.day, of.revision-1)
		if err != nil {
			return dayData{}, err
		}
		changes := d.Figures.Minus(sumOf(before))
		d.Changes = &changes
		compare(apps, before)
	}
	slices.SortStableFunc(apps, func(a, b dayApp) int { return int(min(1, max(-1, b.Calls-a.Calls))) })
	d.AppsTotal = len(apps)
	d.Apps = apps[:min(len(apps), dayApplications)]
	return d, nil
}

// compare tells what applications have otherwise than before.
func compare(now, before []dayApp) {
	was := map[uuid.UUID]days.Figures{}
	for _, a := range before {
		was[a.ID] = a.Figures
	}
	for i := range now {
		if changes := now[i].Minus(was[now[i].ID]); !now[i].Same(was[now[i].ID]) {
			now[i].Changes = &changes
		}
	}
}

// dayAppsOf are the figures of the applications that a rule is about and that exist, by name. They are the owner's who has
// the application now, those of the days before it was moved too.
func dayAppsOf(ctx context.Context, tx pgx.Tx, r *Rule, day beijing.Day, revision int64) ([]dayApp, error) {
	rows, err := tx.Query(ctx, `
		SELECT a.id, a.name, f.figures FROM day_figures f JOIN applications a ON a.id = f.application_id
		WHERE f.day = $1 AND f.revision = $2 AND ($3::uuid IS NULL OR a.owner_id = $3) ORDER BY lower(a.name), a.id`,
		day.UTC(), revision, r.Owner)
	if err != nil {
		return nil, fmt.Errorf("figures of a day: %w", err)
	}
	apps, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (a dayApp, err error) {
		err = row.Scan(&a.ID, &a.Name, &a.Figures)
		return a, err
	})
	if err != nil {
		return nil, fmt.Errorf("figures of a day: %w", err)
	}
	return apps, nil
}

func sumOf(apps []dayApp) days.Figures {
	sum := days.Figures{Costs: []days.Cost{}}
	for _, a := range apps {
		sum.Add(a.Figures)
	}
	return sum
}
