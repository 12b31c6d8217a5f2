package spool

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/calls/callstest"
)

// left makes a home as an ended process leaves it, with bytes in it.
func left(t *testing.T, dir string, bytes int) (id string) {
	t.Helper()
	id = uuid.NewString()
	home := filepath.Join(dir, id)
	for path, content := range map[string][]byte{home + lockSuffix: nil, filepath.Join(home, "file"): make([]byte, bytes)} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return id
}

func TestMetricsTellWhoseEachSpoolInTheDirectoryIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left(t, dir, 20)
	// Without its goroutines, so that nothing is adopted but at the start.
	s, err := open(t.Context(), Config{Dir: dir, MaxBytes: 12345}.withDefaults(), callstest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.release() }()
	abandoned := left(t, dir, 300)
	left(t, dir, 4000)
	other, err := makeHome(t.Context(), dir, uuid.New())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.free() }()

	reg := prometheus.NewRegistry()
	reg.MustRegister(newHomes(s, s.writer.limit))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	// A series for each state, whatever the spools are called: their names are new with every process.
	want := map[string]float64{"own": 0, "adopted": 20, "abandoned": 4300, "other": 0}
	got := map[string]float64{}
	single := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			if family.GetName() == "callgate_spool_home_bytes" {
				if len(metric.Label) != 1 {
					t.Errorf("the labels are %v", metric.Label)
				}
				got[metric.Label[0].GetValue()] = metric.Gauge.GetValue()
			} else {
				single[family.GetName()] = metric.Gauge.GetValue()
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("homes have %v, want %v", got, want)
	}
	if single["callgate_spool_limit_bytes"] != 12345 || single["callgate_spool_disk_free_bytes"] <= 0 || single["callgate_spool_disk_bytes"] < single["callgate_spool_disk_free_bytes"] {
		t.Errorf("the disk is told as %v", single)
	}
	if err := claimable(dir, abandoned); err != nil {
		t.Errorf("having been looked at, it cannot be adopted: %v", err)
	}
}

func claimable(dir, id string) error {
	h, err := claim(dir, uuid.MustParse(id))
	if err != nil {
		return err
	}
	return h.free()
}
