//go:build nightly

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"callgate/internal/embedded"
)

// TestEveryRowOfTheBenchmarkIsMeasured runs all of it on the real binary, too short to say anything
// about speed.
func TestEveryRowOfTheBenchmarkIsMeasured(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "callgate")
	if out, err := exec.Command("go", "build", "-o", binary, "callgate/cmd/callgate").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	own := embedded.Stores(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := run(ctx, quick, []string{binary}, "", stores{own.DatabaseURL, own.ClickHouseURL, own.RedisURL})
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := r.print(&table, quick, nil); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"CPU per call ÷", "heap allocations", "calls per second", "CPU per call with a chunked answer", "CPU per call at 2,000 calls/s", "CPU per call, TLS",
		"CPU per SSE chunk, paced", "CPU per SSE chunk, 20 at once", "added median latency", "memory per held stream, its",
		"CPU per call, its answer read", "CPU per SSE chunk, paced, read", "CPU per SSE chunk, 20 at once, read", "CPU per SSE chunk, 20 of OpenAI at once, read", "memory per held stream, read",
	} {
		if !strings.Contains(table.String(), "| "+row) {
			t.Errorf("no row %q in\n%s", row, table.String())
		}
	}
}
