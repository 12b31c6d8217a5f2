//go:build nightly

package main

import (
	"fmt"
	"testing"
)

// TestAPostgreSQLFailoverCostsNoCallAndNoAcknowledgedEdit kills the primary under load and promotes its
// standby: no call fails, none is taken for one with an unknown key, edits are refused with 503 until there is a
// primary again, and none that was acknowledged is lost.
func TestAPostgreSQLFailoverCostsNoCallAndNoAcknowledgedEdit(t *testing.T) {
	for n := range failovers {
		t.Run(fmt.Sprint("round ", n+1), failPostgresOver)
	}
}
