package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Sheet writes CSV as spreadsheets open it: known to be UTF-8 by its byte order mark, and without a formula in any cell,
// whichever column a caller or an upstream filled. There is no way to its writer but through it.
type Sheet struct{ lines *csv.Writer }

// NewSheet begins a file, of which nothing is sent before the first flush.
func NewSheet(to io.Writer, headings []string) (*Sheet, error) {
	s := &Sheet{csv.NewWriter(to)}
	headings = slices.Clone(headings)
	headings[0] = "\ufeff" + headings[0]
	return s, s.lines.Write(headings)
}

// Line adds a line. It changes cells.
func (s *Sheet) Line(cells []string) error {
	for i, text := range cells {
		cells[i] = noFormula(text)
	}
	return s.lines.Write(cells)
}

// Flush sends what there is.
func (s *Sheet) Flush() error {
	s.lines.Flush()
	return s.lines.Error()
}

// noFormula puts an apostrophe before what a spreadsheet would work out: signs in their full widths too, which some take
// for the others, and behind whatever they trim.
func noFormula(text string) string {
	seen := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.In(r, unicode.Z, unicode.C) })
	if strings.IndexAny(seen, "=+-@＝＋－＠") == 0 || strings.IndexAny(text, "\t\r\n") == 0 {
		return "'" + text
	}
	return text
}
