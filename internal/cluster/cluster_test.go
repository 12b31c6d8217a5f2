package cluster

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestAnAddressKeepsTheNameOfItsCluster(t *testing.T) {
	for dsn, name := range map[string]string{"clickhouse://u:p@h:1/db": "", "clickhouse://u:p@h:1,i:2/db": "a b&c", "tcp://u:p@h:1/db?dial_timeout=1s": "main"} {
		options, got, err := Parse(Address(dsn, name))
		if err != nil || got != name || len(options.Settings) != 0 {
			t.Errorf("%s: %q, %v, %v", dsn, got, options, err)
		}
	}
	if _, _, err := Parse("clickhouse://u:secret@h:bad:port/x%zz"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// TestNothingIsPromisedThatTheReplicaThatIsAskedMayLack: of replicas that are asked about a table the one counts that
// had everything of it the longest time ago.
func TestNothingIsPromisedThatTheReplicaThatIsAskedMayLack(t *testing.T) {
	const whole, not = true, false
	now := time.Now()
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	of := func(path, replica string, delay uint64, whole bool) tableCopy {
		return tableCopy{copyOf: copyOf{path, replica}, delay: delay, whole: whole}
	}
	for name, c := range map[string]struct {
		copies []tableCopy
		want   time.Time
		stale  bool
	}{
		"nothing is replicated":      {nil, time.Time{}, false},
		"all have everything":        {[]tableCopy{of("/1/calls", "a", 0, whole), of("/1/calls", "b", 0, whole)}, now, false},
		"one is a little behind":     {[]tableCopy{of("/1/calls", "a", 0, whole), of("/1/calls", "known", 1, not)}, ago(9), false},
		"one is stale":               {[]tableCopy{of("/1/calls", "a", 0, whole), of("/1/calls", "known", 500, not)}, now, false},
		"one is stale in one table":  {[]tableCopy{of("/1/calls", "a", 0, whole), of("/1/calls", "known", 500, not), of("/1/usage", "known", 0, whole)}, now, false},
		"all are stale":              {[]tableCopy{of("/1/calls", "known", 40, not), of("/1/calls", "older", math.MaxInt64, not)}, ago(70), true},
		"a shard is stale":           {[]tableCopy{of("/1/calls", "a", 0, whole), of("/2/calls", "other", 70, not)}, ago(71), true},
		"one was never seen to have": {[]tableCopy{of("/1/calls", "a", 0, whole), of("/1/calls", "unknown", 0, not)}, time.UnixMilli(0), false},
	} {
		s := newSample()
		s.whole = map[copyOf]time.Time{{"/1/calls", "known"}: ago(9), {"/1/calls", "older"}: ago(70), {"/2/calls", "other"}: ago(71)}
		if s.take(now, now, c.copies); !s.promised.Equal(c.want) || s.stale != c.stale {
			t.Errorf("%s: promised %s ago, want %s; stale %v", name, now.Sub(s.promised), now.Sub(c.want), s.stale)
		}
	}
}

// TestAReplicaHasEverythingWhenItHasFetchedAllOfTheLog: its delays say nothing of entries it has not heard of.
func TestAReplicaHasEverythingWhenItHasFetchedAllOfTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		table  tableCopy
		logged uint64
		want   bool
	}{
		"all is heard of and fetched": {tableCopy{heard: 8, logged: 7}, 7, true},
		"more came since":             {tableCopy{heard: 8, logged: 9}, 7, true},
		"an entry is not heard of":    {tableCopy{heard: 7, logged: 7}, 7, false},
		"an entry is not fetched":     {tableCopy{heard: 8, logged: 7, queued: 1}, 7, false},
		"its session is lost":         {tableCopy{heard: 8, logged: 7, blind: 1}, 7, false},
		"Keeper does not answer":      {tableCopy{fault: "timeout"}, 0, false},
		"nothing was ever inserted":   {tableCopy{}, 0, true},
	} {
		if got := c.table.has(c.logged); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
