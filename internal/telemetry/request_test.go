package telemetry

import (
	"strings"
	"testing"
)

func TestLinesOfARequestNameIt(t *testing.T) {
	var out strings.Builder
	log := NewLogger(&out, "info").With("role", "console")
	log.WarnContext(WithRequest(t.Context(), "id-1"), "in it")
	log.WarnContext(t.Context(), "outside")
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[0], `"requestId":"id-1"`) || strings.Contains(lines[1], "requestId") || !strings.Contains(lines[1], `"role":"console"`) {
		t.Fatal(out.String())
	}
}
