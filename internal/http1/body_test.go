package http1

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// badChunks are chunked bodies with more than one reading, or none.
var badChunks = map[string]string{
	"signed size":               "+5\r\nhello\r\n0\r\n\r\n",
	"negative size":             "-5\r\nhello\r\n0\r\n\r\n",
	"hexadecimal prefix":        "0x5\r\nhello\r\n0\r\n\r\n",
	"empty size":                "\r\nhello\r\n0\r\n\r\n",
	"space before the size":     " 5\r\nhello\r\n0\r\n\r\n",
	"space within the size":     "5 5\r\nhello\r\n0\r\n\r\n",
	"size beyond 64 bits":       "10000000000000005\r\nhello\r\n0\r\n\r\n",
	"line feed after the size":  "5\nhello\r\n0\r\n\r\n",
	"line feed in an extension": "5;a\n\r\nhello\r\n0\r\n\r\n",
	"line feed after the data":  "5\r\nhello\n0\r\n\r\n",
	"data longer than its size": "5\r\nhelloo\r\n0\r\n\r\n",
	"data without an end":       "5\r\nhello0\r\n\r\n",
	"line feed ends it":         "5\r\nhello\r\n0\n\n",
	"carriage return only":      "5\rhello\r\n0\r\n\r\n",
	"size of other letters":     "5g\r\nhello\r\n0\r\n\r\n",
	"size of many digits":       strings.Repeat("0", 40) + "5\r\nhello\r\n0\r\n\r\n",
	"largest size of 64 bits":   "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
	"size line without an end":  "5;" + strings.Repeat("a", 200_000),
	"extensions without data":   strings.Repeat("1;"+strings.Repeat("a", 1000)+"\r\nx\r\n", 20) + "0\r\n\r\n",
	"trailer without a colon":   "5\r\nhello\r\n0\r\ngarbage\r\n\r\n",
	"trailer with a NUL":        "5\r\nhello\r\n0\r\nX: a\x00b\r\n\r\n",
	"trailer of framing":        "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n",
	"trailer of a coding":       "5\r\nhello\r\n0\r\ntransfer-ENCODING: x\r\n\r\n",
	"trailer without an end":    "5\r\nhello\r\n0\r\nX: " + strings.Repeat("a", 200_000),
	"data after the end":        "5\r\nhello\r\n0\r\nhello\r\n\r\n",
}

func TestChunkedBodiesThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	for name, text := range badChunks {
		if body, rest, err := dechunk([]byte(text)); err == nil {
			t.Errorf("%s: read as %q, with %q behind it", name, body, rest)
		}
	}
}

// TestBodyIsTheSameHoweverItArrives cuts bodies of every kind at every byte, sends on what each read
// brought, and reads that again.
func TestBodyIsTheSameHoweverItArrives(t *testing.T) {
	const text, behind = "hello, chunked world", "GET /next"
	for name, test := range map[string]struct {
		framing Framing
		sent    string
	}{
		"sized":      {Framing{Sized, int64(len(text))}, text + behind},
		"one chunk":  {Framing{Kind: Chunked}, fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text), text) + behind},
		"in chunks":  {Framing{Kind: Chunked}, "5;a=\"b\"\r\nhello\r\n0009 \r\n, chunked\r\n1\r\n \r\n5\r\nworld\r\n0\r\nX-Trailer: a\r\nY:\r\n\r\n" + behind},
		"until EOF":  {Framing{Kind: UntilClose}, text},
		"empty body": {Framing{}, behind},
	} {
		want := text
		if test.framing.Kind == Empty {
			want = ""
		}
		for first := range len(test.sent) + 1 {
			for second := first; second <= len(test.sent); second++ {
				got, chunked, left := relayed(t, test.framing, test.sent[:first], test.sent[first:second], test.sent[second:])
				if got != want || test.framing.Kind != UntilClose && left != behind {
					t.Fatalf("%s, cut at %d and %d: %q, and %q behind it", name, first, second, got, left)
				}
				if again, rest, err := dechunk([]byte(chunked)); test.framing.Kind != Sized && (err != nil || string(again) != want || len(rest) > 0) {
					t.Fatalf("%s, cut at %d and %d: sent on as %q", name, first, second, chunked)
				}
			}
		}
	}
}

// relayed reads a body that arrives in parts and returns it plain, in chunks, and what stood behind it.
func relayed(t *testing.T, f Framing, parts ...string) (plain, chunked, behind string) {
	t.Helper()
	var b Body
	b.Begin(f)
	buf := take(small)
	defer func() { buf.give() }()
	var text, chunks bytes.Buffer
	for _, part := range parts {
		buf = buf.roomier()
		buf.w += copy(buf.free(), part)
		if ended := b.Ended(); !ended {
			piece, err := b.Next(buf)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(piece.Bytes())
			if f.Kind != Sized {
				chunks.Write(piece.Chunk(b.Ended()))
			}
		}
	}
	behind = string(buf.Unread())
	if !b.Ended() {
		if err := b.Closed(); err != nil {
			t.Fatal(err)
		}
		chunks.Write(Piece{}.Chunk(true))
	} else if f.Kind == Empty {
		chunks.Write(Piece{}.Chunk(true))
	}
	return text.String(), chunks.String(), behind
}

func TestABodyThatTheConnectionCutsShortIsNoWholeOne(t *testing.T) {
	for name, test := range map[string]struct {
		framing Framing
		sent    string
	}{
		"sized":             {Framing{Sized, 5}, "hell"},
		"chunked":           {Framing{Kind: Chunked}, "5\r\nhello\r\n"},
		"last chunk's line": {Framing{Kind: Chunked}, "5\r\nhello\r\n0\r\n"},
	} {
		var b Body
		b.Begin(test.framing)
		buf := take(small)
		buf.w += copy(buf.free(), test.sent)
		if _, err := b.Next(buf); err != nil || b.Ended() || b.Closed() == nil {
			t.Errorf("%s: %v, ended %v", name, err, b.Ended())
		}
		buf.give()
	}
}
