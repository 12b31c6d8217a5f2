package console

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"
	"unicode"
)

// sheet writes CSV as spreadsheets open it: known to be UTF-8 by its byte order mark, and without a formula in any cell,
// whichever column a caller or an upstream filled. There is no way to its writer but through it.
type sheet struct{ lines *csv.Writer }

// newSheet begins a file, of which nothing is sent before the first flush.
func newSheet(to io.Writer, headings []string) (*sheet, error) {
	s := &sheet{csv.NewWriter(to)}
	headings = slices.Clone(headings)
	headings[0] = "\ufeff" + headings[0]
	return s, s.lines.Write(headings)
}

func (s *sheet) line(cells []string) error {
	for i, text := range cells {
		cells[i] = noFormula(text)
	}
	return s.lines.Write(cells)
}

func (s *sheet) flush() error {
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
