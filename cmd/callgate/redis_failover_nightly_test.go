//go:build nightly

package main

import (
	"fmt"
	"testing"
)

// TestARedisFailoverCostsNoCallAndRevivesNoKey kills a server of Redis under load: no call fails, be its key known
// to the gateway or not, and a key that was revoked before, during or after is refused, also when the server that
// takes over never heard of it and still has what the key once allowed.
func TestARedisFailoverCostsNoCallAndRevivesNoKey(t *testing.T) {
	for kind, fleet := range map[string]func(*testing.T) *redisFleet{"sentinel": sentinels, "cluster": cluster} {
		for n := range failovers {
			t.Run(fmt.Sprint(kind, " ", n+1), func(t *testing.T) { failRedisOver(t, fleet(t)) })
		}
	}
}
