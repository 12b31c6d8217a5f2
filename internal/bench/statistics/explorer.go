package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"callgate/internal/beijing"
)

// The goals of the explorer's questions.
const (
	reasonsGoal = 40 * time.Millisecond
	hourlyGoal  = 25 * time.Millisecond
)

// explorer are the questions of why calls failed, of a day by the hour, and of pages filtered by outcome and time of day.
func (b *bench) explorer(c *console) []kind {
	all := []kind{
		{"reasons of 50 applications", reasonsGoal, true, func(_ context.Context, random *rand.Rand) (question, error) {
			return question{"/api/statistics/applications/overview/reasons?" + b.nearlyAll(random).Encode(), random.IntN(len(b.Accounts))}, nil
		}},
		{"reasons of an application", reasonsGoal, true, func(_ context.Context, random *rand.Rand) (question, error) {
			of := b.Owned[b.rank(random, 0)]
			return question{fmt.Sprintf("/api/statistics/applications/%s/reasons?%s", of.ID, b.nearlyAll(random).Encode()), of.Account}, nil
		}},
		{"a day of 50 applications by the hour", hourlyGoal, true, func(_ context.Context, random *rand.Rand) (question, error) {
			return question{"/api/statistics/applications/overview/hourly?" + b.anyDay(random).Encode(), random.IntN(len(b.Accounts))}, nil
		}},
		{"a day of an application by the hour", hourlyGoal, true, func(_ context.Context, random *rand.Rand) (question, error) {
			of := b.Owned[b.rank(random, 2)]
			return question{fmt.Sprintf("/api/statistics/applications/%s/hourly?%s", of.ID, b.anyDay(random).Encode()), of.Account}, nil
		}},
	}
	for _, filter := range []struct {
		name  string
		apply filter
	}{
		{"one reason", func(_ *rand.Rand, query url.Values) { query.Set("reason", "timeout:upstream_timeout") }},
		{"one status", func(_ *rand.Rand, query url.Values) { query.Set("status", "429") }},
		{"one status of upstream", func(_ *rand.Rand, query url.Values) { query.Set("upstreamStatus", "500") }},
		{"an hour of a day", anHour},
	} {
		all = append(all, kind{"filtered call flow, " + filter.name, pageGoal, true, func(ctx context.Context, random *rand.Rand) (question, error) {
			return b.page(ctx, c, random, b.usual, filter.apply)
		}})
	}
	return all
}

func (b *bench) anyDay(random *rand.Rand) url.Values {
	return url.Values{"day": {(b.Today - beijing.Day(random.IntN(b.days))).String()}}
}

// anHour is one of the last day of a query.
func anHour(random *rand.Rand, query url.Values) {
	hour := random.IntN(23)
	query.Set("from", fmt.Sprintf("%sT%02d:00:00+08:00", query.Get("end"), hour))
	query.Set("to", fmt.Sprintf("%sT%02d:00:00+08:00", query.Get("end"), hour+1))
}
