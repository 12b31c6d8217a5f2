//go:build replicas

package ship_test

import (
	"bytes"
	"context"
	"regexp"
	"sync"
	"testing"

	"callgate/internal/calls/ledger/ledgertest"
)

// replicaCutter loses the answers of inserts that were applied, one a wave, and sees through which replica each is
// sent again.
type replicaCutter struct {
	r      *ledgertest.Replicated
	stores map[string]*ledgertest.Stores // of each replica, by its engine

	mu    sync.Mutex
	table string            // whose next answer is to be lost; empty: none
	last  map[string]string // engine that was cut, by table and batch
	cutState
}

type cutState struct{ cut, applied, throughOther int }

func newReplicaCutter(t *testing.T, r *ledgertest.Replicated) *replicaCutter {
	t.Helper()
	c := &replicaCutter{r: r, stores: map[string]*ledgertest.Stores{}, last: map[string]string{}}
	for shard := range r.Shards {
		for replica := range 2 {
			c.stores[r.EngineOf(shard, replica)] = r.Node(t, shard, replica)
		}
	}
	return c
}

func (c *replicaCutter) state() cutState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cutState
}

// plan has an answer lost: about calls, every fourth time about their details.
func (c *replicaCutter) plan(wave int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.table = "calls"; wave%4 == 3 {
		c.table = "call_failures"
	}
}

var clusterToken = regexp.MustCompile(`[0-9a-f-]{36}/\d{4}-\d\d-\d\d/\d+-of-\d+/\d+`)

// inspect watches one replica's connections: each has one insert under way at most.
func (c *replicaCutter) inspect(engine string) (asked, answered func([]byte) bool) {
	var table, batch string // of the insert under way
	asked = func(piece []byte) bool {
		at := bytes.Index(piece, []byte("INSERT INTO call"))
		if at < 0 {
			return true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		table, batch = "calls", string(clusterToken.Find(piece))
		if bytes.HasPrefix(piece[at:], []byte("INSERT INTO call_failures")) {
			table = "call_failures"
		}
		if before := c.last[table+batch]; before != "" {
			if delete(c.last, table+batch); before != engine {
				c.throughOther++
			}
		}
		return true
	}
	answered = func(piece []byte) bool {
		if piece[len(piece)-1] != endOfStream {
			return true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if table == "" || table != c.table {
			return true
		}
		var rows uint64
		err := c.stores[engine].Conn.QueryRow(context.Background(), `SELECT count() FROM `+table+` WHERE batch_id = $1`, batch).Scan(&rows)
		if c.cut++; err == nil && rows > 0 {
			c.applied++
			c.last[table+batch] = engine
		}
		c.table, table = "", ""
		return false
	}
	return asked, answered
}
