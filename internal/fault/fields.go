package fault

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fields collects what is wrong with the fields of one request, so that all of it is told at once.
// The first message of a field stays.
type Fields map[string]string

// Add notes that the field is wrong.
func (f Fields) Add(field, format string, args ...any) {
	if _, told := f[field]; !told {
		f[field] = fmt.Sprintf(format, args...)
	}
}

// Text checks a UTF-8 text of least to most characters without control characters.
func (f Fields) Text(field, value string, least, most int) {
	switch n := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value):
		f.Add(field, "must be UTF-8 text")
	case n < least && n == 0:
		f.Add(field, "is required")
	case n < least || n > most:
		f.Add(field, "must have %d to %d characters", least, most)
	case strings.ContainsFunc(value, unicode.IsControl):
		f.Add(field, "must not contain control characters")
	}
}

// Name is Text for what people tell things apart by: it shows something, and reads the way it is
// written. Joiners between visible characters are letters' and emoji's own and stay.
func (f Fields) Name(field, value string, least, most int) {
	f.Text(field, value, least, most)
	switch {
	case strings.ContainsFunc(value, misleads):
		f.Add(field, "must not contain line separators or characters that turn the direction of writing")
	case value != "" && !strings.ContainsFunc(value, shows):
		f.Add(field, "must have a visible character")
	}
}

// misleads tells what makes a text read otherwise than it is stored.
func misleads(r rune) bool {
	return r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// blanks are letters and symbols by category that show nothing: fillers of Hangul, the empty braille cell.
const blanks = "\u115f\u1160\u2800\u3164\uffa0"

func shows(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !strings.ContainsRune(blanks, r)
}

// Storable tells whether text is one that every store takes: UTF-8 without NUL.
func Storable(text string) bool {
	return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0
}

// Err is nil when nothing is wrong, else an Invalid fault that names every wrong field.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return InvalidFields(f)
}
