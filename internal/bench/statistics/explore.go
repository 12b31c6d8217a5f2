package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"callgate/internal/beijing"
)

// The goals of Explore, about the largest application.
const (
	monthGoal = 150 * time.Millisecond // 31 days, whatever is asked
	yearGoal  = 80 * time.Millisecond  // from the rollups
)

// readDays is how many days a question may be about that every call is read for.
const readDays = 31

// explore are Explore's questions about the largest application: from rollups, of what calls of a day have in common, of what every
// call is read for, and of percentiles.
func (b *bench) explore() []kind {
	var (
		counted = []string{"calls", "failures", "failureRate", "tokens", "outputTokens", "cachedTokens", "cost"}
		timed   = []string{"p50", "p95", "p99", "firstByteP95"}
		rolled  = []string{"", "application", "capability"}
		others  = []string{"upstreamModel", "key", "status", "reason", "endedBy"}
		shared  = slices.Concat(rolled, others)
		alone   = []string{"user", "tag:team", "tag:feature"}
	)
	one := func(random *rand.Rand, of []string) string { return of[random.IntN(len(of))] }
	about := func(random *rand.Rand, days int, metric, group, interval string) question {
		of := b.Owned[0]
		days = min(days, b.days)
		end := b.Today - beijing.Day(random.IntN(b.days-days+1))
		query := daysOf(end-beijing.Day(days)+1, end)
		for name, value := range map[string]string{"metric": metric, "groupBy": group, "interval": interval} {
			if value != "" {
				query.Set(name, value)
			}
		}
		query.Set("application", of.ID.String())
		if random.IntN(3) == 0 {
			ofModel(random, query)
		}
		return question{"/api/statistics/explore?" + query.Encode(), of.Account}
	}
	draw := func(days int, metrics, groups, intervals []string) func(context.Context, *rand.Rand) (question, error) {
		return func(_ context.Context, random *rand.Rand) (question, error) {
			return about(random, days, one(random, metrics), one(random, groups), one(random, intervals)), nil
		}
	}
	return []kind{
		{"explore, 31 days", monthGoal, true, draw(readDays, counted, shared, []string{"", "day", "week"})},
		{"explore, 31 days, by the hour", monthGoal, false, draw(readDays, counted, shared, []string{"hour"})},
		{"explore, 31 days, tags and users", monthGoal, false, draw(readDays, counted, alone, []string{"", "day"})},
		{"explore, 31 days, percentiles", monthGoal, false, draw(readDays, timed, shared, []string{"", "day"})},
		{"explore, a year", yearGoal, true, draw(beijing.MaxDays, append(slices.Clone(counted), timed[:3]...), rolled, []string{"", "day", "week", "month"})},
		{"explore, a year, by keys and outcomes", yearGoal, false, draw(beijing.MaxDays, counted, others, []string{"", "day", "week", "month"})},
	}
}
