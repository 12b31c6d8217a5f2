package calls

import (
	"fmt"
	"io"
	"os"
	"slices"

	"callgate/internal/beijing"
)

// content is a segment read back: its batches, cut the same way by whoever reads it, and what could
// not be read. Its buffers are reused for the next segment.
type content struct {
	data        []byte
	rows        []row
	batches     []batch
	damaged     int // records known to be lost
	quarantined []quarantined
}

type quarantined struct {
	sequence uint32
	payload  string
}

// read fills c from a segment's file.
func (c *content) read(g *segment) error {
	c.rows, c.batches, c.quarantined = c.rows[:0], c.batches[:0], nil
	file, err := os.Open(g.path())
	if err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	c.data = resize(c.data, int(info.Size()))
	if _, err := io.ReadFull(file, c.data); err != nil {
		return fmt.Errorf("read segment: %w", err)
	}
	found := scanFrames(c.data, g.id[:], func(sequence uint32, payload string) {
		c.rows = append(c.rows, row{})
		if decodePayload(payload, &c.rows[len(c.rows)-1]) != nil {
			c.rows = c.rows[:len(c.rows)-1]
			c.quarantined = append(c.quarantined, quarantined{sequence, payload})
		}
	})
	if c.damaged = found.damaged; found.torn {
		c.damaged++ // one at least; more cannot be known
	}
	c.cut(g)
	return nil
}

// cut divides the rows by Beijing day, in record order within each day.
func (c *content) cut(g *segment) {
	byDay := func(a, b row) int { return int(dayOf(a.start)) - int(dayOf(b.start)) }
	if !slices.IsSortedFunc(c.rows, byDay) {
		slices.SortStableFunc(c.rows, byDay)
	}
	for from := 0; from < len(c.rows); {
		day, n := dayOf(c.rows[from].start), 0
		to := from
		for to < len(c.rows) && dayOf(c.rows[to].start) == day {
			to++
		}
		for ; from < to; n++ {
			end := min(from+maxSegmentRecords, to)
			c.batches = append(c.batches, batch{day, fmt.Sprintf("%s/%s/%d", g.id, day, n), c.rows[from:end]})
			from = end
		}
	}
}

// dayOf is the Beijing day of a start in Unix milliseconds, as beijing.DayOf gives it.
func dayOf(ms int64) beijing.Day {
	const offset, day = 8 * 3600 * 1000, 24 * 3600 * 1000
	return beijing.Day((ms + offset) / day) // starts lie after 1970 (decodePayload)
}
