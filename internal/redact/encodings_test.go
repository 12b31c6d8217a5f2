package redact

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

	"callgate/internal/calls"
)

// encodings write a body as an upstream may encode it.
var encodings = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"x-gzip":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"Deflate": func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 9); return z },
	"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	" BR ":    func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 11) },
	"zstd":    func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	"Zstd":    func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w, zstd.WithWindowSize(8<<20)); return z },
}

func encoded(t testing.TB, encoding, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := encodings[encoding](&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func messageOf(body []byte, encoding string) string {
	return failure(calls.FailureInput{UpstreamBody: body, UpstreamEncoding: encoding}).Message
}

func TestACompressedErrorAnswerKeepsItsMessage(t *testing.T) {
	for encoding := range encodings {
		for name, text := range map[string]string{
			"short": `{"error":{"message":"no quota","type":"insufficient_quota"}}`,
			"long":  `{"error":{"message":"no quota","trace":"` + strings.Repeat("at some.place(file.py:12)", 2_000) + `"}}`,
		} {
			body := encoded(t, encoding, text)
			if got := messageOf(body, encoding); got != "no quota" {
				t.Errorf("%s, %s: %q", encoding, name, got)
			}
			if got := messageOf(body[:len(body)/2], encoding); got != "" {
				t.Errorf("%s, %s, cut off: %q", encoding, name, got)
			}
		}
		secret := encoded(t, encoding, `{"error":{"message":"Incorrect API key provided: sk-abcdefghijklmnop1234"}}`)
		if got := messageOf(secret, encoding); strings.Contains(got, "abcdef") || !strings.Contains(got, redacted) {
			t.Errorf("%s shows a key: %q", encoding, got)
		}
	}
}
