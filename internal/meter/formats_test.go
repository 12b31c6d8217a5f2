package meter

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// sample is what a provider's documentation shows, or a variant that one of them sends, and what is to be read of
// it.
type sample struct {
	name string
	kind string // Content-Type
	body string
	want said // of the whole answer
}

func unlimited(int64) bool { return true }

// readIn reads an answer in pieces.
func readIn(a sample, complete bool, pieces ...[]byte) said {
	return readEncoded(a, "", complete, pieces...)
}

func readEncoded(a sample, encoding string, complete bool, pieces ...[]byte) said {
	var r Reader
	r.Begin(Head{ContentType: []byte(a.kind), Encoding: []byte(encoding)}, unlimited)
	for _, p := range pieces {
		r.Write(bytes.Clone(p)) // what is kept of it by mistake does not stay
	}
	return saidIn(r.End(complete))
}

// encodings are those that answers come in, in one block and flushed after every event.
var encodings = []struct {
	name   string
	writer func(io.Writer) io.WriteCloser
}{
	{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }},
	{"deflate", func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 5); return f }},
	{"br", func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }},
	{"zstd", func(w io.Writer) io.WriteCloser { e, _ := zstd.NewWriter(w); return e }},
}

func encode(t *testing.T, writer func(io.Writer) io.WriteCloser, body string, flush bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w := writer(&b)
	parts := []string{body}
	if flush {
		parts = strings.SplitAfter(body, "\n\n")
	}
	for _, part := range parts {
		_, err := io.WriteString(w, part)
		if f, ok := w.(interface{ Flush() error }); err == nil && flush && ok {
			err = f.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryFormatIsReadAtEverySplit(t *testing.T) {
	for _, a := range answers() {
		t.Run(a.name, func(t *testing.T) {
			body := []byte(a.body)
			for cut := 0; cut <= len(body); cut++ {
				if got := readIn(a, true, body[:cut], body[cut:]); got != a.want {
					t.Fatalf("split at %d of %d: %+v, want %+v", cut, len(body), got, a.want)
				}
			}
			single := make([][]byte, len(body))
			for i := range body {
				single[i] = body[i : i+1]
			}
			if got := readIn(a, true, single...); got != a.want {
				t.Fatalf("byte by byte: %+v, want %+v", got, a.want)
			}
		})
	}
}

func TestEveryFormatIsReadThroughEveryEncodingAtEverySplit(t *testing.T) {
	for _, a := range answers() {
		t.Run(a.name, func(t *testing.T) {
			for _, e := range encodings {
				for _, flush := range []bool{false, true} {
					body := encode(t, e.writer, a.body, flush)
					step := 1 + len(body)/60
					if os.Getenv("METER_SPLITS") == "all" {
						step = 1
					}
					for cut := 0; cut <= len(body); cut += step {
						if got := readEncoded(a, e.name, true, body[:cut], body[cut:]); got != a.want {
							t.Fatalf("%s, flushed %v, split at %d of %d: %+v, want %+v", e.name, flush, cut, len(body), got, a.want)
						}
					}
				}
			}
		})
	}
}

// A stream that is cut off anywhere reports what its events said whose data was whole by then, and never more. Only its model
// counts as soon as it is told.
func TestAStreamInterruptedAnywhereReportsWhatItSaidByThen(t *testing.T) {
	for _, a := range answers() {
		if a.kind != streamType || a.want.state == Unreadable {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			for cut := 0; cut <= len(a.body); cut++ {
				all := dataOf(a.body[:cut])
				want := readIn(a, true, []byte(sse(slices.DeleteFunc(slices.Clone(all), invalid)...)))
				want.state = Partial
				for _, text := range all {
					want.model = cmp.Or(want.model, modelIn(text))
				}
				if got := readIn(a, false, []byte(a.body[:cut/2]), []byte(a.body[cut/2:cut])); got != want {
					t.Fatalf("cut at %d (%q): %+v, want %+v", cut, a.body[max(0, cut-40):cut], got, want)
				}
			}
		})
	}
}

// dataOf are the data of the events of a stream, the last of which may be a part.
func dataOf(body string) (all []string) {
	body = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\xef\xbb\xbf", "").Replace(body)
	for event := range strings.SplitSeq(body, "\n\n") {
		var data []string
		for line := range strings.SplitSeq(event, "\n") {
			if text, is := strings.CutPrefix(line, "data:"); is {
				data = append(data, text)
			}
		}
		all = append(all, strings.Join(data, ""))
	}
	return all
}

func invalid(text string) bool { return !json.Valid([]byte(text)) }

// modelIn is the model that a JSON text tells at its root, of which the end may lack.
func modelIn(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	depth, isKey, key := 0, false, ""
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		switch v := token.(type) {
		case json.Delim:
			if depth++; v == '}' || v == ']' {
				depth -= 2
			}
			isKey = depth == 1
			continue
		case string:
			if depth == 1 && isKey {
				key = v
			} else if depth == 1 && (key == "model" || key == "modelVersion") {
				return v
			}
		}
		isKey = depth == 1 && !isKey
	}
}

// However an answer is cut into pieces, it says the same.
func FuzzPiecesMakeNoDifference(f *testing.F) {
	for _, a := range answers() {
		for _, step := range []uint16{0, 3, 60, 503, 504} { // a piece has one byte more
			f.Add([]byte(a.body), a.kind == streamType, uint16(len(a.body)/2), step)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, isStream bool, first, step uint16) {
		a := sample{kind: jsonType}
		if isStream {
			a.kind = streamType
		}
		whole := readIn(a, true, body)
		cut := min(int(first), len(body))
		pieces := [][]byte{body[:cut]}
		for piece := range slices.Chunk(body[cut:], int(step)+1) {
			pieces = append(pieces, piece)
		}
		if got := readIn(a, true, pieces...); got != whole {
			t.Fatalf("in pieces %+v, whole %+v", got, whole)
		}
		if isStream {
			return
		}
		if want, valid := decoded(body); valid && whole.state != Unreadable && whole != want {
			t.Fatalf("%+v, want %+v", whole, want)
		}
	})
}
