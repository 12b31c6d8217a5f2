package redact

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"callgate/internal/calls"
)

// request is a failure of a completely read JSON request.
func request(body string) calls.FailureInput {
	return calls.FailureInput{Method: "POST", Path: "/v1/x", Body: []byte(body), BodyBytes: int64(len(body)), FullyRead: true, ContentType: "application/json"}
}

func TestBodyNoteIsTheFirstReasonThatHolds(t *testing.T) {
	for _, c := range []struct {
		name string
		in   calls.FailureInput
		note calls.BodyNote
		body string
	}{
		{"kept", request(`{"a": 1}`), "", `{"a":1}`},
		{"not fully read comes first", calls.FailureInput{BodyBytes: 20_000, Body: []byte("x"), ContentType: "text/plain"}, calls.NotFullyRead, ""},
		{"too large before its type", calls.FailureInput{FullyRead: true, BodyBytes: maxBody + 1, Body: []byte("x"), ContentType: "text/plain"}, calls.TooLarge, ""},
		{"empty before its type", calls.FailureInput{FullyRead: true, ContentType: "text/plain"}, calls.Empty, ""},
		{"not JSON by its type", calls.FailureInput{FullyRead: true, BodyBytes: 2, Body: []byte("{}"), ContentType: "text/plain"}, calls.NotJSON, ""},
		{"not JSON before invalid", calls.FailureInput{FullyRead: true, BodyBytes: 1, Body: []byte("{"), ContentType: "multipart/form-data; boundary=x"}, calls.NotJSON, ""},
		{"invalid JSON", request(`{"a":}`), calls.InvalidJSON, ""},
		{"two documents", request(`{} {}`), calls.InvalidJSON, ""},
		{"type with parameter", calls.FailureInput{FullyRead: true, BodyBytes: 2, Body: []byte("{}"), ContentType: "Application/JSON; charset=utf-8"}, "", `{}`},
		{"type with broken parameter", calls.FailureInput{FullyRead: true, BodyBytes: 2, Body: []byte("{}"), ContentType: "application/json; charset"}, "", `{}`},
		{"structured suffix", calls.FailureInput{FullyRead: true, BodyBytes: 2, Body: []byte("[]"), ContentType: "application/vnd.x+json"}, "", `[]`},
		{"no type: the body decides", calls.FailureInput{FullyRead: true, BodyBytes: 4, Body: []byte("null")}, "", `null`},
		{"no type and no JSON", calls.FailureInput{FullyRead: true, BodyBytes: 3, Body: []byte("a=b")}, calls.InvalidJSON, ""},
	} {
		f := failure(c.in)
		if f.BodyNote != c.note || string(f.RequestBody) != c.body || (f.RequestBody == nil) != (c.note != "") {
			t.Errorf("%s: note %q, body %q", c.name, f.BodyNote, f.RequestBody)
		}
	}
	exactly := request(`"` + strings.Repeat("x", maxBody-2) + `"`)
	if f := failure(exactly); f.BodyNote != "" {
		t.Errorf("a body of exactly 16,384 bytes: %q", f.BodyNote)
	}
}

func TestBodyIsKeptAsSentApartFromWhiteSpace(t *testing.T) {
	for _, body := range []string{
		`{"z":1,"a":[true,false,null],"e":1E400,"n":12345678901234567890.123456789012345678901234567890,"m":-0.0}`,
		`{"max_tokens":100,"prompt_tokens":3,"stop_token_ids":[1],"n":1,"n":2}`,
		`"文字 \"quoted\" \\ / <&> 🙂"`,
		`{"text":"the secretary asked: is a risk-averse-and-very-long-strategy basic understanding?"}`,
		`[[[[[[[[]]]]]]]]`,
		`0`,
	} {
		if f := failure(request(body)); string(f.RequestBody) != body {
			t.Errorf("%s became %s (%s)", body, f.RequestBody, f.BodyNote)
		}
	}
}

func TestBoundsAreThoseOfTheContract(t *testing.T) {
	body := func(v any) any {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		f := failure(request(string(raw)))
		var kept any
		if err := json.Unmarshal(f.RequestBody, &kept); err != nil {
			t.Fatalf("%v: %s", err, f.RequestBody)
		}
		return kept
	}
	if got := body(strings.Repeat("字", 1024)); got != strings.Repeat("字", 1024) {
		t.Errorf("1024 characters became %v", got)
	}
	if got := body(strings.Repeat("字", 1030)); got != strings.Repeat("字", 1024)+"…(+6)" {
		t.Errorf("1030 characters became %v", got)
	}
	if got := body(make([]int, 60)).([]any); len(got) != 51 || got[50] != "…(+10)" {
		t.Errorf("60 items became %v", got)
	}
	if got := body(make([]int, 50)).([]any); len(got) != 50 || got[49] != 0.0 {
		t.Errorf("50 items became %v", got)
	}
	wide := map[string]int{}
	for i := range 120 {
		wide[fmt.Sprint(i)] = i
	}
	if got := body(wide).(map[string]any); len(got) != 101 || got["…"] != "…(+20)" {
		t.Errorf("120 keys became %v", got)
	}
	if got := failure(request(strings.Repeat("[", 9) + "1" + strings.Repeat("]", 9))); string(got.RequestBody) != `[[[[[[[["…"]]]]]]]]` {
		t.Errorf("nine levels became %s", got.RequestBody)
	}
	if got := failure(request(strings.Repeat(`{"a":[`, 1500) + strings.Repeat("]}", 1500))); got.BodyNote != "" || len(got.RequestBody) > 100 {
		t.Errorf("3000 levels became %s %s", got.BodyNote, got.RequestBody)
	}
	query := failure(calls.FailureInput{RawQuery: "q=" + strings.Repeat("x", 600) + "&r=" + strings.Repeat("y", 512)}).Query
	if want := `{"q":"` + strings.Repeat("x", 512) + `…(+88)","r":"` + strings.Repeat("y", 512) + `"}`; string(query) != want {
		t.Errorf("query became %s", query)
	}
}

func TestWhatIsKeptNeverExceedsSixteenKilobytes(t *testing.T) {
	small := strings.TrimSuffix(strings.Repeat(`{"pwd":1},`, 49), ",")
	grown := strings.TrimSuffix(strings.Repeat("["+small+"],", 30), ",")
	for name, body := range map[string]string{
		"redaction makes it grow": "[" + grown + "]",
		"escapes make it grow":    `["` + strings.Repeat(`","`, 20) + strings.Repeat("\x7f", 15_000) + `"]`,
		"invalid UTF-8 grows":     `["` + strings.TrimSuffix(strings.Repeat(strings.Repeat("\xff", 1000)+`","`, 16), `","`) + `"]`,
		"one endless number":      strings.Repeat("1", maxBody),
		"numbers":                 "[" + strings.TrimSuffix(strings.Repeat(strings.Repeat("1", 1000)+",", 16), ",") + "]",
	} {
		f := failure(request(body))
		if len(body) > maxBody {
			t.Fatalf("%s: the test's body is too large", name)
		}
		if f.BodyNote != "" || len(f.RequestBody) > maxBody || !json.Valid(f.RequestBody) || !utf8.Valid(f.RequestBody) {
			t.Errorf("%s: note %q, %d bytes kept", name, f.BodyNote, len(f.RequestBody))
		}
	}
	var long strings.Builder
	for i := range 300 {
		fmt.Fprintf(&long, "&p%d=%s", i, strings.Repeat("%00", 500))
	}
	if query := failure(calls.FailureInput{RawQuery: long.String()}).Query; len(query) > maxBody || !json.Valid(query) {
		t.Errorf("%d bytes of query kept", len(query))
	}
}

func TestQueryIsAnObjectOfStringsAndOfListsOfThem(t *testing.T) {
	for raw, want := range map[string]string{
		"":                        `{}`,
		"a=1&b=2":                 `{"a":"1","b":"2"}`,
		"a=1&a=2&b&=x":            `{"a":["1","2"],"b":"","":"x"}`,
		"a=1%2C2&b=1,2":           `{"a":"1,2","b":"1,2"}`,
		"token=x&token=y":         `{"token":["[REDACTED]","[REDACTED]"]}`,
		"a=%E6%96%87+x%2By":       `{"a":"文 x+y"}`,
		"a=%zz&%=1":               `{"a":"%zz","%":"1"}`,
		"a=%zz%41%2":              `{"a":"%zzA%2"}`,
		"a=%ff":                   `{"a":"` + "\uFFFD" + `"}`,
		"key=abc&model=gpt-4&a=b": `{"key":"[REDACTED]","model":"gpt-4","a":"b"}`,
	} {
		if got := string(failure(calls.FailureInput{RawQuery: raw}).Query); got != want {
			t.Errorf("%q became %s, want %s", raw, got, want)
		}
	}
}

// Of a query with more parameters than anybody sends the rest is not looked at.
func TestAQueryIsLookedAtUpToAThousandParameters(t *testing.T) {
	raw := "a=1" + strings.Repeat("&&b", 998) + "&a=2&a=3&password=x"
	if got := string(failure(calls.FailureInput{RawQuery: raw}).Query); !strings.HasPrefix(got, `{"a":["1","2"],"b":["","",`) || !strings.HasSuffix(got, `"…(+948)"],"…":"…(+2)"}`) || strings.Contains(got, "password") {
		t.Errorf("became %s", got)
	}
}

func TestUpstreamErrorsYieldTheirJSONMessageOnly(t *testing.T) {
	var zipped, deflated bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(`{"error":{"message":"zipped"}}`))
	_ = z.Close()
	d := zlib.NewWriter(&deflated)
	_, _ = d.Write([]byte(`{"message":"deflated"}`))
	_ = d.Close()
	var bomb bytes.Buffer
	z = gzip.NewWriter(&bomb)
	_, _ = z.Write([]byte(`{"message":"` + strings.Repeat("x", 10<<20) + `"}`))
	_ = z.Close()
	for _, c := range []struct{ name, encoding, body, want string }{
		{"OpenAI", "", `{"error":{"message":"no quota","type":"x","code":"y"}}`, "no quota"},
		{"Anthropic", "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "Overloaded"},
		{"Google", "", `[{"error":{"code":400,"message":"bad","status":"X"}}]`, "bad"},
		{"FastAPI", "", `{"detail":[{"loc":["body"],"msg":"field required"}]}`, "field required"},
		{"text", "", `{"error":"invalid_grant","error_description":"expired"}`, "invalid_grant"},
		{"problem", "", `{"title":"Not allowed","status":403}`, "Not allowed"},
		{"plain string", "", `"oops"`, ""},
		{"no message", "", `{"code":1}`, ""},
		{"HTML", "", `<h1>502</h1>`, ""},
		{"no type", "", `{"error":{"message":"untyped"}}`, "untyped"},
		{"cut off", "", `{"error":{"message":"x"`, ""},
		{"gzip", "gzip", zipped.String(), "zipped"},
		{"cut gzip", "gzip", zipped.String()[:20], ""},
		{"gzip that is none", "gzip", `{"message":"x"}`, ""},
		{"bomb", "gzip", bomb.String(), ""},
		{"deflate", "deflate", deflated.String(), "deflated"},
		{"unknown encoding", "br", `{"message":"x"}`, ""},
		{"long", "", `{"message":"` + strings.Repeat("长", 2000) + `"}`, strings.Repeat("长", 1024)},
	} {
		f := failure(calls.FailureInput{UpstreamBody: []byte(c.body), UpstreamEncoding: c.encoding})
		if f.Message != c.want {
			t.Errorf("%s: %q", c.name, f.Message)
		}
	}
	if f := failure(calls.FailureInput{Message: "our own", UpstreamBody: []byte(`{"message":"theirs"}`)}); f.Message != "our own" {
		t.Errorf("message %q", f.Message)
	}
}

func FuzzFailure(f *testing.F) {
	f.Add([]byte(`{"a":["sk-abcdefghijklmnop1234"]}`), "a=1&token=x", "/v1/x", []byte(`{"error":{"message":"x"}}`), "gzip")
	f.Add([]byte(`"-----BEGIN "`), "%=%&&", "/%zz", []byte("\x1f\x8b"), "")
	f.Fuzz(func(t *testing.T, body []byte, query, path string, upstream []byte, encoding string) {
		got := failure(calls.FailureInput{
			Path: path, RawQuery: query, Body: body, BodyBytes: int64(len(body)), FullyRead: true,
			UpstreamBody: upstream, UpstreamEncoding: encoding, Secrets: []string{"cafe"},
		})
		if !utf8.ValidString(show(got)) || !json.Valid(got.Query) || got.RequestBody != nil && !json.Valid(got.RequestBody) {
			t.Errorf("%+v", got)
		}
		if len(got.RequestBody) > maxBody || len(got.Query) > maxBody || utf8.RuneCountInString(got.Message) > maxMessage || got.Size() > (128<<10)/2 {
			t.Errorf("%d bytes of body, %d of query", len(got.RequestBody), len(got.Query))
		}
		if strings.Contains(show(got), "cafe") {
			t.Error("the secret shows")
		}
	})
}

func BenchmarkFailure(b *testing.B) {
	in := request(`{"messages":[{"role":"user","content":"` + strings.Repeat("some ordinary text: with words, and so on. ", 360) + `"}]}`)
	in.RawQuery = "model=gpt-4o"
	b.ReportAllocs()
	for range b.N {
		failure(in)
	}
}
