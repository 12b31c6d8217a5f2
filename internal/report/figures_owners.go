package report

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"callgate/internal/openapi"
)

// ownerStanding is an owner with what the list is ordered by.
type ownerStanding struct {
	standing
	user         openapi.User
	applications []uuid.UUID
	calling      int64 // of these
}

// OwnerFigures answers listOwnerFigures: a page of the figures of all owners, as chosen.
func (r *Report) OwnerFigures(ctx context.Context, by FiguresChoice) (answer openapi.OwnerFiguresPage, err error) {
	who, err := r.everyoneIn(ctx, by.Days, nil, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	standings, code, err := r.standings(ctx, who, by)
	if err != nil {
		return answer, err
	}
	list := slices.DeleteFunc(who.owners(standings), func(o *ownerStanding) bool { return !strings.Contains(o.user.Email, by.Text) })
	slices.SortFunc(list, func(a, b *ownerStanding) int {
		return cmp.Or(by.compare(a.standing, b.standing), cmp.Compare(a.user.Email, b.user.Email))
	})
	shown := pageIn(list, by.Page, by.Size)
	figures, err := r.groupFigures(ctx, openapi.Each(shown, func(o *ownerStanding) []uuid.UUID { return o.applications }), by.Days)
	if err != nil {
		return answer, err
	}
	answer.PageFields, answer.Currency = openapi.PageOf(by.Page, by.Size, len(list)), openapi.TextOrNull(code)
	answer.Items = []openapi.OwnerFigures{}
	for i, o := range shown {
		answer.Items = append(answer.Items, openapi.OwnerFigures{
			Owner: o.user, ApplicationCount: int64(len(o.applications)), CallingCount: o.calling, MetricsFields: figures[i],
		})
	}
	return answer, nil
}

// owners are all owners with their applications.
func (e *everyone) owners(standings map[uuid.UUID]standing) (list []*ownerStanding) {
	by := map[uuid.UUID]*ownerStanding{}
	for _, a := range e.all {
		o := by[a.OwnerID]
		if o == nil {
			o = &ownerStanding{user: openapi.User{ID: a.OwnerID, Email: a.Email}}
			by[a.OwnerID], list = o, append(list, o)
		}
		s := standings[a.ID]
		o.applications = append(o.applications, a.ID)
		o.calls, o.failures, o.tokens, o.cost = o.calls+s.calls, o.failures+s.failures, o.tokens+s.tokens, o.cost.Add(s.cost)
		if s.calls > 0 {
			o.calling++
		}
	}
	return list
}
