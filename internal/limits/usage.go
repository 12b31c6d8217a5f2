package limits

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Usage is how much of its limits an application, or an owner, uses now; nil is not known: of a day nothing is counted before the
// first call under a limit.
type Usage struct{ RequestsInMinute, TokensInMinute, Concurrent, CallsToday, TokensToday *int64 }

// Reader tells what the gateways have counted.
type Reader struct{ redis redis.UniversalClient }

// Used is how much is used of each limit that holds for an application, in the order of Limits: of its owner's ceiling
// what all of the owner's applications use together.
func (r *Reader) Used(ctx context.Context, application uuid.UUID, standing Standing) (used [numLimits]*int64, err error) {
	alone, err := r.Usage(ctx, application)
	if err != nil {
		return used, err
	}
	var together Usage
	holding := standing.Holding()
	if slices.ContainsFunc(holding[:], func(h Holding) bool { return h.Source == Source(ForOwner) }) {
		if together, err = r.Usage(ctx, standing.Owner); err != nil {
			return used, err
		}
	}
	for i, h := range holding {
		from := alone.values()
		if h.Source == Source(ForOwner) {
			from = together.values()
		}
		used[i] = from[i]
	}
	return used, nil
}

// values are in the order of Limits.
func (u Usage) values() [numLimits]*int64 {
	return [numLimits]*int64{u.RequestsInMinute, u.TokensInMinute, u.Concurrent, u.CallsToday, u.TokensToday}
}

// NewReader returns a reader of the counts in rdb, which stays the caller's.
func NewReader(rdb redis.UniversalClient) *Reader { return &Reader{rdb} }

// readTimeout bounds the answer of a Redis that hangs.
const readTimeout = 500 * time.Millisecond

// Usage gives what an application, or all of an owner under a ceiling, has used in the minute and on the Beijing day until now, and what is in flight. What
// gateways have leased ahead of need, or reserved for calls in flight, is not in it.
func (r *Reader) Usage(ctx context.Context, of uuid.UUID) (u Usage, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	pipe := r.redis.Pipeline()
	names := [...]string{"requests", "tokens", "day-calls", "day-tokens", "slots-used"}
	var fields [len(names)]*redis.MapStringStringCmd
	for i, name := range names {
		fields[i] = pipe.HGetAll(ctx, keyOf(of, name))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return Usage{}, fmt.Errorf("read counts of limits: %w", err)
	}
	ms := time.Now().UnixMilli()
	for i, to := range []**int64{&u.RequestsInMinute, &u.TokensInMinute, &u.CallsToday, &u.TokensToday} {
		s := usual.minute()
		if i > 1 {
			s = beijingDay
		}
		*to = s.sum(fields[i].Val(), ms)
	}
	u.Concurrent = inUse(fields[len(names)-1].Val(), ms)
	return u, nil
}

// sum adds what the window holds now, without what gateways say that they have not used of it (window.lua). No count of a minute is one in which there was nothing.
func (s span) sum(fields map[string]string, ms int64) *int64 {
	if len(fields) == 0 && s == beijingDay {
		return nil
	}
	now, total := s.bucket(ms), int64(0)
	for field, value := range fields {
		bucket, err := strconv.ParseInt(field, 10, 64)
		n, bad := strconv.ParseInt(value, 10, 64)
		if err == nil && bad == nil && bucket > now-s.buckets {
			total += n
		}
	}
	for one := range strings.FieldsSeq(fields["idle"]) {
		if said := strings.Split(one, ":"); len(said) == 3 {
			n, err := strconv.ParseInt(said[1], 10, 64)
			bucket, bad := strconv.ParseInt(said[2], 10, 64)
			if err == nil && bad == nil && bucket > now-s.buckets {
				total -= n
			}
		}
	}
	total = max(0, total)
	return &total
}

// inUse adds the slots in use of the gateways that said so lately.
func inUse(fields map[string]string, ms int64) *int64 {
	total := int64(0)
	for _, value := range fields {
		slots, at, _ := strings.Cut(value, ":")
		n, err := strconv.ParseInt(slots, 10, 64)
		said, bad := strconv.ParseInt(at, 10, 64)
		if err == nil && bad == nil && ms-said <= usual.stale.Milliseconds() {
			total += n
		}
	}
	return &total
}
