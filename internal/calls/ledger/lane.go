package ledger

import (
	"context"
	"time"

	"callgate/internal/calls/spool"
)

// lane ships what is for one shard. Its fields are touched by its goroutine alone.
type lane struct {
	*shipping
	index  int
	shard  *shard
	sealed <-chan struct{} // a segment was sealed

	shipments   map[*spool.Segment]*shipment
	content     spool.Content
	columns     callColumns
	models      upstreamModels
	unreachable int // attempts in a row in which ClickHouse could not be reached
}

// send ships in one lane a shard until ctx is done or, once stop is closed, until nothing waits.
func (s *Shipper) send(ctx context.Context) {
	shards := s.findShards(ctx)
	s.segments.begin(len(shards))
	for i, to := range shards {
		s.lanes = append(s.lanes, &lane{shipping: &s.shipping, index: i, shard: to, shipments: map[*spool.Segment]*shipment{}, models: upstreamModels{}})
	}
	if len(s.lanes) == 1 {
		s.lanes[0].sealed = s.spool.Sealed()
		s.lanes[0].run(ctx)
		return
	}
	s.inParallel(ctx)
}

// inParallel runs several lanes, and wakes all of them when a segment was sealed.
func (s *Shipper) inParallel(ctx context.Context) {
	var wakes []chan struct{}
	ended := make(chan struct{}, len(s.lanes))
	for _, l := range s.lanes {
		wake := make(chan struct{}, 1)
		wakes, l.sealed = append(wakes, wake), wake
		s.sending.Go(func() {
			l.run(ctx)
			ended <- struct{}{}
		})
	}
	refresh := time.NewTicker(refreshEvery)
	defer refresh.Stop()
	for running := len(s.lanes); running > 0; {
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
			if _, err := s.servers.shards(ctx); err != nil {
				s.log.Warn("cannot look for changes of the clickhouse cluster", "error", err)
			}
		}
	}
}

// findShards waits until the shards are known. A single server is without being asked.
func (s *Shipper) findShards(ctx context.Context) []*shard {
	for tries := 0; ctx.Err() == nil; tries++ {
		shards, err := s.servers.shards(ctx)
		if err == nil {
			if tries > 0 {
				s.spool.SetReachable(true)
			}
			return shards
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
func (s *lane) named(attributes ...any) []any {
	if s.shard.of == 0 {
		return attributes
	}
	return append(attributes, "shard", s.shard.number)
}
