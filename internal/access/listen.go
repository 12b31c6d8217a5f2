package access

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	listenSilence = 15 * time.Second // then a ping is sent; after another such silence, a new connection made
	listenRetry   = time.Second
)

// listen reads the feed whenever a change is announced, until ctx is done. It is written on Receive
// because a subscription's Channel cannot be ended while it dials a host that does not answer.
func (r *Resolver) listen(ctx context.Context, rdb redis.UniversalClient) {
	for ctx.Err() == nil {
		r.listenOnce(ctx, rdb)
		wait(ctx, listenRetry, nil)
	}
}

// listenOnce returns when the connection is lost or ctx is done.
func (r *Resolver) listenOnce(ctx context.Context, rdb redis.UniversalClient) {
	subscription := rdb.Subscribe(ctx, channel)
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { // ends a Receive that is waiting
		_ = subscription.Close()
		close(closed)
	})
	defer func() {
		if stop() {
			_ = subscription.Close()
		} else {
			<-closed
		}
	}()
	for pinged := false; ; {
		_, err := subscription.ReceiveTimeout(ctx, listenSilence)
		var timeout net.Error
		switch {
		case err == nil:
			pinged = false
			r.feed.kick() // the subscription itself counts too: something may have been missed before it
		case !pinged && errors.As(err, &timeout) && timeout.Timeout() && ctx.Err() == nil:
			if subscription.Ping(ctx) != nil {
				return
			}
			pinged = true
		default:
			return
		}
	}
}
