package ship

import (
	"context"
	"time"

	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
)

// worker ships what is for one shard. Its fields are touched by its goroutine alone.
type worker struct {
	*shipping
	index  int
	shard  *shards.Shard
	sealed <-chan struct{} // a segment was sealed

	shipments   map[*spool.Segment]*shipment
	content     spool.Content
	columns     callColumns
	models      upstreamModels
	unreachable int // attempts in a row in which ClickHouse could not be reached
}

// send runs a worker for each shard until ctx is done or, once stop is closed, until nothing waits.
func (s *Shipper) send(ctx context.Context) {
	found := s.findShards(ctx)
	s.segments.begin(len(found))
	for i, to := range found {
		s.workers = append(s.workers, &worker{shipping: &s.shipping, index: i, shard: to, shipments: map[*spool.Segment]*shipment{}, models: upstreamModels{}})
	}
	if len(s.workers) == 1 {
		s.workers[0].sealed = s.spool.Sealed()
		s.workers[0].run(ctx)
		return
	}
	s.inParallel(ctx)
}

// inParallel runs several workers, and wakes all of them when a segment was sealed.
func (s *Shipper) inParallel(ctx context.Context) {
	var wakes []chan struct{}
	ended := make(chan struct{}, len(s.workers))
	for _, w := range s.workers {
		wake := make(chan struct{}, 1)
		wakes, w.sealed = append(wakes, wake), wake
		s.sending.Go(func() {
			w.run(ctx)
			ended <- struct{}{}
		})
	}
	refresh := time.NewTicker(shards.RefreshEvery)
	defer refresh.Stop()
	for running := len(s.workers); running > 0; {
		select {
		case <-ended:
			running--
		case <-s.spool.Sealed():
			for _, wake := range wakes {
				select {
				case wake <- struct{}{}:
				default: // it is about to look anyway
				}
			}
		case <-refresh.C:
			if _, err := s.servers.Shards(ctx); err != nil {
				s.log.Warn("cannot look for changes of the clickhouse cluster", "error", err)
			}
		}
	}
}

// findShards waits until the shards are known. A single server is without being asked.
func (s *Shipper) findShards(ctx context.Context) []*shards.Shard {
	for tries := 0; ctx.Err() == nil; tries++ {
		found, err := s.servers.Shards(ctx)
		if err == nil {
			if tries > 0 {
				s.spool.SetReachable(true)
			}
			return found
		}
		if tries%30 == 0 && ctx.Err() == nil {
			s.log.Warn("cannot find the shards of the clickhouse cluster; call records wait in the spool", "error", err)
		}
		s.spool.SetReachable(false)
		if s.stopping() && s.spool.Backlog() == 0 {
			return nil
		}
		pause(ctx.Done(), backoff(retryUnreachable, retryUnreachableMax, tries+1))
	}
	return nil
}

func (s *Shipper) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// named adds to the attributes of a message which shard it is about.
func (w *worker) named(attributes ...any) []any {
	if w.shard.Of == 0 {
		return attributes
	}
	return append(attributes, "shard", w.shard.Number)
}
