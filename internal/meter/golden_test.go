package meter

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// golden is an answer of a provider and what it says. Its file tells where it was taken from.
type golden struct {
	name string
	head Head
	body string
	want Report
}

// goldens are those in testdata: lines with a name and a value, an empty line, and the body.
func goldens(t testing.TB) (all []golden) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 70 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(string(text), "\n\n")
		g := golden{name: strings.TrimSuffix(filepath.Base(file), ".txt"), body: body}
		isSourced := false
		for line := range strings.SplitSeq(head, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "path":
				g.head.Path = []byte(value)
			case "type":
				g.head.ContentType = []byte(value)
			case "header":
				name, value, _ := strings.Cut(value, ": ")
				g.head.Count([]byte(name), []byte(value))
			case "frames":
				g.body = amazon(t, body)
			case "state":
				g.want.State = State(value)
			case "line":
				g.want.Lines = append(g.want.Lines, lineOf(t, value))
			case "id":
				g.want.AnswerID = value
			case "cost":
				g.want.ReportedCost, g.want.Currency, _ = strings.Cut(value, " ")
			default:
				if isSourced = strings.HasPrefix(line, "# "); !isSourced {
					t.Fatalf("%s: %q", file, line)
				}
			}
		}
		if !isSourced {
			t.Errorf("%s tells no source", file)
		}
		all = append(all, g)
	}
	return all
}

// lineOf reads a model, a tier ("-": none) and meters.
func lineOf(t testing.TB, text string) (l Line) {
	t.Helper()
	words := strings.Fields(text)
	for i, to := range []*string{&l.Model, &l.Tier} {
		if words[i] != "-" {
			*to = words[i]
		}
	}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		var n uint32
		if _, err := fmt.Sscan(value, &n); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		is := Meter(0)
		for is < NumMeters && is.String() != name {
			is++
		}
		l.Set(is, n)
	}
	return l
}

// amazon makes frames of lines that are each the type of an event and its payload. That of a chunk is wrapped.
func amazon(t testing.TB, body string) string {
	t.Helper()
	var b bytes.Buffer
	for line := range strings.SplitSeq(body, "\n") {
		kind, payload, _ := strings.Cut(line, " ")
		if kind == "chunk" {
			text, err := json.Marshal(map[string]string{"bytes": base64.StdEncoding.EncodeToString([]byte(payload)), "p": "abcdefgh"})
			if err != nil {
				t.Fatal(err)
			}
			payload = string(text)
		}
		b.Write(frame(kind, payload))
	}
	return b.String()
}

func frame(kind, payload string) []byte {
	var headers []byte
	for _, h := range [][2]string{{":event-type", kind}, {":content-type", "application/json"}, {":message-type", "event"}} {
		headers = append(append(append(headers, byte(len(h[0]))), h[0]...), 7)
		headers = append(binary.BigEndian.AppendUint16(headers, uint16(len(h[1]))), h[1]...)
	}
	m := binary.BigEndian.AppendUint32(nil, uint32(prelude+len(headers)+len(payload)+frameSum))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

func (g *golden) read(encoding string, complete bool, pieces ...[]byte) Report {
	head := g.head
	head.Encoding = []byte(encoding)
	var r Reader
	r.Begin(head, unlimited)
	for _, p := range pieces {
		r.Write(bytes.Clone(p))
	}
	return r.End(complete)
}

func TestEveryGoldenAnswerIsReadAtEverySplit(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			body := []byte(g.body)
			for cut := 0; cut <= len(body); cut++ {
				if got := g.read("", true, body[:cut], body[cut:]); !reflect.DeepEqual(got, g.want) {
					t.Fatalf("split at %d of %d:\n%+v, want\n%+v", cut, len(body), got, g.want)
				}
			}
			single := make([][]byte, len(body))
			for i := range body {
				single[i] = body[i : i+1]
			}
			if got := g.read("", true, single...); !reflect.DeepEqual(got, g.want) {
				t.Fatalf("byte by byte:\n%+v, want\n%+v", got, g.want)
			}
		})
	}
}

func TestEveryGoldenAnswerIsReadThroughEveryEncodingAtEverySplit(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			for _, e := range encodings {
				body := encode(t, e.writer, g.body, true)
				step := 1 + len(body)/20
				if os.Getenv("METER_SPLITS") == "all" {
					step = 1
				}
				for cut := 0; cut <= len(body); cut += step {
					if got := g.read(e.name, true, body[:cut], body[cut:]); !reflect.DeepEqual(got, g.want) {
						t.Fatalf("%s, split at %d of %d:\n%+v, want\n%+v", e.name, cut, len(body), got, g.want)
					}
				}
			}
		})
	}
}

// TestAGoldenAnswerThatIsCutNeverSaysMore, wherever it is cut: it is partial, and no number is larger than of the whole.
func TestAGoldenAnswerThatIsCutNeverSaysMore(t *testing.T) {
	for _, g := range goldens(t) {
		declined := 0 // until then a stream tells of an attempt that will not be charged
		if strings.HasPrefix(g.name, "anthropic-fallback-stream") {
			declined = strings.Index(g.body, "event: content_block_stop")
		}
		for cut := declined; cut < len(g.body); cut++ {
			got := g.read("", false, []byte(g.body[:cut/2]), []byte(g.body[cut/2:cut]))
			if got.State != Partial && (got.State != Repeated || g.want.State != Repeated) {
				t.Fatalf("%s cut at %d: %s", g.name, cut, got.State)
			}
			sum, whole := got.Sum(), g.want.Sum()
			for m := range Meter(NumMeters) {
				n, _ := sum.Count(m)
				if most, _ := whole.Count(m); n > most {
					t.Fatalf("%s cut at %d: %d %s, of the whole %d", g.name, cut, n, m, most)
				}
			}
		}
	}
}

// TestAGoldenAnswerThatIsQuotedIsNotCounted: as a text, in what a tool is given, and deep in what no place leads to.
func TestAGoldenAnswerThatIsQuotedIsNotCounted(t *testing.T) {
	for _, g := range goldens(t) {
		text, err := json.Marshal(g.body)
		if err != nil {
			t.Fatal(err)
		}
		quoted := string(text)
		if json.Valid([]byte(g.body)) {
			quoted = g.body
		}
		for _, body := range []string{
			`{"choices":[{"index":0,"message":{"content":` + string(text) + `}}]}`,
			`{"content":[{"type":"tool_use","input":` + quoted + `}]}`,
			`{"output":[{"type":"function_call","arguments":` + string(text) + `,"result":` + quoted + `}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"args":` + quoted + `}}]}}]}`,
			`{"deep":` + strings.Repeat("[", 300) + quoted + strings.Repeat("]", 300) + `}`,
			sse(`{"type":"content_block_delta","delta":{"partial_json":` + string(text) + `,"input":` + quoted + `}}`),
			sse(`{"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"arguments":` + string(text) + `,"x":` + quoted + `}}]}}]}`),
			sse(`{"type":"response.output_item.done","item":` + quoted + `}`),
			string(frame("contentBlockDelta", `{"delta":{"toolUse":{"input":`+string(text)+`},"x":`+quoted+`}}`)),
		} {
			var r Reader
			r.Begin(Head{}, unlimited)
			r.Write([]byte(body))
			if got := r.End(true); got.State != Absent || len(got.Lines) > 0 || got.ReportedCost != "" {
				t.Fatalf("%s in %.60q: %+v", g.name, body, got)
			}
		}
	}
}

// TestEveryLineHasItsParts: whatever was said, what is part of a number is no more than it.
func TestEveryLineHasItsParts(t *testing.T) {
	for _, g := range goldens(t) {
		for _, l := range g.want.Lines {
			at := func(m Meter) uint32 { n, _ := l.Count(m); return n }
			if at(CachedInput)+at(CacheWrite) > at(Input) || at(Reasoning) > at(Output) || at(CacheWrite5m)+at(CacheWrite30m)+at(CacheWrite1h)+at(CacheWrite12h) > at(CacheWrite) {
				t.Errorf("%s: %+v", g.name, l)
			}
		}
	}
}

// TestAnEventStreamIsKnownAsOne, whatever its type says, and a document as none.
func TestAnEventStreamIsKnownAsOne(t *testing.T) {
	for _, g := range goldens(t) {
		var r Reader
		r.Begin(g.head, unlimited)
		_, _ = io.WriteString(writer{&r}, g.body)
		r.End(true)
		want := strings.Contains(g.name, "stream")
		if want = want || g.name == "stream-without-type"; r.IsStream() != want {
			t.Errorf("%s: %v", g.name, r.IsStream())
		}
	}
}

type writer struct{ *Reader }

func (w writer) Write(p []byte) (int, error) {
	w.Reader.Write(p)
	return len(p), nil
}
