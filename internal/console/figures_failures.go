package console

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/stats"
)

// topNow is how many failures of now are told: what many callers do wrong must not push out what fails for few.
const topNow = 100

// topHit is how many applications a failure of now names.
const topHit = 3

// hit is what failures have in common that are told together.
type hit struct {
	failures, before int64 // before: in the hour before, of failures of now
	firstMs, lastMs  int64
	applications     map[uuid.UUID]int64 // with how many of the failures are theirs
}

func (h *hit) add(f stats.Failing) {
	h.failures += f.Failures
	h.firstMs, h.lastMs = min(h.firstMs, f.FirstMs), max(h.lastMs, f.LastMs)
	h.applications[f.Application] += f.Failures
}

// failureKind is a reason whatever the capability and the upstream's status.
type failureKind struct{ kind, code string }

func kindOf(f stats.Failing) failureKind { return failureKind{f.Type, f.Code} }

func byKind(a, b failureKind) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.code, b.code))
}

func byReason(a, b stats.Reason) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Code, b.Code), cmp.Compare(a.UpstreamStatus, b.UpstreamStatus), cmp.Compare(a.Model, b.Model))
}

// hitsBy are failures by what they have in common.
func hitsBy[K comparable](failures []stats.Failing, of func(stats.Failing) K) map[K]*hit {
	hits := map[K]*hit{}
	for _, f := range failures {
		key := of(f)
		if hits[key] == nil {
			hits[key] = &hit{firstMs: f.FirstMs, lastMs: f.LastMs, applications: map[uuid.UUID]int64{}}
		}
		hits[key].add(f)
	}
	return hits
}

// foremost are the keys of the hits with the most failures, how many failures there are, and what is left over.
func foremost[K comparable](hits map[K]*hit, most int, compare func(a, b K) int) (keys []K, failures int64, other openapi.OtherReasons) {
	keys = slices.SortedFunc(maps.Keys(hits), func(a, b K) int {
		return cmp.Or(cmp.Compare(hits[b].failures, hits[a].failures), compare(a, b))
	})
	for i, key := range keys {
		failures += hits[key].failures
		if i >= most {
			other.Reasons++
			other.Failures += hits[key].failures
		}
	}
	return keys[:min(most, len(keys))], failures, other
}

// reasons are those of the failures, whatever the capability.
func (read *everyones) reasons() (view openapi.FiguresReasons) {
	hits := hitsBy(read.failures, kindOf)
	keys, failures, other := foremost(hits, topReasons, byKind)
	view.Failures, view.Other = failures, other
	view.Items = each(keys, func(k failureKind) openapi.FiguresReason {
		h := hits[k]
		who := read.hits(maps.Keys(h.applications))
		return openapi.FiguresReason{
			Type: told(k.kind), Code: told(k.code), Failures: h.failures, FirstSeen: timeOfMs(h.firstMs), LastSeen: timeOfMs(h.lastMs),
			ApplicationCount: who.ApplicationCount, OwnerCount: who.OwnerCount,
		}
	})
	return view
}

// worst are the failures by capability and reason.
func (read *everyones) worst(names map[string]string) (view openapi.FiguresFailures) {
	hits := hitsBy(read.failures, func(f stats.Failing) stats.Reason { return f.Reason })
	keys, failures, other := foremost(hits, topReasons, byReason)
	view.Failures, view.Other = failures, other
	view.Items = each(keys, func(r stats.Reason) openapi.FiguresFailure {
		return openapi.FiguresFailure{FiguresFailureFields: read.failureFields(r, hits[r], names)}
	})
	return view
}

// failingNow are the failures of the last hour.
func (read *everyones) failingNow(names map[string]string) (view openapi.FiguresNow) {
	hits := make(map[stats.Reason]*hit, len(read.now.Failing))
	for _, f := range read.now.Failing {
		h := &hit{failures: f.Failures, before: f.Before, firstMs: f.FirstMs, lastMs: f.LastMs, applications: map[uuid.UUID]int64{}}
		for i, id := range f.Applications {
			h.applications[id] = f.Hits[i]
		}
		hits[f.Reason] = h
	}
	keys, failures, other := foremost(hits, topNow, byReason)
	view.Failures, view.Other = failures, other
	view.Items = each(keys, func(r stats.Reason) openapi.FiguresFailureNow {
		return openapi.FiguresFailureNow{
			FiguresFailureFields: read.failureFields(r, hits[r], names), FailuresBefore: hits[r].before, TopApplications: read.mostHit(hits[r]),
		}
	})
	return view
}

// mostHit are the applications that exist with the most of the failures.
func (read *everyones) mostHit(h *hit) []openapi.FailingApplication {
	ids := slices.SortedFunc(maps.Keys(h.applications), func(a, b uuid.UUID) int {
		return cmp.Or(cmp.Compare(h.applications[b], h.applications[a]), slices.Compare(a[:], b[:]))
	})
	ids = slices.DeleteFunc(ids, func(id uuid.UUID) bool { return read.by[id] == nil })
	return each(ids[:min(topHit, len(ids))], func(id uuid.UUID) openapi.FailingApplication {
		a := read.by[id]
		return openapi.FailingApplication{ID: id, Name: a.Name, Status: a.Status, Owner: openapi.User{ID: a.OwnerID, Email: a.Email}, Failures: h.applications[id]}
	})
}

func (read *everyones) failureFields(r stats.Reason, h *hit, names map[string]string) openapi.FiguresFailureFields {
	who := read.hits(maps.Keys(h.applications))
	return openapi.FiguresFailureFields{
		ReasonFields:     reasonFields(stats.ReasonFigures{Reason: r, Failures: h.failures, FirstSeen: timeOfMs(h.firstMs), LastSeen: timeOfMs(h.lastMs)}, names),
		ApplicationCount: who.ApplicationCount, OwnerCount: who.OwnerCount,
	}
}

func timeOfMs(ms int64) string { return beijing.Format(time.UnixMilli(ms)) }
