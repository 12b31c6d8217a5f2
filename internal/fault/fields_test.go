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
