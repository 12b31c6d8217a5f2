package report

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// ApplicationKeys answers getApplicationKeys: the figures of an owner's application by its keys, of each by capability and, where
// daily, by day.
func (r *Report) ApplicationKeys(ctx context.Context, owner, id uuid.UUID, days beijing.Range, daily bool) (answer openapi.ApplicationKeys, err error) {
	keys, err := r.Applications.Keys(ctx, owner, id)
	if err != nil {
		return answer, err
	}
	if answer.Coverage, err = r.coverageOf(ctx, []uuid.UUID{id}, days); err != nil {
		return answer, err
	}
	uses, err := r.Stats.LastUses(ctx, id)
	if err != nil {
		return answer, err
	}
	book, err := r.Pricing.Book(ctx)
	if err != nil {
		return answer, err
	}
	names, err := r.Catalog.Names(ctx)
	if err != nil {
		return answer, err
	}
	used, err := r.keyUsage(ctx, book, id, slices.Collect(maps.Keys(uses)), days, daily)
	if err != nil {
		return answer, err
	}
	for _, k := range keys {
		row := used.row(k.ID, names, daily)
		row.Name, row.First, row.MaskedAccessKey = &k.Name, k.First, &k.Mask
		answer.Items = append(answer.Items, row)
	}
	for key, of := range used.byKey {
		if of.total > 0 && !slices.ContainsFunc(keys, func(k application.Key) bool { return k.ID == key }) {
			answer.Items = append(answer.Items, used.row(key, names, daily))
		}
	}
	for i, row := range answer.Items {
		answer.Items[i].LastUsedAt = openapi.TextOrNull(uses[row.ID])
	}
	slices.SortStableFunc(answer.Items, func(a, b openapi.KeyUsage) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(uses[b.ID], uses[a.ID]))
	})
	return answer, nil
}

// keyUsage is what keys did and used: each by itself, by capability and by day.
type keyUsage struct {
	book    *pricing.Book
	byKey   map[uuid.UUID]*keyFigures
	byModel map[keyPart[string]]*keyFigures
	byDay   map[keyPart[beijing.Day]]*keyFigures // where days were asked for
}

type keyPart[K comparable] struct {
	key uuid.UUID
	of  K
}

// keyFigures are those of some calls.
type keyFigures struct {
	total, failed int64
	meters        map[string]int64
	sum           *pricing.Sum
}

func (r *Report) keyUsage(ctx context.Context, book *pricing.Book, id uuid.UUID, keys []uuid.UUID, days beijing.Range, daily bool) (keyUsage, error) {
	used := keyUsage{book, map[uuid.UUID]*keyFigures{}, map[keyPart[string]]*keyFigures{}, map[keyPart[beijing.Day]]*keyFigures{}}
	spans := openapi.Each(book.Spans(days), func(r beijing.Range) beijing.Day { return r.Start })
	if daily {
		spans = slices.Collect(days.Each())
	}
	return used, r.Stats.KeyTokens(ctx, []uuid.UUID{id}, keys, days, spans, book.UpstreamModels(), func(u *stats.KeyUsage) {
		of := pricing.Usage{Capability: u.Model, UpstreamModel: u.UpstreamModel, Day: u.Day, Calls: u.Calls}
		metered(&of, u.Metered)
		charge := book.Charge(of)
		figuresAt(used.byKey, book, u.Key).add(u, charge)
		figuresAt(used.byModel, book, keyPart[string]{u.Key, u.Model}).add(u, charge)
		if daily {
			figuresAt(used.byDay, book, keyPart[beijing.Day]{u.Key, u.Day}).add(u, charge)
		}
	})
}

// figuresAt are those under a label, empty at first.
func figuresAt[K comparable](all map[K]*keyFigures, book *pricing.Book, label K) *keyFigures {
	found := all[label]
	if found == nil {
		found = &keyFigures{meters: map[string]int64{}, sum: book.Sum()}
		all[label] = found
	}
	return found
}

func (f *keyFigures) add(u *stats.KeyUsage, charge pricing.Charge) {
	f.total, f.failed = f.total+u.Total, f.failed+u.Failed
	for name, n := range u.Meters {
		f.meters[name] += n
	}
	if u.Calls != 0 || u.Meters != nil {
		f.sum.Add(charge)
	}
}

func (f *keyFigures) view() openapi.KeyMetricsFields {
	m := stats.NewMetrics(f.total, f.total-f.failed, 0, nil)
	return openapi.KeyMetricsFields{
		Calls: m.Calls, Successes: m.Successes, Failures: m.Failures, SuccessRate: m.SuccessRate,
		Tokens: openapi.KeyTokens{
			Input: f.tokens("input"), Output: f.tokens("output"), Cached: f.tokens("cached_input"), CacheWrite: f.tokens("cache_write"), Reasoning: f.tokens("reasoning"),
		},
		Cost: openapi.Each(f.sum.Costs(), costView), Totals: openapi.Each(f.sum.Totals(), totalView),
	}
}

// tokens are those of a meter; nil: none.
func (f *keyFigures) tokens(meter string) *int64 {
	if n := f.meters[meter]; n != 0 {
		return &n
	}
	return nil
}

// row is that of a key, without what it is called.
func (u keyUsage) row(key uuid.UUID, names map[string]string, daily bool) openapi.KeyUsage {
	row := openapi.KeyUsage{ID: key, KeyMetricsFields: figuresAt(u.byKey, u.book, key).view(), Models: []openapi.KeyModelMetrics{}}
	for label, of := range u.byModel {
		if label.key == key {
			row.Models = append(row.Models, openapi.KeyModelMetrics{Model: label.of, Name: names[label.of], KeyMetricsFields: of.view()})
		}
	}
	slices.SortFunc(row.Models, func(a, b openapi.KeyModelMetrics) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model))
	})
	if daily {
		of := []openapi.KeyDayMetrics{}
		for label, figures := range u.byDay {
			if label.key == key {
				of = append(of, openapi.KeyDayMetrics{Date: label.of, KeyMetricsFields: figures.view()})
			}
		}
		slices.SortFunc(of, func(a, b openapi.KeyDayMetrics) int { return cmp.Compare(a.Date, b.Date) })
		row.Daily = &of
	}
	return row
}
