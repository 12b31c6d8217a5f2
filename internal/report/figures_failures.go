package report

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

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
	applications     []hitApplication // one may be there twice
}

// hitApplication is an application that exists, by its place, and how many of the failures are its.
type hitApplication struct {
	place    int
	failures int64
	lastMs   int64
}

func (h *hit) add(of *hit) {
	h.failures += of.failures
	h.firstMs, h.lastMs = min(h.firstMs, of.firstMs), max(h.lastMs, of.lastMs)
	h.applications = append(h.applications, of.applications...)
}

// hitsOf are failures of applications that exist.
func (e *everyone) hitsOf(failing []stats.Failing) map[stats.Reason]*hit {
	hits := map[stats.Reason]*hit{}
	for _, f := range failing {
		h := &hit{firstMs: math.MaxInt64, applications: make([]hitApplication, 0, len(f.Applications))}
		for _, a := range f.Applications {
			if place, exists := e.place[a.ID]; exists {
				h.failures += a.Failures
				h.firstMs, h.lastMs = min(h.firstMs, a.FirstMs), max(h.lastMs, a.LastMs)
				h.applications = append(h.applications, hitApplication{place, a.Failures, a.LastMs})
			}
		}
		switch known := hits[f.Reason]; {
		case len(h.applications) == 0:
		case known == nil:
			hits[f.Reason] = h
		default:
			known.add(h)
		}
	}
	return hits
}

// places are those of the applications that were hit.
func (h *hit) places() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, a := range h.applications {
			if !yield(a.place) {
				return
			}
		}
	}
}

// failureKind is a reason whatever the capability and the upstream's status.
type failureKind struct{ kind, code string }

func byKind(a, b failureKind) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.code, b.code))
}

func byReason(a, b stats.Reason) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Code, b.Code), cmp.Compare(a.UpstreamStatus, b.UpstreamStatus), cmp.Compare(a.Model, b.Model))
}

// byKinds are hits whatever the capability.
func byKinds(hits map[stats.Reason]*hit) map[failureKind]*hit {
	kinds := map[failureKind]*hit{}
	for reason, h := range hits {
		kind := failureKind{reason.Type, reason.Code}
		if kinds[kind] == nil {
			kinds[kind] = &hit{firstMs: h.firstMs}
		}
		kinds[kind].add(h)
	}
	return kinds
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
	hits := byKinds(read.failures)
	keys, failures, other := foremost(hits, topReasons, byKind)
	view.Failures, view.Other = failures, other
	view.Items = openapi.Each(keys, func(k failureKind) openapi.FiguresReason {
		h := hits[k]
		who := read.hits(h.places())
		return openapi.FiguresReason{
			Type: openapi.TextOrNull(k.kind), Code: openapi.TextOrNull(k.code), Failures: h.failures, FirstSeen: timeOfMs(h.firstMs), LastSeen: timeOfMs(h.lastMs),
			ApplicationCount: who.ApplicationCount, OwnerCount: who.OwnerCount,
		}
	})
	return view
}

// worst are the failures by capability and reason.
func (read *everyones) worst(names map[string]string) (view openapi.FiguresFailures) {
	hits := read.failures
	keys, failures, other := foremost(hits, topReasons, byReason)
	view.Failures, view.Other = failures, other
	view.Items = openapi.Each(keys, func(r stats.Reason) openapi.FiguresFailure {
		return openapi.FiguresFailure{FiguresFailureFields: read.failureFields(r, hits[r], names)}
	})
	return view
}

// failingNow are the failures of the last hour.
func (read *everyones) failingNow(names map[string]string) (view openapi.FiguresNow) {
	hits := make(map[stats.Reason]*hit, len(read.now.Failing))
	for _, f := range read.now.Failing {
		h := &hit{failures: f.Failures, before: f.Before, firstMs: f.FirstMs, lastMs: f.LastMs}
		for i, id := range f.Applications {
			if place, exists := read.place[id]; exists {
				h.applications = append(h.applications, hitApplication{place: place, failures: f.Hits[i]})
			}
		}
		hits[f.Reason] = h
	}
	keys, failures, other := foremost(hits, topNow, byReason)
	view.Failures, view.Other = failures, other
	view.Items = openapi.Each(keys, func(r stats.Reason) openapi.FiguresFailureNow {
		return openapi.FiguresFailureNow{
			FiguresFailureFields: read.failureFields(r, hits[r], names), FailuresBefore: hits[r].before, TopApplications: read.mostHit(hits[r]),
		}
	})
	return view
}

// mostHit are the applications that exist with the most of the failures.
func (read *everyones) mostHit(h *hit) []openapi.FailingApplication {
	most := slices.SortedFunc(slices.Values(h.applications), func(a, b hitApplication) int {
		return cmp.Or(cmp.Compare(b.failures, a.failures), slices.Compare(read.all[a.place].ID[:], read.all[b.place].ID[:]))
	})
	return openapi.Each(most[:min(topHit, len(most))], func(h hitApplication) openapi.FailingApplication {
		a := read.all[h.place]
		return openapi.FailingApplication{ID: a.ID, Name: a.Name, Status: a.Status, Owner: openapi.User{ID: a.OwnerID, Email: a.Email}, Failures: h.failures}
	})
}

func (read *everyones) failureFields(r stats.Reason, h *hit, names map[string]string) openapi.FiguresFailureFields {
	who := read.hits(h.places())
	return openapi.FiguresFailureFields{
		ReasonFields:     reasonFields(stats.ReasonFigures{Reason: r, Failures: h.failures, FirstSeen: timeOfMs(h.firstMs), LastSeen: timeOfMs(h.lastMs)}, names),
		ApplicationCount: who.ApplicationCount, OwnerCount: who.OwnerCount,
	}
}

func timeOfMs(ms int64) string { return beijing.Format(time.UnixMilli(ms)) }
