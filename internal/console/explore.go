package console

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/calls"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/report"
	"callgate/internal/stats"
)

// What a question of explore may ask for.
const (
	mostExploredGroups = 50
	exploredGroups     = 10
)

var dimensions = []stats.Dimension{stats.Ungrouped, stats.PerApplication, stats.PerCapability, stats.PerUpstreamModel, stats.PerKey, stats.PerStatus,
	stats.PerReason, stats.PerEnding, stats.PerUser}

// everyonesDimensions are those of administrators, who see no keys, tags or users of calls.
var everyonesDimensions = []stats.Dimension{stats.Ungrouped, stats.PerApplication, stats.PerOwner, stats.PerCapability, stats.PerUpstreamModel, stats.PerUpstream,
	stats.PerStatus, stats.PerReason, stats.PerEnding}

var intervals = []stats.Interval{stats.Whole, stats.Hourly, stats.Daily, stats.Weekly, stats.Monthly}

func (c *Console) explore(ctx *fiber.Ctx) (any, error) {
	return c.explored(ctx)
}

// exportExploration is explore as CSV.
func (c *Console) exportExploration(ctx *fiber.Ctx) (any, error) {
	answer, err := c.explored(ctx)
	if err != nil {
		return nil, err
	}
	return c.explorationFile(ctx, answer)
}

func (c *Console) explorationFile(ctx *fiber.Ctx, answer openapi.Exploration) (any, error) {
	name := "explore-" + answer.Start.String() + "-" + answer.End.String() + ".csv"
	return c.csvFile(ctx, name, func(_ context.Context, to io.Writer) error { return report.WriteExploration(to, answer) })
}

func (c *Console) explored(ctx *fiber.Ctx) (answer openapi.Exploration, err error) {
	q, err := c.explorationOf(ctx)
	if err != nil {
		return answer, err
	}
	return c.Report.Explore(ctx.UserContext(), principal(ctx).UserID, q)
}

func (c *Console) exploreEveryones(ctx *fiber.Ctx) (any, error) {
	return c.everyonesExplored(ctx)
}

// exportEveryonesExploration is exploreEveryones as CSV.
func (c *Console) exportEveryonesExploration(ctx *fiber.Ctx) (any, error) {
	answer, err := c.everyonesExplored(ctx)
	if err != nil {
		return nil, err
	}
	return c.explorationFile(ctx, answer)
}

func (c *Console) everyonesExplored(ctx *fiber.Ctx) (answer openapi.Exploration, err error) {
	q, err := c.everyonesExplorationOf(ctx)
	if err != nil {
		return answer, err
	}
	return c.Report.ExploreEveryones(ctx.UserContext(), q)
}

// explorationOf reads a developer's question.
func (c *Console) explorationOf(ctx *fiber.Ctx) (q report.Question, err error) {
	if q.Range, err = c.daysOf(ctx); err != nil {
		return q, err
	}
	if err := c.narrow(ctx, &q.Only); err != nil {
		return q, err
	}
	wrong := fault.Fields{}
	for name, given := range map[string]bool{"text": q.Only.Outcome.Text != "", "message": q.Only.Outcome.Message != ""} {
		if given {
			wrong.Add(name, "cannot be asked for here; the list of calls can")
		}
	}
	q.GroupBy = stats.Dimension(strings.Clone(ctx.Query("groupBy")))
	if tag, isTag := strings.CutPrefix(string(q.GroupBy), "tag:"); isTag && calls.IsTagName(tag) {
		q.GroupBy, q.Tag = stats.PerTag, tag
	} else if !slices.Contains(dimensions, q.GroupBy) {
		wrong.Add("groupBy", "must be application, capability, upstreamModel, key, status, reason, endedBy, user, tag:name, or left out")
	}
	asked(ctx, &q, wrong)
	return q, wrong.Err()
}

// everyonesExplorationOf reads an administrator's question.
func (c *Console) everyonesExplorationOf(ctx *fiber.Ctx) (q report.Question, err error) {
	if q.Range, q.Only.Model, err = c.daysAndModel(ctx); err != nil {
		return q, err
	}
	if err := outcomeOf(ctx, &q.Only); err != nil {
		return q, err
	}
	wrong := fault.Fields{}
	for _, name := range []string{"key", "tag", "user", "text", "message"} {
		if ctx.Context().QueryArgs().Has(name) {
			wrong.Add(name, "is for the owners of the calls alone")
		}
	}
	if q.GroupBy = stats.Dimension(strings.Clone(ctx.Query("groupBy"))); !slices.Contains(everyonesDimensions, q.GroupBy) {
		wrong.Add("groupBy", "must be application, owner, capability, upstreamModel, upstream, status, reason, endedBy, or left out")
	}
	q.Owner = ownerParam(ctx, wrong)
	q.Everyone = &stats.Explorers{}
	asked(ctx, &q, wrong)
	return q, wrong.Err()
}

// asked reads what developers and administrators ask alike.
func asked(ctx *fiber.Ctx, q *report.Question, wrong fault.Fields) {
	q.Metric = strings.Clone(ctx.Query("metric", "calls"))
	if _, known := report.Metrics[q.Metric]; !known {
		wrong.Add("metric", "must be one of %s", strings.Join(slices.Sorted(maps.Keys(report.Metrics)), ", "))
	}
	if q.Interval = stats.Interval(strings.Clone(ctx.Query("interval"))); !slices.Contains(intervals, q.Interval) {
		wrong.Add("interval", "must be hour, day, week or month, or left out")
	}
	var err error
	if q.Top, err = strconv.Atoi(ctx.Query("top", strconv.Itoa(exploredGroups))); err != nil || q.Top < 1 || q.Top > mostExploredGroups {
		wrong.Add("top", "must be an integer from 1 to %d", mostExploredGroups)
	}
	if q.Currency = strings.Clone(ctx.Query("currency")); q.Currency != "" {
		pricing.CheckCurrency(wrong, "currency", q.Currency)
	}
	q.Durations, q.Wanted = report.Metrics[q.Metric].Durations, report.Metrics[q.Metric].Wanted()
	switch how := ctx.Query("compare"); how {
	case "":
	case "previous", "month":
		compared := report.ComparedWith(q.Range, how)
		q.Compare = &compared
	default:
		wrong.Add("compare", "must be previous or month, or left out")
	}
	q.Applications = applicationsOf(ctx, wrong)
	if q.ReadsMuch() && q.Range.Days() > mostReadDays {
		wrong.Add("start", "must be at most %d days before the end in a question by hour, of durations, or of tags, users, upstreams or times of day, for much is read", mostReadDays-1)
	}
}
