package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// compare notes every value in which the JSON of an answer differs from that of a recount.
func (f *findings) compare(where string, got, want any) {
	asked, errGot := plain(got)
	counted, errWant := plain(want)
	if errGot != nil || errWant != nil {
		f.differ(where, "cannot be compared: %v %v", errGot, errWant)
		return
	}
	f.walk(where, "", asked, counted)
}

func (f *findings) walk(where, path string, got, want any) {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			break
		}
		names := maps.Clone(want)
		maps.Copy(names, got)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			f.walk(where, path+"."+name, got[name], want[name])
		}
		return
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			f.differ(where, "%s: %d are answered, the rows give %d", path, len(got), len(want))
			return
		}
		for i := range want {
			f.walk(where, fmt.Sprintf("%s[%d%s]", path, i, labelOf(want[i])), got[i], want[i])
		}
		return
	}
	if got != want {
		f.differ(where, "%s: %v is answered, the rows give %v", path, got, want)
	}
}

// labelOf tells which day or model an element of a list is about.
func labelOf(element any) string {
	object, _ := element.(map[string]any)
	for _, name := range []string{"date", "model", "callId"} {
		if value, ok := object[name]; ok {
			return fmt.Sprintf(" %v", value)
		}
	}
	return ""
}

// plain is a value as its JSON shows it: maps, lists, and numbers to the digit.
func plain(value any) (decoded any, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&decoded); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return decoded, nil
}
