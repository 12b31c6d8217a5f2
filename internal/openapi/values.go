package openapi

import (
	"time"

	"callgate/internal/beijing"
)

// Each turns the items of a list; lists are never null on the wire.
func Each[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}

// PageOf are the fields of a page, counted from 1, of a list of total items.
func PageOf(page, size, total int) PageFields {
	return PageFields{Page: int64(page), Size: int64(size), Total: int64(total)}
}

// TextOrNull is a text, or nil for an empty one.
func TextOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// TimeOrNull is an instant in Beijing time, RFC 3339 with milliseconds, or nil for none.
func TimeOrNull(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return TextOrNull(beijing.Format(at))
}
