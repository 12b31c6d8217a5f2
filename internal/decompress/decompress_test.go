package decompress

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
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

func TestAWholeBodyIsBoundedInBytesAndTime(t *testing.T) {
	for encoding := range encodings {
		bomb := encoded(t, encoding, `{"message":"`+strings.Repeat("x", 20<<20)+`"}`)
		r := rand.New(rand.NewPCG(1, 2))
		body := encoded(t, encoding, `{"message":"`+strings.Repeat("some words and more of them ", 500)+`"}`)
		hostile := [][]byte{bomb, bomb[:min(len(bomb), maxDeflated)], nil, {0}, make([]byte, 1<<20)}
		for range 500 { // damaged ones
			broken := bytes.Clone(body)
			for range 1 + r.IntN(4) {
				broken[r.IntN(len(broken))] ^= 1 << r.IntN(8)
			}
			hostile = append(hostile, broken)
		}
		for range 20 {
			noise := append(bytes.Clone(body[:min(len(body), 1+r.IntN(12))]), make([]byte, maxDeflated-12)...)
			for i := 12; i < len(noise); i++ {
				noise[i] = byte(r.Uint32())
			}
			hostile = append(hostile, noise)
		}
		var longest time.Duration
		for _, body := range hostile {
			least := time.Hour
			for range 3 {
				began := time.Now()
				plain := Whole(body, encoding)
				least = min(least, time.Since(began))
				if len(plain) > maxInflated {
					t.Fatalf("%s: %d bytes came out", encoding, len(plain))
				}
			}
			longest = max(longest, least)
		}
		if longest > 5*within {
			t.Errorf("%s took %s", encoding, longest)
		}
		t.Logf("%s: %s at most", encoding, longest)
		if got := Whole(bomb, encoding); len(got) > 0 {
			t.Errorf("%s: %d bytes of a bomb", encoding, len(got))
		}
	}
}

func TestAWholeBodyComesOutAsItWas(t *testing.T) {
	for encoding := range encodings {
		for _, text := range []string{"short", strings.Repeat("at some.place(file.py:12)", 2_000), strings.Repeat("x", maxInflated)} {
			body := encoded(t, encoding, text)
			if got := Whole(body, encoding); string(got) != text {
				t.Errorf("%s: %d bytes became %d", encoding, len(text), len(got))
			}
			if got := Whole(body[:len(body)/2], encoding); len(got) > 0 {
				t.Errorf("%s, cut off: %d bytes", encoding, len(got))
			}
		}
	}
	if got := Whole([]byte("as it is"), ""); string(got) != "as it is" {
		t.Errorf("without an encoding: %q", got)
	}
	if got := Whole([]byte("compressed"), "compress"); got != nil {
		t.Errorf("of an unknown encoding: %q", got)
	}
}

// A decoder is made only of what was granted, and reads as its input comes.
func TestADecoderAsksForItsMemory(t *testing.T) {
	text := strings.Repeat("some words and more of them ", 10_000)
	for encoding := range encodings {
		body := encoded(t, encoding, text)
		asked := int64(0)
		_, done, err := Open(encoding, bufio.NewReader(bytes.NewReader(body)), func(bytes int64) bool {
			asked += bytes
			return false
		})
		if done(); !errors.Is(err, ErrMemory) || asked < besideWindow || asked > maxWindow+1<<20 {
			t.Errorf("%s: asked for %d bytes, and without them %v", encoding, asked, err)
		}
		decoder, done, err := Open(encoding, bufio.NewReader(bytes.NewReader(body)), func(bytes int64) bool { return bytes == asked })
		if err != nil {
			t.Errorf("%s: %v", encoding, err)
			continue
		}
		plain, err := io.ReadAll(decoder)
		if done(); err != nil || string(plain) != text {
			t.Errorf("%s: %d bytes became %d, %v", encoding, len(text), len(plain), err)
		}
	}
	grant := func(int64) bool { return true }
	for encoding, body := range map[string][]byte{"compress": []byte("x"), "gzip": []byte("x"), "zstd": []byte("x"), "br": nil, "deflate": nil} {
		decoder, done, err := Open(encoding, bufio.NewReader(bytes.NewReader(body)), grant)
		if err == nil {
			_, err = io.ReadAll(decoder)
		}
		if done(); err == nil {
			t.Errorf("%q was read as %s", body, encoding)
		}
	}
	var wide bytes.Buffer
	w, _ := zstd.NewWriter(&wide, zstd.WithWindowSize(2*maxWindow))
	_, _ = io.WriteString(w, strings.Repeat("x", 3*maxWindow))
	_ = w.Close()
	if _, _, err := Open("zstd", bufio.NewReader(&wide), grant); !errors.Is(err, ErrMemory) {
		t.Errorf("a window of 16 MiB: %v", err)
	}
}
