package stats

import "time"

// At sets the clock of a reader, for tests of whole days and years.
func (r *Reader) At(now func() time.Time) { r.now = now }

// Narrow makes pages be found by hours and seconds from a few calls on.
func (r *Reader) Narrow(day, hour int64) { r.limits = scanLimits{day: day, hour: hour} }
