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

// Usage is how much of its limits a key, an application or an owner uses now; nil is not known: of a day nothing is
// counted before the first call under a limit.
type Usage struct{ RequestsInMinute, TokensInMinute, Concurrent, CallsToday, TokensToday *int64 }

// Reader tells what the gateways have counted.
type Reader struct{ redis redis.UniversalClient }

// Used is how much is used of each limit that holds for an application, in the order of Limits: of its owner's ceiling
// what all of the owner's applications use together.
func (r *Reader) Used(ctx context.Context, application uuid.UUID, standing Standing) (used [numLimits]*int64, err error) {
	found, err := r.Usages(ctx, application, standing.Owner)
	if err != nil {
		return used, err
	}
	for i, h := range standing.Holding() {
		of := application
		if h.Source == Source(ForOwner) {
			of = standing.Owner
		}
		used[i] = found[of].values()[i]
	}
	return used, nil
}

// Of is how much is used of a limit, by its name.
func (u Usage) Of(name string) *int64 { return u.values()[slices.Index(limitNames[:], name)] }

// values are in the order of Limits.
func (u Usage) values() [numLimits]*int64 {
	return [numLimits]*int64{u.RequestsInMinute, u.TokensInMinute, u.Concurrent, u.CallsToday, u.TokensToday}
}

// NewReader returns a reader of the counts in rdb, which stays the caller's.
func NewReader(rdb redis.UniversalClient) *Reader { return &Reader{rdb} }

// readTimeout bounds the answer of a Redis that hangs.
const readTimeout = 500 * time.Millisecond

// Usage is Usages of one.
func (r *Reader) Usage(ctx context.Context, of uuid.UUID) (Usage, error) {
	found, err := r.Usages(ctx, of)
	return found[of], err
}

// Usages gives what keys, applications, or all of owners under ceilings, have used in the minute and on the Beijing day
// until now, and what is in flight. What gateways have leased ahead of need, or reserved for calls in flight, is not in it.
func (r *Reader) Usages(ctx context.Context, of ...uuid.UUID) (map[uuid.UUID]Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	pipe := r.redis.Pipeline()
	names := [...]string{"requests", "tokens", "day-calls", "day-tokens", "slots-used"}
	fields := make([][len(names)]*redis.MapStringStringCmd, len(of))
	for n, id := range of {
		for i, name := range names {
			fields[n][i] = pipe.HGetAll(ctx, keyOf(id, name))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("read counts of limits: %w", err)
	}
	ms, found := time.Now().UnixMilli(), make(map[uuid.UUID]Usage, len(of))
	for n, id := range of {
		var u Usage
		for i, to := range []**int64{&u.RequestsInMinute, &u.TokensInMinute, &u.CallsToday, &u.TokensToday} {
			s := usual.minute()
			if i > 1 {
				s = beijingDay
			}
			*to = s.sum(fields[n][i].Val(), ms)
		}
		u.Concurrent = inUse(fields[n][len(names)-1].Val(), ms)
		found[id] = u
	}
	return found, nil
}

// Use is a limit that holds for the calls of a key, and how much of it is used.
type Use struct {
	Name   string // as the contract names it
	Scope  Scope  // whose it is: ForKey, ForApplication or ForOwner
	Source Source // who set it
	Limit  int64
	Used   *int64 // nil: not known, as in Usage, or not the key's to know: of its owner's ceiling, in which others count
}

// Uses gives the limits that hold for a caller, the narrowest scope first. Where Redis cannot be asked, how much is used
// is not known.
func (l *Limiter) Uses(ctx context.Context, by Caller) (uses []Use) {
	_, scopes := l.Of(nil, by)
	if scopes == nil {
		return nil
	}
	var ids []uuid.UUID
	for _, of := range scopes.levels {
		if of.Scope != ForOwner {
			ids = append(ids, of.ID)
		}
	}
	found, err := NewReader(l.config.Redis).Usages(ctx, ids...)
	if err != nil {
		l.log.Debug("usage of limits is not known", "error", err)
	}
	for _, of := range scopes.levels {
		used := found[of.ID].values()
		for i, limit := range of.limits.values() {
			if *limit != 0 {
				uses = append(uses, Use{Name: limitNames[i], Scope: of.Scope, Source: of.sources[i], Limit: *limit, Used: used[i]})
			}
		}
	}
	return uses
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
