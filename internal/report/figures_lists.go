package report

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// FiguresChoice is which owners or applications administrators list, and in which order.
type FiguresChoice struct {
	Days       beijing.Range
	Text       string     // part of an owner's address, or of an application's name or id, in lower case
	Order      string     // ByCalls, ByFailures, ByFailureRate, ByTokens or ByCost
	Currency   string     // of ByCost; empty: the one of most priced calls
	Owner      *uuid.UUID // of applications; nil: all
	Page, Size int        // from 1; 1 to 100
}

// standing is what a list is ordered by.
type standing struct {
	calls, failures int64
	tokens          int64 // input and output
	cost            decimal.Decimal
}

// failureRate is of all calls; 0 without any.
func (s standing) failureRate() float64 {
	if s.calls == 0 {
		return 0
	}
	return float64(s.failures) / float64(s.calls)
}

// standings are those of the callers, and the currency of their costs.
func (r *Report) standings(ctx context.Context, who *everyone, by FiguresChoice) (of map[uuid.UUID]standing, code string, err error) {
	of = make(map[uuid.UUID]standing, len(who.callers))
	for _, caller := range who.callers {
		of[caller.Application] = standing{calls: caller.Calls, failures: caller.Failures}
	}
	if by.Order != ByCost && by.Order != ByTokens {
		return of, "", nil
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return nil, "", err
	}
	spent := newPricedBy[uuid.UUID](book)
	spans := openapi.Each(book.Spans(by.Days), func(r beijing.Range) beijing.Day { return r.Start })
	err = r.Stats.EveryonesSpent(ctx, by.Days, spans, book.UpstreamModels(), func(row *stats.ModelTokens) {
		if who.exists(row.Application) {
			spent.add(row.Application, row)
			s := of[row.Application]
			s.tokens += row.Input.N + row.Output.N
			of[row.Application] = s
		}
	})
	if err != nil || by.Order == ByTokens {
		return of, "", err
	}
	if code = by.Currency; code == "" {
		code = mostPriced(spent)
	}
	for id, p := range spent.of {
		for _, cost := range p.sum.Costs() {
			if cost.Currency == code {
				s := of[id]
				s.cost = cost.Amount
				of[id] = s
			}
		}
	}
	return of, code, nil
}

// mostPriced is the currency in which most calls are priced; of equals the first.
func mostPriced(spent pricedBy[uuid.UUID]) (most string) {
	calls := map[string]int64{}
	for _, p := range spent.of {
		for _, cost := range p.sum.Costs() {
			if cost.Currency != "" {
				calls[cost.Currency] += cost.PricedCalls
			}
		}
	}
	for code, n := range calls {
		if most == "" || n > calls[most] || n == calls[most] && code < most {
			most = code
		}
	}
	return most
}

// compare orders by what is chosen, descending.
func (by FiguresChoice) compare(a, b standing) int {
	switch by.Order {
	case ByFailures:
		return cmp.Compare(b.failures, a.failures)
	case ByFailureRate:
		return cmp.Or(cmp.Compare(b.failureRate(), a.failureRate()), cmp.Compare(b.failures, a.failures))
	case ByTokens:
		return cmp.Compare(b.tokens, a.tokens)
	case ByCost:
		return b.cost.Cmp(a.cost)
	}
	return cmp.Compare(b.calls, a.calls)
}

// pageIn cuts a page out of a list; pages count from 1.
func pageIn[T any](list []T, page, size int) []T {
	first := min(int64(page-1)*int64(size), int64(len(list)))
	return list[first:min(first+int64(size), int64(len(list)))]
}

// ApplicationFigures answers listApplicationFigures: a page of the figures of all applications, as chosen.
func (r *Report) ApplicationFigures(ctx context.Context, by FiguresChoice) (answer openapi.ApplicationFiguresPage, err error) {
	who, err := r.everyoneIn(ctx, by.Days, nil, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	standings, code, err := r.standings(ctx, who, by)
	if err != nil {
		return answer, err
	}
	list := slices.DeleteFunc(slices.Clone(who.all), func(a application.Owned) bool {
		return by.Owner != nil && a.OwnerID != *by.Owner || !strings.Contains(strings.ToLower(a.Name), by.Text) &&
			!strings.Contains(a.ID.String(), by.Text) && !strings.Contains(a.Email, by.Text)
	})
	slices.SortStableFunc(list, func(a, b application.Owned) int { return by.compare(standings[a.ID], standings[b.ID]) })
	shown := pageIn(list, by.Page, by.Size)
	groups := openapi.Each(shown, func(a application.Owned) []uuid.UUID { return []uuid.UUID{a.ID} })
	figures, err := r.groupFigures(ctx, groups, by.Days)
	if err != nil {
		return answer, err
	}
	answer.PageFields, answer.Currency = openapi.PageOf(by.Page, by.Size, len(list)), openapi.TextOrNull(code)
	answer.Items = []openapi.ApplicationFigures{}
	for i, a := range shown {
		answer.Items = append(answer.Items, openapi.ApplicationFigures{
			ID: a.ID, Name: a.Name, Status: a.Status, Owner: openapi.User{ID: a.OwnerID, Email: a.Email}, MetricsFields: figures[i],
		})
	}
	return answer, nil
}

// groupFigures are the figures of groups of applications.
func (r *Report) groupFigures(ctx context.Context, groups [][]uuid.UUID, days beijing.Range) ([]openapi.MetricsFields, error) {
	usage, err := r.Stats.GroupTotals(ctx, groups, days)
	if err != nil {
		return nil, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	place := map[uuid.UUID]int{}
	var ids []uuid.UUID
	for i, group := range groups {
		for _, id := range group {
			place[id], ids = i, append(ids, id)
		}
	}
	tokens := newPricedBy[int](book)
	spans := openapi.Each(book.Spans(days), func(r beijing.Range) beijing.Day { return r.Start })
	for some := range slices.Chunk(ids, tokensAtOnce) {
		err := r.Stats.SpanTokens(ctx, some, days, spans, book.UpstreamModels(), func(row *stats.ModelTokens) { tokens.add(place[row.Application], row) })
		if err != nil {
			return nil, err
		}
	}
	figures := make([]openapi.MetricsFields, len(groups))
	for i := range groups {
		figures[i] = tokens.at(i).beside(usage[i])
	}
	return figures, nil
}

// tokensAtOnce bounds the applications of one question.
const tokensAtOnce = 2_000
