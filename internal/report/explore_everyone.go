package report

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// mostOwned is how many applications the owners may have together that are told apart; those of the others are among all others.
const mostOwned = 10_000

// ExploreEveryones answers exploreEveryones: Explore of all applications that exist, or of some of them, as
// the other figures of administrators are. Which table has the answer is told at stats.Explored.
func (r *Report) ExploreEveryones(ctx context.Context, q Question) (answer openapi.Exploration, err error) {
	asked := q.Range
	if q.Compare != nil {
		asked.Start = min(asked.Start, q.Compare.Start)
	}
	who, err := r.everyoneIn(ctx, asked, q.Only.Model, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	known, err := r.Ledger.EveryonesCoverage(ctx, q.Range)
	if err != nil {
		return answer, err
	}
	var calls beijing.Day
	if answer.Coverage, calls, err = r.coverageView(ctx, known, q.Range); err != nil {
		return answer, err
	}
	if q.FromCalls() {
		answer.RetainedFrom = calls
	}
	q.Everyone = &stats.Explorers{InUsage: who.inUsage, InRows: who.inRows}
	if q.Owner != nil || q.Applications != nil {
		q.Applications = who.chosen(q.Owner, q.Applications)
	}
	var owners map[string]uuid.UUID
	if q.GroupBy == stats.PerOwner {
		owners = make(map[string]uuid.UUID, len(who.callers))
		for _, caller := range who.callers {
			owners[caller.Application.String()] = who.all[who.place[caller.Application]].OwnerID
		}
	}
	return answer, r.explore(ctx, q, owners, &answer, func([]string) (map[string]string, error) { return r.everyonesLabels(ctx, q.GroupBy, who) })
}

// chosen are those of an owner, nil being anybody, that are named, or, nil, all of his.
func (e *everyone) chosen(owner *uuid.UUID, named []uuid.UUID) []uuid.UUID {
	ids := []uuid.UUID{}
	for _, a := range e.all {
		if (owner == nil || a.OwnerID == *owner) && (named == nil || slices.Contains(named, a.ID)) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func (r *Report) everyonesLabels(ctx context.Context, by stats.Dimension, who *everyone) (names map[string]string, err error) {
	names = map[string]string{}
	switch by {
	case stats.PerApplication:
		for _, a := range who.all {
			names[a.ID.String()] = a.Name + " · " + a.Email
		}
	case stats.PerOwner:
		for _, a := range who.all {
			names[a.OwnerID.String()] = a.Email
		}
	case stats.PerCapability:
		return r.Catalog.Names(ctx)
	case stats.PerUpstream:
		return r.upstreamNames(ctx)
	}
	return names, nil
}

// eachOf asks for the whole of each group of everyone's, owners by their applications: what is in no rollup is added up here.
func (q *Question) eachOf() stats.Explored {
	of := q.Explored
	of.Interval, of.Durations, of.Each = stats.Whole, stats.NoDurations, true
	if of.GroupBy == stats.PerOwner {
		of.GroupBy = stats.PerApplication
	}
	return of
}

// groupOf is the group of a question that a group of eachOf is of; false where an application's owner is not known yet.
func (q *Question) groupOf(group string, owners map[string]uuid.UUID) (string, bool) {
	if q.GroupBy != stats.PerOwner {
		return group, true
	}
	owner, known := owners[group]
	return owner.String(), known
}

// choose cuts the groups down to those that are told apart, and has their applications asked for where they are owners.
func (q *Question) choose(owners map[string]uuid.UUID, groups []string) []string {
	groups = groups[:min(q.Top, len(groups))]
	if q.GroupBy != stats.PerOwner {
		return groups
	}
	owned := map[string][]stats.Owned{}
	for application, owner := range owners {
		owned[owner.String()] = append(owned[owner.String()], stats.Owned{Application: uuid.MustParse(application), Owner: owner})
	}
	return slices.DeleteFunc(groups, func(owner string) bool {
		tooMany := len(q.Owned)+len(owned[owner]) > mostOwned
		if !tooMany {
			q.Owned = append(q.Owned, owned[owner]...)
		}
		return tooMany
	})
}

// foremost gives the groups that come first.
func (r *Report) foremost(ctx context.Context, q *Question, owners map[string]uuid.UUID, by stats.Rank) ([]string, error) {
	if q.GroupBy != stats.PerOwner {
		return r.Stats.Foremost(ctx, q.Explored, by, q.Top)
	}
	figures, err := r.Stats.Explore(ctx, q.eachOf(), nil)
	if err != nil {
		return nil, err
	}
	sums := map[string]int64{}
	for at, f := range figures {
		if owner, known := q.groupOf(at.Group, owners); known && !at.All {
			sums[owner] += by.Of(f)
		}
	}
	return q.choose(owners, slices.SortedFunc(maps.Keys(sums), func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })), nil
}
