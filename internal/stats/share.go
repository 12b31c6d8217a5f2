package stats

import (
	"context"

	"golang.org/x/sync/semaphore"
)

type shareKey struct{}

// ConnectionsOfOne is how many connections one who asks should have at a time: half of them, so that nobody takes all.
const ConnectionsOfOne = maxConnections / 2

// Share has the questions of a context take their connections from places, one each.
func Share(ctx context.Context, places *semaphore.Weighted) context.Context {
	return context.WithValue(ctx, shareKey{}, places)
}

// enter takes the place of a connection, where ctx has any to share, and gives what leaves it.
func enter(ctx context.Context) (leave func(), err error) {
	places, shared := ctx.Value(shareKey{}).(*semaphore.Weighted)
	if !shared {
		return func() {}, nil
	}
	if err := places.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { places.Release(1) }, nil
}
