package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/stats"
)

// question is one request as one account, or as an administrator.
type question struct {
	path    string
	account int
}

// kind is a row of the table: distinct questions of one sort.
type kind struct {
	name   string
	goal   time.Duration // 0: none, it shows the noise of the machine
	growth bool          // the goal holds at any size, so ten times the rows may cost at most 1.5 times as much
	draw   func(ctx context.Context, random *rand.Rand) (question, error)
}

// The goals of the table.
const (
	overviewGoal    = 90 * time.Millisecond
	applicationGoal = 50 * time.Millisecond
	pageGoal        = 50 * time.Millisecond // up to 1 M calls an hour
	crowdedGoal     = 150 * time.Millisecond
)

func (b *bench) kinds(c *console) []kind {
	all := []kind{
		{"no statistics: who is signed in", 0, false, func(_ context.Context, random *rand.Rand) (question, error) {
			account := random.IntN(len(b.Accounts))
			return question{"/api/auth/me?" + b.nearlyAll(random).Encode(), account}, nil
		}},
		{"overview of 50 applications", overviewGoal, true, func(_ context.Context, random *rand.Rand) (question, error) {
			account := random.IntN(len(b.Accounts))
			return question{"/api/statistics/applications/overview?" + b.nearlyAll(random).Encode(), account}, nil
		}},
		{"list of applications, any page", 0, true, func(_ context.Context, random *rand.Rand) (question, error) {
			query := b.nearlyAll(random)
			query.Set("page", strconv.Itoa(1+random.IntN(accountSize/stats.PageSize)))
			return question{"/api/statistics/applications?" + query.Encode(), random.IntN(len(b.Accounts))}, nil
		}},
		{"application: summary, series, models", applicationGoal, true, func(_ context.Context, random *rand.Rand) (question, error) {
			of := b.Owned[b.rank(random, 0)]
			return question{fmt.Sprintf("/api/statistics/applications/%s?%s", of.ID, b.nearlyAll(random).Encode()), of.Account}, nil
		}},
	}
	for _, filter := range []struct {
		name  string
		apply filter
	}{
		{"", func(*rand.Rand, url.Values) {}}, {", one model", ofModel}, {", failures", onlyFailures},
		{", failures of one model", func(random *rand.Rand, query url.Values) { ofModel(random, query); onlyFailures(random, query) }},
	} {
		all = append(all,
			kind{"call flow" + filter.name, pageGoal, true, func(ctx context.Context, random *rand.Rand) (question, error) {
				return b.page(ctx, c, random, b.usual, filter.apply)
			}},
			kind{"call flow, crowded hour" + filter.name, crowdedGoal, false, func(ctx context.Context, random *rand.Rand) (question, error) {
				return b.page(ctx, c, random, b.crowded, filter.apply)
			}})
	}
	all = append(all, kind{"failure detail", 0, true, func(ctx context.Context, random *rand.Rand) (question, error) {
		return b.failure(ctx, c, random)
	}})
	all = append(all, b.explorer(c)...)
	all = append(all, b.explore()...)
	all = append(all, b.everyonesKinds()...)
	return slices.DeleteFunc(all, func(k kind) bool { return !strings.HasPrefix(k.name, b.only) })
}

// rank draws an application from the given rank on, the first ones far more often.
func (b *bench) rank(random *rand.Rand, first int) int {
	span := float64(len(b.Owned) - first)
	u := random.Float64()
	return first + int(span*u*u*u)
}

// nearlyAll is a range of at most ten days less than all.
func (b *bench) nearlyAll(random *rand.Rand) url.Values {
	days := b.days - min(random.IntN(10), b.days-1)
	end := b.Today - beijing.Day(random.IntN(b.days-days+1))
	return daysOf(end-beijing.Day(days)+1, end)
}

func daysOf(start, end beijing.Day) url.Values {
	return url.Values{"start": {start.String()}, "end": {end.String()}}
}

// usual draws days of an application that has at most a hundredth of all calls in an hour; a third of
// the draws is around that hour.
func (b *bench) usual(random *rand.Rand) (owned, url.Values) {
	switch random.IntN(3) {
	case 0:
		day := b.busyDay()
		return b.Owned[1], daysOf(day-beijing.Day(random.IntN(60)), day+beijing.Day(random.IntN(3)))
	case 1:
		return b.Owned[1], b.nearlyAll(random)
	default:
		return b.Owned[b.rank(random, 2)], b.nearlyAll(random)
	}
}

// crowded draws days around the hour with a tenth of all calls.
func (b *bench) crowded(random *rand.Rand) (owned, url.Values) {
	day := b.crowdedDay()
	if random.IntN(4) == 0 {
		return b.Owned[0], b.nearlyAll(random)
	}
	return b.Owned[0], daysOf(day-beijing.Day(random.IntN(10)), day+beijing.Day(random.IntN(2)))
}

// filter adds a filter to the question for a page of a call flow.
type filter func(random *rand.Rand, query url.Values)

func ofModel(random *rand.Rand, query url.Values) {
	query.Set("model", "model-"+strconv.Itoa(1+random.IntN(models)))
}

func onlyFailures(_ *rand.Rand, query url.Values) { query.Set("result", string(stats.OnlyFailures)) }

// page draws a page of a call flow: the first, the last, or any.
func (b *bench) page(ctx context.Context, c *console, random *rand.Rand, days func(*rand.Rand) (owned, url.Values), narrow filter) (question, error) {
	of, query := days(random)
	narrow(random, query)
	path := fmt.Sprintf("/api/statistics/applications/%s/calls?", of.ID)
	var list struct {
		Total int `json:"total"`
	}
	if err := c.read(ctx, question{path + query.Encode(), of.Account}, &list); err != nil {
		return question{}, err
	}
	last := max(1, (list.Total+stats.PageSize-1)/stats.PageSize)
	page := []int{1, last, 1 + random.IntN(last), 1 + random.IntN(last)}[random.IntN(4)]
	query.Set("page", strconv.Itoa(page))
	return question{path + query.Encode(), of.Account}, nil
}

// failure draws a failed call.
func (b *bench) failure(ctx context.Context, c *console, random *rand.Rand) (question, error) {
	for {
		list, err := b.page(ctx, c, random, b.usual, onlyFailures)
		if err != nil {
			return question{}, err
		}
		var calls struct {
			Items []struct {
				CallID string `json:"callId"`
			} `json:"items"`
		}
		if err := c.read(ctx, list, &calls); err != nil {
			return question{}, err
		}
		if len(calls.Items) == 0 {
			continue
		}
		u, err := url.Parse(list.path)
		if err != nil {
			return question{}, err
		}
		return question{u.Path + "/" + calls.Items[random.IntN(len(calls.Items))].CallID, list.account}, nil
	}
}

// drawn gives distinct questions of a kind; fewer when there are not so many.
func (b *bench) drawn(ctx context.Context, k kind) ([]question, error) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same questions in every run
	seen := map[question]bool{}
	var questions []question
	for try := 0; len(questions) < b.questions && try < 20*b.questions; try++ {
		q, err := k.draw(ctx, random)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		if !seen[q] {
			seen[q] = true
			questions = append(questions, q)
		}
	}
	return questions, nil
}
