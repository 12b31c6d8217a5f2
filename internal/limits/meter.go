package limits

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// lease is a part of a limit that this gateway may spend until a time: it is in the count already.
type lease struct {
	left    atomic.Int64
	granted int64
	spent   int64 // at the last exchange; under mu
	bucket  int64 // in which it is counted
	shared  bool  // it is of the gateway's share
	until   time.Duration
}

// closed is what left is below once a lease is taken back.
const closed = -1 << 60

// meter is one limit of one subject as this gateway sees it. Calls spend of a lease without a lock; everything
// else is under mu.
type meter struct {
	name  string
	span  span
	carry bool // what exceeds the limit is a debt

	limit    atomic.Int64 // 0: none
	lease    atomic.Pointer[lease]
	waiting  atomic.Int64 // for an exchange
	vain     atomic.Int64 // asked for since the last exchange, and not taken of the lease there is now
	lastUse  atomic.Int64 // elapsed, to the second
	emptyTo  atomic.Int64 // elapsed until which nobody asks again
	clock    atomic.Int64 // milliseconds of the count's clock minus elapsed ones
	seen     atomic.Int64 // used, and the own lease, at the last exchange
	began    atomic.Int64 // ms: the start of the earliest call counted here; earlier ones only the ledger has
	exchange gate         // one at a time

	mu       sync.Mutex
	reserved map[int64]int64 // by bucket: taken for calls that are in flight
	told     int64           // what was idle, at the last exchange

	own     ring            // what the count has of this gateway
	others  ring            // what it has of others, as far as this gateway has seen
	mine    ring            // what was spent of the share since the count was lost: it stays so when it is told
	pending map[int64]int64 // by bucket: what it has not been told
	sent    []change        // what it was told without an answer
	number  int64           // of the exchange
	epoch   string          // of the count; another one is a count that lost everything
	ever    int64           // charged ever, at the last exchange
	last    time.Duration   // of the last exchange
	based   bool            // what was counted before it is in the count
	basing  bool            // that is being asked for
	lost    atomic.Bool     // the count of a day lost everything, and what was counted before is not in it again
	first   time.Duration   // when this epoch was first seen
}

// change is an amount for a bucket.
type change struct{ bucket, n int64 }

func newMeter(name string, s span, carry bool, wall, now time.Duration) *meter {
	m := &meter{name: name, span: s, carry: carry, own: newRing(s.buckets), others: newRing(s.buckets), mine: newRing(s.buckets), pending: map[int64]int64{},
		reserved: map[int64]int64{}, exchange: newGate()}
	m.number = int64(wall) // no exchange of an earlier process of this gateway had one of these
	m.clock.Store((wall - now).Milliseconds())
	m.began.Store(math.MaxInt64)
	m.last = now
	m.lastUse.Store(int64(now))
	return m
}

// ms is the time of the count's clock.
func (m *meter) ms(now time.Duration) int64 { return m.clock.Load() + now.Milliseconds() }

func (m *meter) bucket(now time.Duration) int64 { return m.span.bucket(m.ms(now)) }

// touch notes a use, to the second: a warm call only reads.
func touch(last *atomic.Int64, now time.Duration) {
	if int64(now)-last.Load() > int64(time.Second) {
		last.Store(int64(now))
	}
}

// take spends n of the lease. It gives the bucket in which they are counted.
func (m *meter) take(n int64, now time.Duration) (bucket int64, ok bool) {
	l := m.lease.Load()
	if l == nil || now >= l.until {
		return 0, false
	}
	// Never below 0, not for a moment either: replace would take the remainder for spent.
	for left := l.left.Load(); left >= n; left = l.left.Load() {
		if l.left.CompareAndSwap(left, left-n) {
			return l.bucket, true
		}
	}
	return 0, false
}

// countsFrom notes that a call that started then is counted here, where there is a limit.
func (m *meter) countsFrom(start time.Time) {
	if m.limit.Load() == 0 {
		return
	}
	ms := start.UnixMilli()
	for began := m.began.Load(); ms < began; began = m.began.Load() {
		if m.began.CompareAndSwap(began, ms) {
			return
		}
	}
}

// giveBack returns what was taken and not used.
func (m *meter) giveBack(bucket, n int64) {
	if l := m.lease.Load(); l != nil && l.bucket == bucket && l.left.Load() >= 0 {
		if l.left.Add(n) > 0 {
			return
		}
		l.left.Add(-n) // it was being closed
	}
	m.charge(bucket, -n)
}

// charge counts what was used without a lease, or takes it out of the count when negative.
func (m *meter) charge(bucket, n int64) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending[bucket] += n
}

// reserve notes n of a bucket as taken for a call that has not used them yet, or no longer so when negative.
func (m *meter) reserve(bucket, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reserved[bucket] += n; m.reserved[bucket] <= 0 { // below 0 where it was out of the window
		delete(m.reserved, bucket)
	}
}

// reservations is what is noted of a window that ends with a bucket. mu is held.
func (m *meter) reservations(newest int64) (n int64) {
	for b, of := range m.reserved {
		if b > newest-m.span.buckets {
			n += of
		} else {
			delete(m.reserved, b)
		}
	}
	return n
}

// idle is what the count has, and nobody has used: the rest of the lease, and what is reserved. mu is held.
func (m *meter) idle() int64 {
	n := m.reservations(m.own.newest)
	if l := m.lease.Load(); l != nil {
		n += max(0, l.left.Load())
	}
	return n
}

// demanded is what was asked for since the last exchange. mu is held.
func (m *meter) demanded() int64 {
	demanded := m.vain.Load() + m.waiting.Load()
	if l := m.lease.Load(); l != nil {
		demanded += l.granted - l.left.Load() - l.spent
	}
	return max(0, demanded)
}

// exchanged begins demanded anew. mu is held.
func (m *meter) exchanged() {
	m.vain.Store(0)
	if l := m.lease.Load(); l != nil {
		l.spent = l.granted - l.left.Load()
	}
}

// replace takes the lease back and gives another or none.
func (m *meter) replace(next *lease) {
	if old := m.lease.Swap(next); old != nil {
		left := old.left.Swap(closed)
		m.vain.Add(old.granted - max(0, left) - old.spent)
		if left > 0 {
			m.pending[old.bucket] -= left
			if old.shared {
				m.mine.add(old.bucket, -left)
			}
		}
	}
}

// windowed is what is in the window but what was spent of the share, and that.
func (m *meter) windowed(bucket int64) (before, mine int64) {
	untold := int64(0)
	for b, n := range m.pending {
		if b > bucket-m.span.buckets {
			untold += n
		} else {
			delete(m.pending, b)
		}
	}
	for _, c := range m.sent {
		if c.bucket > bucket-m.span.buckets {
			untold += c.n
		}
	}
	mine = m.mine.sum(bucket)
	return m.own.sum(bucket) + untold - mine + m.others.sum(bucket), mine
}

// uncounted is what was used beyond leases and the count has not been told.
func (m *meter) uncounted() (n int64) {
	for _, of := range m.pending {
		n += of
	}
	return n
}

// frees is when the oldest of the window leaves it, in milliseconds from now; the whole window's time when nobody knows.
func (m *meter) frees(now time.Duration) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	bucket, at := m.bucket(now), int64(0)
	m.own.advance(bucket)
	m.others.advance(bucket)
	for _, r := range []*ring{&m.own, &m.others} {
		r.each(func(b, n int64) bool {
			if n > 0 && (at == 0 || b < at) {
				at = b
			}
			return n <= 0
		})
	}
	if at == 0 {
		at = bucket
	}
	return max(0, m.span.leaves(at)-m.ms(now))
}
