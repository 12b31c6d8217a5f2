package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"callgate/internal/embedded"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		fail(play(role))
		return
	}
	os.Exit(m.Run())
}

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

func TestARatioOfMediansTellsHowSureItIs(t *testing.T) {
	var ours, theirs []float64
	for i := range 101 {
		theirs = append(theirs, float64(100+i*37%101))
		ours = append(ours, 2*theirs[i])
	}
	if got := ratioOfMedians(ours, theirs, 1); got != "2.000 (2.000–2.000)" {
		t.Errorf("rounds that all agree: %s", got)
	}
	slices.Reverse(theirs)
	var ratio, least, most float64
	got := ratioOfMedians(ours, theirs, 1)
	if _, err := fmt.Sscanf(got, "%f (%f–%f)", &ratio, &least, &most); err != nil || ratio != 2 || least > 1.95 || least < 1.4 || most < 2.05 || most > 2.8 {
		t.Errorf("rounds that do not: %s, %v", got, err)
	}
}

func TestARatioOfSeveralStartsIsAsSureAsTheseAreAlike(t *testing.T) {
	var ours, theirs []float64
	for start := range 5 {
		for range 200 {
			ours, theirs = append(ours, 100+float64(start)), append(theirs, 100)
		}
	}
	if got := ratioOfMedians(ours, theirs, 1); got != "1.020 (1.020–1.020)" {
		t.Errorf("by rounds: %s", got)
	}
	var ratio, least, most float64
	got := ratioOfMedians(ours, theirs, 5)
	if _, err := fmt.Sscanf(got, "%f (%f–%f)", &ratio, &least, &most); err != nil || ratio != 1.02 || least > 1.01 || least < 1 || most < 1.03 || most > 1.04 {
		t.Errorf("by starts: %s, %v", got, err)
	}
}
