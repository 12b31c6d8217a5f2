package decompress

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

var encodings = []struct {
	name   string
	writer func(io.Writer) io.WriteCloser
}{
	{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"X-Gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }},
	{"deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }},
	{"deflate", func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 5); return f }},
	{"br", func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }},
	{"zstd", func(w io.Writer) io.WriteCloser { e, _ := zstd.NewWriter(w); return e }},
}

func encode(t *testing.T, writer func(io.Writer) io.WriteCloser, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := writer(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decode undoes an encoding of what comes in two pieces, and tells the most and the last bytes of the budget that it held.
func decode(encoding string, body []byte, cut int) (text string, most, held int64, failed bool) {
	var b bytes.Buffer
	d := New(encoding, func(n int64) bool {
		held += n
		most = max(most, held)
		return true
	}, func(p []byte) { b.Write(p) })
	for _, piece := range [][]byte{body[:cut], body[cut:]} {
		failed = failed || d.Write(piece) != nil
	}
	failed = d.End() != nil || failed
	return b.String(), most, held, failed
}

func TestEveryEncodingIsUndoneAtEverySplitAndGivesItsMemoryBack(t *testing.T) {
	text := strings.Repeat("what an upstream answers, ", 40)
	for _, e := range encodings {
		body := encode(t, e.writer, text)
		for cut := range len(body) + 1 {
			if got, most, held, failed := decode(e.name, body, cut); got != text || failed || most < deflated || held != 0 {
				t.Fatalf("%s, split at %d: %d bytes, failed %v, %d held at most, %d at last", e.name, cut, len(got), failed, most, held)
			}
			if got, _, held, failed := decode(e.name, body[:cut], cut/2); cut > 0 && cut < len(body)-8 && !failed || !strings.HasPrefix(text, got) || held != 0 {
				t.Fatalf("%s, cut at %d: %d bytes, failed %v, %d held", e.name, cut, len(got), failed, held)
			}
		}
	}
}

func TestWhatGrowsWithoutBoundOrIsNotKnownFails(t *testing.T) {
	text := strings.Repeat("a", 32<<20)
	for _, e := range encodings {
		got, _, held, failed := decode(e.name, encode(t, e.writer, text), 0)
		if !failed || len(got) > 8<<20 || held != 0 {
			t.Errorf("%s: %d bytes, failed %v, %d held", e.name, len(got), failed, held)
		}
	}
	if _, most, _, failed := decode("compress", []byte("x"), 0); !failed || most != 0 {
		t.Errorf("an unknown encoding: failed %v, %d held", failed, most)
	}
	d := New("gzip", func(n int64) bool { return n <= 0 }, func([]byte) {})
	if err := d.Write(encode(t, encodings[0].writer, "x")); err == nil || d.Given() != 0 {
		t.Errorf("without memory: %v", err)
	}
	_ = d.End()
}
