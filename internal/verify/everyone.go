package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/report"
	"callgate/internal/stats"
)

// everyone is what was recounted of all accounts together, which administrators' figures are compared with.
type everyone struct {
	mu      sync.Mutex
	recount *recounted
	rows    map[tokensOf]tokenRow
	book    *pricing.Book
	why     dailyReasons
	ids     []uuid.UUID

	applications, owners map[uuid.UUID]openapi.MetricsFields
}

// tokensOf is what tokens of several applications are added up by: little, however many there are.
type tokensOf struct {
	day                   beijing.Day
	model, upstream, form string
}

// dailyReasons are reasons by Beijing day.
type dailyReasons map[string]reasons

func (d dailyReasons) add(c stats.Call) {
	day := c.StartTime[:len("2006-01-02")]
	if d[day] == nil {
		d[day] = reasons{}
	}
	d[day].add(c)
}

func (d dailyReasons) merge(others dailyReasons) {
	for day, more := range others {
		if d[day] == nil {
			d[day] = reasons{}
		}
		d[day].merge(more)
	}
}

// of are those of some days together.
func (d dailyReasons) of(days beijing.Range) reasons {
	sum := reasons{}
	for day, more := range d {
		if day >= days.Start.String() && day <= days.End.String() {
			sum.merge(more)
		}
	}
	return sum
}

func newEveryone() *everyone {
	return &everyone{recount: newRecounted(), rows: map[tokensOf]tokenRow{}, why: dailyReasons{},
		applications: map[uuid.UUID]openapi.MetricsFields{}, owners: map[uuid.UUID]openapi.MetricsFields{}}
}

// add takes in an account.
func (e *everyone) add(found *findings) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recount.merge(found.recount)
	for _, row := range found.counted.rows {
		of := tokensOf{row.Day, row.Model, row.UpstreamModel, row.form()}
		sum, there := e.rows[of]
		if !there {
			e.rows[of] = row
			continue
		}
		addTokens(&sum.rowTokens, row.rowTokens)
		sum.add(row.shape)
		sum.Counted += row.Counted
		e.rows[of] = sum
	}
	e.why.merge(found.why)
	e.ids = append(e.ids, found.ids...)
	maps.Copy(e.applications, found.totals)
	if len(found.ids) > 0 {
		e.owners[found.owner] = found.counted.summary(found.recount.summary())
	}
}

// tokens are those of some days.
func (e *everyone) tokens(days beijing.Range) *tokens {
	sum := &tokens{book: e.book}
	for _, row := range e.rows {
		if days.Contains(row.Day) {
			sum.rows = append(sum.rows, row)
		}
	}
	return sum
}

// compareEveryone compares administrators' figures with all accounts together. Days from which on calls arrived, or went
// with their application, since the accounts were recounted are left out.
func (v *verifier) compareEveryone(ctx context.Context, e *everyone, days beijing.Range) (err error) {
	if e.book, err = v.Pricing.Book(ctx); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		found := &findings{}
		if err := v.compareFigures(ctx, found, e, days); err != nil {
			return err
		}
		if found.differences == 0 {
			return nil
		}
		if attempt < v.attempts {
			if err := sleep(ctx, v.pause); err != nil {
				return err
			}
			continue
		}
		moved, err := v.movedOf(ctx, e, days)
		if err != nil {
			return err
		}
		if moved > days.End {
			v.add(found)
			return nil
		}
		v.mu.Lock()
		fmt.Fprintf(v.out, "everyone: calls keep arriving; compared before %s only\n", moved)
		v.mu.Unlock()
		if days.End = moved - 1; days.Days() < 1 {
			return nil
		}
		attempt = 0
	}
}

// movedOf is the first day of which the number of rows is no longer the one that was counted, or the day after the last.
func (v *verifier) movedOf(ctx context.Context, e *everyone, days beijing.Range) (beijing.Day, error) {
	now := map[beijing.Day]int64{}
	for ids := range slices.Chunk(e.ids, 1000) {
		counted, err := v.rowsPerDay(ctx, ids, days)
		if err != nil {
			return 0, err
		}
		for day, n := range counted {
			now[day] += n
		}
	}
	before := e.recount.callsPerDay()
	for day := range days.Each() {
		if now[day] != before[day] {
			return day, nil
		}
	}
	owners, err := v.Applications.Owners(ctx)
	if err != nil {
		return 0, err
	}
	exist := 0
	for _, owner := range owners {
		all, err := v.Applications.All(ctx, owner)
		if err != nil {
			return 0, err
		}
		exist += len(all)
	}
	if exist != len(e.ids) {
		return days.Start, nil
	}
	return days.End + 1, nil
}

// compareFigures asks each of the administrators' figures once.
func (v *verifier) compareFigures(ctx context.Context, found *findings, e *everyone, days beijing.Range) error {
	got, err := v.Answers.FiguresOverview(ctx, days)
	if err != nil {
		return err
	}
	usage, counted := e.recount.usage(days), e.tokens(days)
	want := got
	want.MetricsFields, want.Daily = counted.summary(e.recount.within(days)), each(usage.Daily, counted.day)
	found.compare("everyone overview", got, want)
	found.reasons("everyone overview", got.Worst.Failures,
		each(got.Worst.Items, func(f openapi.FiguresFailure) openapi.ReasonFields { return f.ReasonFields }), got.Worst.Other, e.why.of(days))
	if got.Reasons.Failures != got.Worst.Failures {
		found.differ("everyone overview", "%d failures by reason, %d by capability and reason", got.Reasons.Failures, got.Worst.Failures)
	}
	if err := v.compareInvoices(ctx, found, e, days); err != nil {
		return err
	}
	if !e.recount.all(days) {
		return nil // figures by capability are of all days that were recounted
	}
	if err := v.compareCapabilities(ctx, found, usage, counted, e.why.of(days), days); err != nil {
		return err
	}
	return v.compareLists(ctx, found, e, days)
}

// pageSize is the most that a page of figures may have.
const pageSize = 100

// compareLists reads every page of applications and owners.
func (v *verifier) compareLists(ctx context.Context, found *findings, e *everyone, days beijing.Range) error {
	listed := 0
	by := report.FiguresChoice{Days: days, Order: report.ByCalls, Size: pageSize}
	for by.Page = 1; ; by.Page++ {
		got, err := v.Answers.ApplicationFigures(ctx, by)
		if err != nil {
			return err
		}
		if len(got.Items) == 0 {
			break
		}
		listed += len(got.Items)
		for _, line := range got.Items {
			found.compare(fmt.Sprintf("everyone application %s", line.ID), line.MetricsFields, e.applications[line.ID])
		}
	}
	for by.Page = 1; ; by.Page++ {
		got, err := v.Answers.OwnerFigures(ctx, by)
		if err != nil {
			return err
		}
		if len(got.Items) == 0 {
			break
		}
		listed += len(got.Items)
		for _, line := range got.Items {
			found.compare(fmt.Sprintf("everyone owner %s", line.Owner.ID), line.MetricsFields, e.owners[line.Owner.ID])
		}
	}
	if listed != len(e.applications)+len(e.owners) {
		found.differ("everyone lists", "%d applications and owners are listed, %d exist", listed, len(e.applications)+len(e.owners))
	}
	return nil
}

func (v *verifier) compareCapabilities(ctx context.Context, found *findings, usage stats.Usage, counted *tokens, why reasons, days beijing.Range) error {
	list, err := v.Answers.CapabilityFiguresList(ctx, days)
	if err != nil {
		return err
	}
	recounted := map[string]stats.Metrics{}
	for _, m := range usage.Models {
		recounted[m.Model] = m.Metrics
	}
	listed := map[string]bool{}
	for _, line := range list.Items {
		listed[line.Model] = true
		want := line
		want.MetricsFields = counted.model(stats.ModelMetrics{Model: line.Model, Metrics: recounted[line.Model]}, "").MetricsFields
		found.compare(fmt.Sprintf("everyone capability %q", line.Model), line, want)
		if line.Status == nil {
			continue // has no page
		}
		if err := v.compareCapability(ctx, found, line.Model, want.MetricsFields, why, days); err != nil {
			return err
		}
	}
	for model := range recounted {
		if !listed[model] {
			found.differ("everyone capabilities", "%q is called in the rows and not listed", model)
		}
	}
	return nil
}

func (v *verifier) compareCapability(ctx context.Context, found *findings, model string, figures openapi.MetricsFields, why reasons, days beijing.Range) error {
	got, err := v.Answers.CapabilityFigures(ctx, model, days)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("everyone capability %q", model)
	want := got
	want.Summary = openapi.Metrics{MetricsFields: figures}
	found.compare(where, got, want)
	of := reasons{}
	for reason, seen := range why {
		if reason.model == model {
			of.count(reason, *seen)
		}
	}
	found.reasons(where, got.Reasons.Failures,
		each(got.Reasons.Items, func(f openapi.FiguresFailure) openapi.ReasonFields { return f.ReasonFields }), got.Reasons.Other, of)
	return nil
}
