package stats

// settled is what was recorded by an instant in the newest hours, by second. Nothing is added to it any
// more, but by gateways that say nothing of when: the rollup tells.
type settled struct {
	base    int64  // Unix milliseconds
	seconds series // newest first
}

// nothingSettled is before every call, those that say nothing of when they were recorded too.
var nothingSettled = settled{base: -1}

// settledKey is the same for all lists that count the same newest hours.
func (l *listing) settledKey() seriesKey {
	from := max(l.newest, l.days.Start.Start().Unix())
	return partsKey(*l.q, timeBucket{start: from, unit: unit(l.days.End.End().Unix() - from)})
}

// plus adds what was counted in some seconds.
func (t series) plus(more map[int64]timeBucket) series {
	sum := make(series, 0, len(t)+len(more))
	for _, s := range t {
		if m, ok := more[s.start]; ok {
			s.add(m)
			delete(more, s.start)
		}
		sum = append(sum, s)
	}
	for _, m := range more {
		if m.rows > 0 {
			sum = append(sum, m)
		}
	}
	sum.sort()
	return sum
}

// hours adds up seconds, newest first.
func (t series) hours() (hours series) {
	for _, s := range t {
		if n := len(hours); n == 0 || !hours[n-1].holds(s.start) {
			hours = append(hours, timeBucket{start: s.start - s.start%int64(hour), unit: hour, fromRows: s.fromRows})
		}
		hours[len(hours)-1].add(s)
	}
	return hours
}

// fewer tells whether the rollup holds calls, from a start on, that the hours do not.
func (t series) fewer(rolledUp series, from int64) bool {
	rows := map[int64]int64{}
	for _, h := range t {
		rows[h.start] = h.rows
	}
	for _, s := range rolledUp {
		if s.unit == hour && s.start >= from && rows[s.start] < s.rows {
			return true
		}
	}
	return false
}
