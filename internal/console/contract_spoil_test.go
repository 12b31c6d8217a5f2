package console

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"callgate/internal/openapi"
)

// What stands in for a good value. Bodies and values are as they stand on the wire.
var (
	badValues = []json.RawMessage{
		json.RawMessage(`null`), json.RawMessage(`0`), json.RawMessage(`-1`), json.RawMessage(`1e400`), json.RawMessage(`9223372036854775808`),
		json.RawMessage(`1.5`), json.RawMessage(`true`), json.RawMessage(`[]`), json.RawMessage(`{}`), json.RawMessage(`""`), json.RawMessage(`"   "`),
		json.RawMessage(`"\u0000"`), json.RawMessage(`"\ud800"`), json.RawMessage(`"\u202e\u0007"`), json.RawMessage(`[null]`), json.RawMessage(`[[]]`),
		json.RawMessage(`["\u0000","x","x"]`), json.RawMessage(`"http://169.254.169.254/"`), json.RawMessage(`"file:///etc/passwd"`), json.RawMessage(`"http://[::1"`),
		json.RawMessage(`"../../x"`), json.RawMessage(`"a\r\nb: c"`), json.RawMessage(`"` + strings.Repeat("長", 6_000) + `"`),
		json.RawMessage(`["` + strings.Repeat(`x","`, 600) + `y"]`),
	}
	badBodies = [][]byte{
		{}, []byte("null"), []byte("[]"), []byte("{"), []byte(`"x"`), []byte("7"), []byte(`{"name":}`), []byte("{\"name\":\"\xff\"}"), []byte("\xef\xbb\xbf{}"),
		[]byte(`{"name":"a","name":7}`), []byte(`{"":""}`), []byte("a=b&c=d"), []byte(strings.Repeat("[", 20_000)),
		[]byte(strings.Repeat(`{"a":`, 20_000)), []byte(`{"name":"` + strings.Repeat("a", maxBody) + `"}`),
	}
	badSegments = []string{"x", "%00", "%ff", "a%2Fb", "..%2F..", "%F0%9F%98%80", "00000000-0000-0000-0000-000000000000",
		"{0198b5c2-1f30-7a0c-8d55-90e2c4a1b7f3}", "0198B5C2-1F30-7A0C-8D55-90E2C4A1B7F3", strings.Repeat("a", 2_000), "'%3B--", "%20"}
	badQueries = []string{"", "0", "-1", "1e3", "101", "2147483648", "99999999999999999999", "2026-02-30", "1999-12-31", "2101-01-01", "2000-01-01", "today",
		"\x00", "\xff", "%", "'; --", strings.Repeat("9", 3_000), strings.Repeat("9", 20_000), "中文", "_%"}
	badCredentials = []string{"", "Bearer ", "Bearer x", "Basic eDp5", "Bearer a.b.c", "Bearer cg-Ab12exampleexampleexampleexampleexampleExamplwxyz"}
)

// spoil makes one thing of a request wrong, or at least odd.
func (f *fuzzer) spoil(op openapi.Operation, s *shot) {
	body, _ := s.body.(map[string]any)
	switch kind := f.random.IntN(10); {
	case kind == 0:
		s.header.Del("Cookie")
		s.header.Set("Authorization", pick(f, badCredentials))
	case kind <= 3 && body != nil:
		s.raw = bytes.Clone(pick(f, badBodies))
	case kind <= 7 && len(body) > 0:
		name := pick(f, slices.Sorted(maps.Keys(body)))
		if kind == 7 {
			delete(body, name)
		} else {
			body[name] = pick(f, badValues)
		}
	case kind <= 8 && len(s.path) > 0:
		s.path[pick(f, slices.Sorted(maps.Keys(s.path)))] = pick(f, badSegments)
	default:
		f.spoilQuery(op, s)
	}
}

func (f *fuzzer) spoilQuery(op openapi.Operation, s *shot) {
	name := "unknown"
	if len(op.Parameters) > 0 {
		name = pick(f, op.Parameters)["name"].(string)
	}
	s.query.Set(name, pick(f, badQueries))
	if f.random.IntN(3) == 0 {
		s.query.Add(name, pick(f, badQueries))
	}
}
