//go:build nightly

package main

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// TestHoursOfMixedCallsLeaveNothingBehind makes calls of every kind at a steady rate, SOAK_SECONDS long, and
// looks at the gateway's memory on the way, and at its goroutines and open files before and after.
func TestHoursOfMixedCallsLeaveNothingBehind(t *testing.T) {
	lasts := time.Duration(fromEnvironment("SOAK_SECONDS", 10)) * time.Second
	rate := fromEnvironment("SOAK_RATE", 300)
	h := newInstallation(t)
	n := h.node(t, "METRICS_LISTEN="+freeAddress(t))
	load := &traffic{gateways: []string{n.base}, key: h.key, callers: 32, rate: rate}
	warm, cancelWarm := context.WithTimeout(t.Context(), max(lasts/10, 2*time.Second))
	defer cancelWarm()
	soak(warm, load, n)
	before := n.held(t)
	memory := n.watchMemory()

	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	others := soak(ctx, load, n)
	resident := memory.samples()
	var after holdings
	eventually(t, time.Minute, "goroutines and files are as before", func() error {
		after = n.held(t)
		if after.goroutines > before.goroutines+20 || after.files > before.files+20 {
			return fmt.Errorf("%+v before, %+v after", before, after)
		}
		return nil
	})
	third := len(resident) / 3
	early, late := medianOf(resident[:third]), medianOf(resident[len(resident)-third:])
	t.Logf("%v: %d calls at %d/s and %d requests of other kinds; resident %d MiB in the first third, %d MiB in the last; %+v before, %+v after",
		lasts, len(load.seen), rate, others, early>>20, late>>20, before, after)
	if late > early+early/10+8<<20 {
		t.Errorf("resident memory grew from %d to %d MiB", early>>20, late>>20)
	}
	h.dev.awaitThrough(h.app, time.Now(), time.Minute)
	h.awaitNoDoubts(t)
	found := load.count(t, h.environment["CLICKHOUSE_URL"])
	if len(found.lost)+found.doubled+len(load.failed)+load.broken > 0 {
		t.Errorf("%d lost, %d doubled, %d calls failed (%.1q), %d without an answer (%q)", len(found.lost), found.doubled, len(load.failed), load.failed, load.broken, load.breaks)
	}
	verified(t, h.environment)
}
