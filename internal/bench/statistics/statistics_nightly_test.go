//go:build nightly

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"callgate/internal/embedded"
)

// TestEveryQuestionIsMeasuredAndTheRollupsAreProven runs all of it, too small to say anything about speed.
func TestEveryQuestionIsMeasuredAndTheRollupsAreProven(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "callgate")
	if out, err := exec.Command("go", "build", "-o", binary, "callgate/cmd/callgate").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for shards, only := range map[int][]string{
		1: {"| growth from 80 to 800 rows, the most", "1 accounts, 50 applications, ", "calls; 0 differences"},
		2: {"| growth from 400 to 800 rows on 2 shards, the most"},
	} {
		// callgate verify takes most of the time, and is tested on shards where it is at home.
		e := effort{rows: 800, shards: shards, applications: 50, days: 12, questions: 1, warmRounds: 1, coldKinds: 1, verified: 2 - shards}
		var out strings.Builder
		err := onEngines(t.Context(), "", shards, func(dir string, engines *embedded.Engines) error {
			return run(t.Context(), e, binary, dir, engines, &out)
		})
		if err != nil {
			t.Fatalf("%d shards: %v\n%s", shards, err, out.String())
		}
		for _, said := range append(only, "| overview of 50 applications", "| call flow, crowded hour, failures of one model", "| failure detail",
			"| explore, 31 days, percentiles", "| everyone: overview, 30 days", "usage_daily: 0 differ", "usage_hourly: 0 differ", "tokens_daily: 0 differ") {
			if !strings.Contains(out.String(), said) {
				t.Errorf("%d shards: %q is not in\n%s", shards, said, out.String())
			}
		}
	}
}
