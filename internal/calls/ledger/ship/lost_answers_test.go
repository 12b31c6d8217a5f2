package ship_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"regexp"
	"sync"
	"testing"
	"time"

	"callgate/internal/calls/callstest"
	"callgate/internal/calls/ledger/ledgertest"
	"callgate/internal/calls/ledger/shards"
	"callgate/internal/calls/ledger/ship"
	"callgate/internal/calls/spool"
	"callgate/internal/embedded"
)

// cutter cuts the connection to ClickHouse when an insert was applied and its answer is on the way.
type cutter struct {
	mu      sync.Mutex
	table   string // of the insert under way
	batch   string // its token
	planned map[string]int
	cut     int
	applied int // cuts after which the rows of the insert were there
	there   func(table, batch string) bool
}

var tokenOf = regexp.MustCompile(`[0-9a-f-]{36}/\d{4}-\d\d-\d\d/\d+`)

// asked lets everything pass and notes which table is written to.
func (c *cutter) asked(piece []byte) bool {
	at := bytes.Index(piece, []byte("INSERT INTO call"))
	if at < 0 {
		return true
	}
	table := "calls"
	if bytes.HasPrefix(piece[at:], []byte("INSERT INTO call_failures")) {
		table = "call_failures"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table, c.batch = table, string(tokenOf.Find(piece))
	return true
}

// endOfStream is the packet with which ClickHouse says that an insert is done.
const endOfStream = 5

// answered lets everything pass but the end of an insert that is to be cut.
func (c *cutter) answered(piece []byte) bool {
	return piece[len(piece)-1] != endOfStream || !c.cuts()
}

// cuts tells whether this answer is to be lost, and asks ClickHouse itself whether the insert was
// applied.
func (c *cutter) cuts() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	table := c.table
	if c.table = ""; table == "" || c.planned[table] == 0 {
		return false
	}
	c.planned[table]--
	c.cut++
	if c.there(table, c.batch) {
		c.applied++
	}
	return true
}

// plan sets how many answers about each table are lost, and tells how many are still to be.
func (c *cutter) plan(calls, failures int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planned = map[string]int{"calls": calls, "call_failures": failures}
}

const wave = 20 // calls, a tenth of them failures

// cutAnswers ships waves of calls until so many connections were cut, and tells how many waves.
func cutAnswers(t *testing.T, s *stores, when string, cuts int, remembered time.Duration) (waves int) {
	t.Helper()
	c := &cutter{there: func(table, batch string) bool {
		var n uint64
		err := s.Conn.QueryRow(context.Background(), `SELECT count() FROM `+table+` WHERE batch_id = $1`, batch).Scan(&n)
		return err == nil && n > 0
	}}
	link := embedded.NewLink(t, s.URL)
	link.Inspect(c.asked, c.answered)
	to, err := shards.Open(link.URL())
	if err != nil {
		t.Fatal(err)
	}
	from := ledgertest.OpenSpool(t, spool.Config{SealAfter: 5 * time.Millisecond})
	r := &ledgertest.Recorder{Spool: from, Shipper: ship.StartTo(to, remembered, from, s.Pool, callstest.Quiet)}
	for ; c.cut < cuts; waves++ {
		c.plan(1+rand.IntN(3), rand.IntN(2))
		for i := range wave {
			r.Add(callstest.Mixed(time.Now(), i))
		}
		callstest.Eventually(t, 30*time.Second, "the wave is shipped", func() bool {
			return r.Written() == uint64(waves*wave+wave) && r.Pending().Oldest == spool.Never
		})
	}
	if err := ledgertest.Shut(r); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d connections cut in %d waves of %d calls, %d of them after the insert was applied", when, c.cut, waves, wave, c.applied)
	if c.applied != c.cut {
		t.Errorf("%d of %d connections were cut before the insert was applied", c.cut-c.applied, c.cut)
	}
	return waves
}
