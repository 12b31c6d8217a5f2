package fault

import (
	"errors"
	"strings"
	"testing"
)

func TestEveryWrongFieldIsNamedOnce(t *testing.T) {
	f := Fields{}
	f.Text("name", "", 1, 64)
	f.Text("description", strings.Repeat("字", 1025), 0, 1024)
	f.Text("model", "a\x00b", 0, 64)
	f.Text("bytes", "\xff", 0, 64)
	f.Text("good", strings.Repeat("字", 64), 1, 64)
	f.Add("name", "second message")
	var fault *Error
	if err := f.Err(); !errors.As(err, &fault) || fault.Kind != Invalid {
		t.Fatalf("error %v", err)
	}
	want := map[string]string{
		"name":        "is required",
		"description": "must have 0 to 1024 characters",
		"model":       "must not contain control characters",
		"bytes":       "must be UTF-8 text",
	}
	if len(fault.Fields) != len(want) {
		t.Fatalf("fields %v", fault.Fields)
	}
	for name, message := range want {
		if fault.Fields[name] != message {
			t.Errorf("%s: %q, want %q", name, fault.Fields[name], message)
		}
	}
}

func TestNothingWrongIsNoError(t *testing.T) {
	if err := (Fields{}).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestTheLogNamesEveryWrongField(t *testing.T) {
	err := InvalidFields(map[string]string{"name": "is required", "id": "is taken"})
	if got := err.Error(); got != "some fields are invalid; id: is taken; name: is required" {
		t.Fatal(got)
	}
}

func TestANameShowsSomethingAndReadsTheWayItIsWritten(t *testing.T) {
	for name, text := range map[string]string{
		"zero width": "\u200b\u200d\ufeff", "word joiner": "\u2060", "soft hyphen": "\u00ad", "Hangul filler": "\u3164\uffa0",
		"braille blank": "\u2800", "variation selector": "\ufe0f", "tags": "\U000e0061\U000e007f", "marks alone": "\u0301",
		"blanks": "\u00a0\u2003\u3000", "line separator": "a\u2028b", "override": "invoice\u202egpj.exe", "isolate": "a\u2066b\u2069",
		"mark": "\u200f", "Arabic letter mark": "a\u061cb", "unassigned ignorable": "\u2065",
	} {
		f := Fields{}
		f.Name("name", text, 1, 64)
		if len(f) != 1 {
			t.Errorf("%s: %q is taken for a name", name, text)
		}
	}
	for _, text := range []string{"Chat", "对话", "👩‍💻 team", "❤️", "می\u200cخواهم", "नमस्ते क्ष", "é", "عربي", "שלום", "1", "-", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"} {
		f := Fields{}
		f.Name("name", text, 1, 64)
		if len(f) != 0 {
			t.Errorf("%q is refused: %v", text, f)
		}
	}
}
