package cluster

import (
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

// TestNothingIsPromisedThatTheReplicaThatIsAskedMayLack: of replicas that are asked the one furthest behind counts.
func TestNothingIsPromisedThatTheReplicaThatIsAskedMayLack(t *testing.T) {
	now := time.Now()
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	for name, c := range map[string]struct {
		replicas []replicaState
		want     time.Time
	}{
		"nothing is replicated":     {nil, time.Time{}},
		"all are current":           {[]replicaState{{1, "a", 0, false}, {1, "b", 0, false}}, ago(1)},
		"one is a little behind":    {[]replicaState{{1, "a", 0, false}, {1, "b", 1, false}}, ago(2)},
		"one is stale":              {[]replicaState{{1, "a", 0, false}, {1, "b", 500, false}}, ago(1)},
		"all are stale":             {[]replicaState{{1, "a", 40, false}, {1, "b", 500, false}}, ago(41)},
		"a shard is stale":          {[]replicaState{{1, "a", 0, false}, {2, "c", 70, false}}, ago(71)},
		"one has lost its session":  {[]replicaState{{1, "a", 0, false}, {1, "known", 0, true}}, ago(9)},
		"one never had a session":   {[]replicaState{{1, "a", 0, false}, {1, "unknown", 0, true}}, time.UnixMilli(0)},
		"one that is stale is lost": {[]replicaState{{1, "a", 0, false}, {1, "unknown", 90, true}}, ago(1)},
	} {
		s := newSample()
		s.healthy["known"] = ago(9)
		if s.take(now, c.replicas); !s.fetched.Equal(c.want) {
			t.Errorf("%s: fetched %s ago, want %s", name, now.Sub(s.fetched), now.Sub(c.want))
		}
	}
}
