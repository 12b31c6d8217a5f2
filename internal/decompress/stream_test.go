package decompress

import (
	"bytes"
	"strings"
	"testing"
)

// decode undoes an encoding of what comes in two pieces, and tells the most and the last bytes of the budget that it held.
func decode(encoding string, body []byte, cut int) (text string, most, held int64, failed bool) {
	var b bytes.Buffer
	d := NewStream(encoding, func(n int64) bool {
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
	for encoding := range encodings {
		body := encoded(t, encoding, text)
		for cut := range len(body) + 1 {
			if got, most, held, failed := decode(encoding, body, cut); got != text || failed || most < besideWindow || held != 0 {
				t.Fatalf("%s, split at %d: %d bytes, failed %v, %d held at most, %d at last", encoding, cut, len(got), failed, most, held)
			}
			if got, _, held, failed := decode(encoding, body[:cut], cut/2); cut > 0 && cut < len(body)-8 && !failed || !strings.HasPrefix(text, got) || held != 0 {
				t.Fatalf("%s, cut at %d: %d bytes, failed %v, %d held", encoding, cut, len(got), failed, held)
			}
		}
	}
}

func TestWhatGrowsWithoutBoundOrIsNotKnownFails(t *testing.T) {
	text := strings.Repeat("a", 32<<20)
	for encoding := range encodings {
		got, _, held, failed := decode(encoding, encoded(t, encoding, text), 0)
		if !failed || len(got) > 8<<20 || held != 0 {
			t.Errorf("%s: %d bytes, failed %v, %d held", encoding, len(got), failed, held)
		}
	}
	if _, most, _, failed := decode("compress", []byte("x"), 0); !failed || most != 0 {
		t.Errorf("an unknown encoding: failed %v, %d held", failed, most)
	}
	d := NewStream("gzip", func(n int64) bool { return n <= 0 }, func([]byte) {})
	if err := d.Write(encoded(t, "gzip", "x")); err == nil || d.Given() != 0 {
		t.Errorf("without memory: %v", err)
	}
	_ = d.End()
}
