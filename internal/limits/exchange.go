package limits

import (
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	//go:embed window.lua
	windowText string
	//go:embed slots.lua
	slotsText string

	windowScript = redis.NewScript(windowText)
	slotsScript  = redis.NewScript(slotsText)
)

// keyOf is where Redis keeps one limit of a subject.
func keyOf(of uuid.UUID, limit string) string {
	return "callgate:limit:{" + of.String() + "}:" + limit
}

// ask is what an exchange of a window tells and wants. m.exchange is held from here to accept or fail.
func (m *meter) ask(gateway string, want, least int64, peers int) []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sent == nil {
		m.number++
		m.sent = make([]change, 0, len(m.pending))
		for b, n := range m.pending {
			if n != 0 {
				m.sent = append(m.sent, change{b, n})
			}
		}
		clear(m.pending)
	}
	carry := 0
	if m.carry {
		carry = 1
	}
	m.told = m.idle()
	arguments := []any{m.span.unit, m.span.offset, m.span.buckets, m.limit.Load(), carry, gateway, m.number, want, least, peers, m.began.Load(), m.told}
	for _, c := range m.sent {
		arguments = append(arguments, c.bucket, c.n)
	}
	return arguments
}

// counted is what an exchange of a window gives.
type counted struct {
	epoch                                   string
	bucket, total, charged, debt            int64
	granted, grantedIn, milliseconds, based int64
	idle                                    int64 // taken by others and not used
}

func parseCounted(answer any) (c counted, err error) {
	list, ok := answer.([]any)
	if !ok || len(list) != 10 {
		return c, fmt.Errorf("the count of a limit answers %T of %d", answer, len(list))
	}
	epoch, ok := list[0].(string)
	c.epoch = epoch
	for i, to := range []*int64{&c.bucket, &c.total, &c.charged, &c.debt, &c.granted, &c.grantedIn, &c.milliseconds, &c.based, &c.idle} {
		n, is := list[i+1].(int64)
		ok, *to = ok && is, n
	}
	if !ok {
		return c, errors.New("the count of a limit answers something else than numbers")
	}
	return c, nil
}

// accept takes the answer to an exchange that was sent at a time. What was granted is given back while shares are spent:
// the count has not heard of all of them. It reports whether the count has lost what it was
// told, by this gateway or by others: until all have told it again, nothing may be spent of it.
func (m *meter) accept(c counted, sent, received, life time.Duration, sharing bool, reserve int64) (lost, served bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setClock(c, sent, received)
	m.own.advance(c.bucket)
	m.others.advance(c.bucket)
	another := m.epoch != c.epoch
	if another && m.epoch != "" {
		lost = m.own.total+m.others.total > 0
		m.own.each(func(b, n int64) bool {
			m.pending[b] += n
			return true
		})
		m.own = newRing(m.span.buckets)
	}
	told := int64(0)
	for _, change := range m.sent {
		if change.bucket > c.bucket-m.span.buckets {
			m.own.add(change.bucket, change.n)
			told += change.n
		}
	}
	m.sent = nil
	switch {
	case !another:
		m.others.add(c.bucket, c.charged-m.ever-told-c.granted)
	case !lost: // what others did before is as new as it can be
		m.others.add(c.bucket, max(0, c.total-told-c.granted)-m.others.total)
	}
	if another {
		m.first = sent
	}
	m.epoch, m.ever, m.based, m.last = c.epoch, c.charged, c.based == 1, sent
	if !sharing && !lost && m.mine.total != 0 {
		m.mine = newRing(m.span.buckets)
	}
	m.lost.Store((lost || m.lost.Load()) && m.span == beijingDay && !m.based)
	m.exchanged()
	served = m.receive(c, sent, life, lost || sharing, reserve)
	m.seen.Store(c.total - c.idle + m.uncounted() - m.reservations(c.bucket))
	return lost, served
}

// setClock learns the time of the count's clock, where the answer came at once: an exchange that waited for a server to
// start was counted long after it was sent. By when it was received the clock is rather behind than ahead, so that
// nothing leaves the window early.
func (m *meter) setClock(c counted, sent, received time.Duration) {
	if m.epoch == "" || received-sent < promptly {
		m.clock.Store(c.milliseconds - received.Milliseconds())
	}
}

const promptly = 10 * time.Millisecond

// receive takes what was granted, or gives it back. It reports whether there is enough for the call that asked: that is
// spent at once, so that no other call comes before it.
func (m *meter) receive(c counted, sent, life time.Duration, back bool, reserve int64) (served bool) {
	if c.granted == 0 {
		if l := m.lease.Load(); l != nil && sent >= l.until {
			m.replace(nil)
		}
		return false
	}
	m.own.add(c.grantedIn, c.granted)
	m.told += c.granted
	if back {
		m.pending[c.grantedIn] -= c.granted
		return false
	}
	old := time.Duration((c.bucket-c.grantedIn)*m.span.unit) * time.Millisecond
	if served = c.granted >= reserve; !served {
		reserve = 0
	}
	m.lend(&lease{granted: c.granted, bucket: c.grantedIn}, reserve, sent+min(life-old, time.Duration(m.span.leaves(c.grantedIn)-c.milliseconds)*time.Millisecond))
	return served
}

// lend makes a lease the one that calls spend, of which taken is spent by the call that asked for it.
func (m *meter) lend(l *lease, taken int64, until time.Duration) {
	l.until = until
	l.left.Store(l.granted - taken)
	m.replace(l)
}

// share spends n of this gateway's share of what is left, while there is no count to ask, and leases some more.
func (m *meter) share(n int64, of Peers, now, life time.Duration) (bucket int64, taken bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replace(nil)
	bucket = m.bucket(now)
	before, mine := m.windowed(bucket)
	room := of.part(m.limit.Load()-before) - mine
	if room < n {
		return bucket, false
	}
	slice := max(n, min(room, m.limit.Load()/slicesOfShare))
	m.pending[bucket] += slice
	m.mine.add(bucket, slice)
	m.lend(&lease{granted: slice, bucket: bucket, shared: true}, n, now+min(life, time.Duration(m.span.leaves(bucket)-m.ms(now))*time.Millisecond))
	return bucket, true
}

// slicesOfShare is into how many parts a limit is cut while every gateway spends its share.
const slicesOfShare = 200
