package ship

import (
	"slices"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/spool"
	"callgate/internal/cluster"
)

// batch is what one INSERT carries: rows of one Beijing day of one segment, and of a cluster one shard, in record
// order.
type batch struct {
	day   beijing.Day
	token string
	rows  []spool.Row
}

// cut divides the rows of a segment that are a shard's by Beijing day, in record order within each day, the
// same way whoever does it. It sorts rows by day.
func cut(of *shards.Shard, g *spool.Segment, rows []spool.Row) []*batch {
	byDay := func(a, b spool.Row) int { return int(dayOf(a.Start)) - int(dayOf(b.Start)) }
	if !slices.IsSortedFunc(rows, byDay) {
		slices.SortStableFunc(rows, byDay)
	}
	var batches []*batch
	for from := 0; from < len(rows); {
		day, n := dayOf(rows[from].Start), 0
		to := from
		for to < len(rows) && dayOf(rows[to].Start) == day {
			to++
		}
		for ; from < to; n++ {
			end := min(from+spool.MaxRecords, to)
			batches = append(batches, &batch{day, of.Token(g.ID, day, n), rows[from:end]})
			from = end
		}
	}
	return batches
}

// dayOf is the Beijing day of a start in Unix milliseconds, as beijing.DayOf gives it.
func dayOf(ms int64) beijing.Day {
	const offset, day = 8 * 3600 * 1000, 24 * 3600 * 1000
	return beijing.Day((ms + offset) / day) // stored starts lie after 1970 (calls.MinStart)
}

// ofShard keeps the rows of a shard's applications.
func ofShard(of *shards.Shard, rows []spool.Row) []spool.Row {
	if of.Of < 2 {
		return rows
	}
	return slices.DeleteFunc(rows, func(r spool.Row) bool { return cluster.Of(r.Application, of.Of) != of.Number-1 })
}
