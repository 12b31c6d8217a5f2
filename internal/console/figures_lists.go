package console

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"golang.org/x/text/currency"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// figuresChoice is which owners or applications administrators list, and in which order.
type figuresChoice struct {
	days       beijing.Range
	text       string // in lower case
	order      string // byCalls, byFailures, byFailureRate, byTokens or byCost
	currency   string // of byCost; empty: the one of most priced calls
	owner      *uuid.UUID
	page, size int
}

const (
	byFailureRate = "failureRate"
	byTokens      = "tokens"
	byCost        = "cost"
)

func (c *Console) figuresOf(ctx *fiber.Ctx) (by figuresChoice, err error) {
	if by.days, err = c.daysOf(ctx); err != nil {
		return by, err
	}
	if by.page, by.size, err = pageAndSize(ctx); err != nil {
		return by, err
	}
	if by.text, err = textParam(ctx, "q"); err != nil {
		return by, err
	}
	wrong := fault.Fields{}
	wrong.Text("q", by.text, 0, maxSought)
	by.text = strings.ToLower(by.text)
	switch order := ctx.Query("sort"); order {
	case "":
		by.order = byCalls
	case byCalls, byFailures, byFailureRate, byTokens, byCost:
		by.order = strings.Clone(order)
	default:
		wrong.Add("sort", "must be calls, failures, failureRate, tokens or cost")
	}
	if by.currency = strings.Clone(ctx.Query("currency")); by.currency != "" {
		if unit, err := currency.ParseISO(by.currency); err != nil || unit.String() != by.currency {
			wrong.Add("currency", "must be an ISO 4217 code in capitals, such as CNY or USD")
		}
	}
	if text := ctx.Query("owner"); text != "" {
		id, err := uuid.Parse(text)
		if err != nil || len(text) != 36 {
			wrong.Add("owner", "must be the id of a user")
		}
		by.owner = &id
	}
	return by, wrong.Err()
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
func (c *Console) standings(ctx context.Context, who *everyone, by figuresChoice) (of map[uuid.UUID]standing, code string, err error) {
	of = make(map[uuid.UUID]standing, len(who.callers))
	for _, caller := range who.callers {
		of[caller.Application] = standing{calls: caller.Calls, failures: caller.Failures}
	}
	if by.order != byCost && by.order != byTokens {
		return of, "", nil
	}
	book, err := c.Pricing.Book(ctx)
	if err != nil {
		return nil, "", err
	}
	spent := newPricedBy[uuid.UUID](book)
	spans := each(book.Spans(by.days), func(r beijing.Range) beijing.Day { return r.Start })
	err = c.Stats.EveryonesSpent(ctx, by.days, spans, book.UpstreamModels(), func(row *stats.ModelTokens) {
		if who.exists(row.Application) {
			spent.add(row.Application, row)
			s := of[row.Application]
			s.tokens += row.Input.N + row.Output.N
			of[row.Application] = s
		}
	})
	if err != nil || by.order == byTokens {
		return of, "", err
	}
	if code = by.currency; code == "" {
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
func (by figuresChoice) compare(a, b standing) int {
	switch by.order {
	case byFailures:
		return cmp.Compare(b.failures, a.failures)
	case byFailureRate:
		return cmp.Or(cmp.Compare(b.failureRate(), a.failureRate()), cmp.Compare(b.failures, a.failures))
	case byTokens:
		return cmp.Compare(b.tokens, a.tokens)
	case byCost:
		return b.cost.Cmp(a.cost)
	}
	return cmp.Compare(b.calls, a.calls)
}

// pageIn cuts a page out of a list.
func pageIn[T any](list []T, by figuresChoice) []T {
	first := min(int64(by.page-1)*int64(by.size), int64(len(list)))
	return list[first:min(first+int64(by.size), int64(len(list)))]
}

func (c *Console) listApplicationFigures(ctx *fiber.Ctx) (any, error) {
	by, err := c.figuresOf(ctx)
	if err != nil {
		return nil, err
	}
	return c.applicationFigures(ctx.UserContext(), by)
}

// ApplicationFigures answers a page of the figures of all applications, a hundred at a time, the most called first.
func (c *Console) ApplicationFigures(ctx context.Context, days beijing.Range, page int) (openapi.ApplicationFiguresPage, error) {
	return c.applicationFigures(ctx, figuresChoice{days: days, order: byCalls, page: page, size: maxSize})
}

func (c *Console) applicationFigures(ctx context.Context, by figuresChoice) (answer openapi.ApplicationFiguresPage, err error) {
	who, err := c.everyoneIn(ctx, by.days, nil, &answer.Coverage)
	if err != nil {
		return answer, err
	}
	standings, code, err := c.standings(ctx, who, by)
	if err != nil {
		return answer, err
	}
	list := slices.DeleteFunc(slices.Clone(who.all), func(a application.Owned) bool {
		return by.owner != nil && a.OwnerID != *by.owner || !strings.Contains(strings.ToLower(a.Name), by.text) &&
			!strings.Contains(a.ID.String(), by.text) && !strings.Contains(a.Email, by.text)
	})
	slices.SortStableFunc(list, func(a, b application.Owned) int { return by.compare(standings[a.ID], standings[b.ID]) })
	shown := pageIn(list, by)
	groups := each(shown, func(a application.Owned) []uuid.UUID { return []uuid.UUID{a.ID} })
	figures, err := c.groupFigures(ctx, groups, by.days)
	if err != nil {
		return answer, err
	}
	answer.PageFields, answer.Currency = pageFields(by.page, by.size, len(list)), told(code)
	answer.Items = []openapi.ApplicationFigures{}
	for i, a := range shown {
		answer.Items = append(answer.Items, openapi.ApplicationFigures{
			ID: a.ID, Name: a.Name, Status: a.Status, Owner: openapi.User{ID: a.OwnerID, Email: a.Email}, MetricsFields: figures[i],
		})
	}
	return answer, nil
}

// groupFigures are the figures of groups of applications.
func (c *Console) groupFigures(ctx context.Context, groups [][]uuid.UUID, days beijing.Range) ([]openapi.MetricsFields, error) {
	usage, err := c.Stats.GroupTotals(ctx, groups, days)
	if err != nil {
		return nil, err
	}
	book, err := c.Pricing.Book(ctx)
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
	spans := each(book.Spans(days), func(r beijing.Range) beijing.Day { return r.Start })
	for some := range slices.Chunk(ids, tokensAtOnce) {
		err := c.Stats.SpanTokens(ctx, some, days, spans, book.UpstreamModels(), func(row *stats.ModelTokens) { tokens.add(place[row.Application], row) })
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
