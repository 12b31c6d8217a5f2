package limits

// span is how a limit counts: in buckets, of which the newest are its window. Times are milliseconds since 1970.
type span struct {
	unit    int64 // of a bucket
	offset  int64 // added to the clock, so that a bucket of a day is a Beijing day
	buckets int64 // of the window
}

func (s span) bucket(ms int64) int64 { return (ms + s.offset) / s.unit }

// leaves is when a bucket leaves the window.
func (s span) leaves(bucket int64) int64 { return (bucket+s.buckets)*s.unit - s.offset }

// ring holds the amounts of the newest buckets.
type ring struct {
	amounts []int64
	newest  int64
	total   int64
}

func newRing(buckets int64) ring { return ring{amounts: make([]int64, buckets)} }

func (r *ring) at(bucket int64) *int64 { return &r.amounts[bucket%int64(len(r.amounts))] }

// advance makes bucket the newest one; what is out of the window by that is forgotten.
func (r *ring) advance(bucket int64) {
	size := int64(len(r.amounts))
	for b := max(r.newest+1, bucket-size+1); b <= bucket; b++ {
		r.total -= *r.at(b)
		*r.at(b) = 0
	}
	r.newest = max(r.newest, bucket)
}

// add changes the amount of a bucket in the window; others are out of it.
func (r *ring) add(bucket, n int64) {
	r.advance(bucket)
	if bucket > r.newest-int64(len(r.amounts)) {
		*r.at(bucket) += n
		r.total += n
	}
}

// sum is what is in the window when bucket is the newest.
func (r *ring) sum(bucket int64) int64 {
	r.advance(bucket)
	return r.total
}

// each gives the buckets that hold something, the oldest first.
func (r *ring) each(yield func(bucket, n int64) bool) {
	for b := r.newest - int64(len(r.amounts)) + 1; b <= r.newest; b++ {
		if b >= 0 && *r.at(b) != 0 && !yield(b, *r.at(b)) {
			return
		}
	}
}
