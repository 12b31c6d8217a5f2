package spool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"callgate/internal/calls"
)

// TestSegmentsOfTheVersionBeforeAreRead decodes a segment as the version before left it when it was killed
// while ClickHouse was away: what a process upgraded in between adopts.
func TestSegmentsOfTheVersionBeforeAreRead(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.segment")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d segments, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		id := uuid.MustParse(strings.TrimSuffix(filepath.Base(path), ".segment"))
		var successes, failures int
		found := scanFrames(data, id[:], func(sequence uint32, payload string) {
			var r Row
			switch err := decodePayload(payload, &r); {
			case err != nil:
				t.Errorf("record %d: %v", sequence, err)
			case r.Success && r.Status == 200 && r.Model == "demo-chat" && r.Start > calls.MinStart:
				successes++
			case r.Status == 429 && r.ReasonCode == string(calls.UpstreamStatus) && strings.Contains(r.Failure.Body, `"demo-error-429"`) && r.Failure.Message != "":
				failures++
			default:
				t.Errorf("record %d: %+v", sequence, r)
			}
		})
		if found.damaged != 0 || successes < 5 || failures == 0 {
			t.Errorf("%s: %d successes, %d failures, %+v", path, successes, failures, found)
		}
	}
}
