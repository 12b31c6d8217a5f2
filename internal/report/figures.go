package report

import (
	"context"
	"iter"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// everyone is all applications that exist, as administrators' figures are made of: each of them is the sum of what
// the owners see.
type everyone struct {
	all        []application.Owned // newest first
	place      map[uuid.UUID]int   // of each in all
	owner      []int               // of each, from 0
	ownerCount int
	callers    []stats.Caller // of these
	inUsage    stats.Everyone // without those of which the daily usage has rows of the days: hardly ever any; calls are swept before it
	inRows     stats.Everyone // without all that may have rows of any kind
}

// everyoneIn tells who is there and who of them called in the days, and, asked before the figures are, how whole these are.
// model nil is all.
func (r *Report) everyoneIn(ctx context.Context, days beijing.Range, model *string, known *openapi.Coverage) (e *everyone, err error) {
	if *known, err = r.everyonesCoverage(ctx, days); err != nil {
		return nil, err
	}
	e = &everyone{}
	today := beijing.Today(r.Now())
	var callers, lately []stats.Caller
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		e.all, e.inRows.Except, err = r.Applications.Everyones(groupCtx)
		e.number()
		return err
	})
	group.Go(func() (err error) {
		callers, err = r.Stats.Callers(groupCtx, days, model)
		return err
	})
	if !days.Contains(today) || !days.Contains(today-1) { // the last hours are told whatever the days
		group.Go(func() (err error) {
			lately, err = r.Stats.Callers(groupCtx, beijing.LastDays(2, today), model)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, caller := range callers {
		if !e.exists(caller.Application) {
			e.inUsage.Except = append(e.inUsage.Except, caller.Application)
			e.leaveOut(caller.Application)
		} else {
			e.callers = append(e.callers, caller)
		}
	}
	for _, caller := range lately {
		if !e.exists(caller.Application) {
			e.leaveOut(caller.Application)
		}
	}
	return e, nil
}

// leaveOut takes an application that does not exist out of the rows.
func (e *everyone) leaveOut(id uuid.UUID) {
	if !slices.Contains(e.inRows.Except, id) {
		e.inRows.Except = append(e.inRows.Except, id)
	}
}

// number gives the applications and their owners numbers, by which they are counted sooner than by their ids.
func (e *everyone) number() {
	e.place, e.owner = make(map[uuid.UUID]int, len(e.all)), make([]int, len(e.all))
	owners := map[uuid.UUID]int{}
	for i, a := range e.all {
		e.place[a.ID] = i
		if _, known := owners[a.OwnerID]; !known {
			owners[a.OwnerID] = len(owners)
		}
		e.owner[i] = owners[a.OwnerID]
	}
	e.ownerCount = len(owners)
}

func (e *everyone) exists(id uuid.UUID) bool {
	_, exists := e.place[id]
	return exists
}

// hits counts applications, given by their places, and their owners, each once.
func (e *everyone) hits(places iter.Seq[int]) (hits openapi.Hits) {
	applications, owners := make([]bool, len(e.all)), make([]bool, e.ownerCount)
	for place := range places {
		if !applications[place] {
			applications[place] = true
			hits.ApplicationCount++
		}
		if owner := e.owner[place]; !owners[owner] {
			owners[owner] = true
			hits.OwnerCount++
		}
	}
	return hits
}

// existing are the places of those that exist.
func (e *everyone) existing(ids iter.Seq[uuid.UUID]) iter.Seq[int] {
	return func(yield func(int) bool) {
		for id := range ids {
			if place, exists := e.place[id]; exists && !yield(place) {
				return
			}
		}
	}
}

// calling and failing are those of the callers.
func (e *everyone) calling() openapi.Hits {
	return e.hits(e.existing(e.called(func(stats.Caller) bool { return true })))
}

func (e *everyone) failing() openapi.Hits {
	return e.hits(e.existing(e.called(func(c stats.Caller) bool { return c.Failures > 0 })))
}

func (e *everyone) called(how func(stats.Caller) bool) iter.Seq[uuid.UUID] {
	return func(yield func(uuid.UUID) bool) {
		for _, caller := range e.callers {
			if how(caller) && !yield(caller.Application) {
				return
			}
		}
	}
}

// FiguresOverview answers getFiguresOverview: the figures of all applications of all owners, the twenty foremost reasons and
// failures, and up to a hundred failures of the last hour.
func (r *Report) FiguresOverview(ctx context.Context, days beijing.Range) (answer openapi.FiguresOverview, err error) {
	read, err := r.everyones(ctx, days, nil, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	for _, a := range read.all {
		if a.Status == application.Active {
			answer.EnabledCount++
		}
	}
	answer.ApplicationCount, answer.OwnerCount = int64(len(read.all)), int64(read.ownerCount)
	answer.Calling, answer.Failing = read.calling(), read.failing()
	answer.MetricsFields, answer.Daily = read.tokens.summary(read.usage.Summary), openapi.Each(read.usage.Daily, read.tokens.day)
	answer.Hours = hoursView(read.now)
	names, err := r.Catalog.Names(ctx)
	if err != nil {
		return answer, err
	}
	answer.Reasons, answer.Worst = read.reasons(), read.worst(names)
	answer.Now = read.failingNow(names)
	return answer, nil
}

// everyones is what is read of everyone for a page.
type everyones struct {
	*everyone
	usage    stats.Usage
	tokens   *tokenUsage
	now      stats.Now
	failures map[stats.Reason]*hit
}

// everyones reads usage, tokens, failures and the last hours, of one capability or, model nil, of all, and more beside them.
func (r *Report) everyones(ctx context.Context, days beijing.Range, model *string, known *openapi.Coverage, more ...func(context.Context, *everyone) error) (*everyones, error) {
	who, err := r.everyoneIn(ctx, days, model, known)
	if err != nil {
		return nil, err
	}
	read := &everyones{everyone: who}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		read.usage, err = r.Stats.EveryonesUsage(groupCtx, who.inUsage, days, model)
		return err
	})
	group.Go(func() (err error) {
		read.tokens, err = r.everyonesTokens(groupCtx, who.inRows, days, model)
		return err
	})
	group.Go(func() (err error) {
		read.now, err = r.Stats.Now(groupCtx, who.inRows, model)
		return err
	})
	group.Go(func() (err error) {
		failing, err := r.Stats.Failures(groupCtx, days, model)
		read.failures = who.hitsOf(failing)
		return err
	})
	for _, also := range more {
		group.Go(func() error { return also(groupCtx, who) })
	}
	return read, group.Wait()
}

// everyonesTokens is tokenUsage of everyone.
func (r *Report) everyonesTokens(ctx context.Context, who stats.Everyone, days beijing.Range, model *string) (*tokenUsage, error) {
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	u := newTokenUsage(book)
	return u, r.Stats.EveryonesTokens(ctx, who, days, model, book.UpstreamModels(), u.add)
}

func hoursView(now stats.Now) openapi.RecentHours {
	return openapi.RecentHours{Until: beijing.Format(now.Until), LastHour: hourView(now.All.Last), HourBefore: hourView(now.All.Before)}
}

func hourView(f stats.HourFigures) openapi.HourFigures {
	view := openapi.HourFigures{Calls: f.Calls, Failures: f.Failures, P95Ms: f.P95Ms}
	if f.Calls > 0 {
		rate := float64((f.Calls-f.Failures)*10_000/f.Calls) / 10_000
		view.SuccessRate = &rate
	}
	return view
}
