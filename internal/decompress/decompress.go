// Package decompress undoes the Content-Encoding of what an upstream sends. The upstream chooses the bytes: what they may
// cost is bounded, in memory, in time and in what comes out.
//
// Whole is for a short body that is there in one piece, Stream for one that passes in pieces, Open for whoever reads it
// alone. The memory of many is counted by who asks for them.
package decompress

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxWindow is how far back a Zstandard stream may point, in bytes (RFC 9659 allows as much).
	maxWindow = 8 << 20
	// besideWindow is what a decoder takes besides the window, in bytes; one of the DEFLATE family altogether.
	besideWindow = 64 << 10
)

// What Open refuses.
var (
	ErrEncoding = errors.New("the answer is compressed in a way that is not known")
	ErrMemory   = errors.New("there is no memory for the answer's decoder")
)

// Open makes the decoder of an encoding, which takes no more memory than reserve granted before it was made: reserve is
// asked once, for the most that it can take, in bytes. done is for when the decoder is not used any more; giving back
// what was reserved is up to the caller, after an error too. What comes out is for the caller to bound.
func Open(encoding string, from *bufio.Reader, reserve func(bytes int64) bool) (decoder io.Reader, done func(), err error) {
	done = func() {}
	switch encoding = normalised(encoding); encoding {
	case "gzip", "x-gzip", "deflate":
		switch {
		case !reserve(besideWindow):
			err = ErrMemory
		case encoding == "deflate":
			decoder, err = openDeflate(from)
		default:
			decoder, err = gzip.NewReader(from)
		}
	case "br":
		if !reserve(besideWindow + brotliWindow(from)) {
			return nil, done, ErrMemory
		}
		decoder = brotli.NewReader(from)
	case "zstd":
		return openZstd(from, reserve)
	default:
		err = ErrEncoding
	}
	return decoder, done, err
}

func normalised(encoding string) string { return strings.ToLower(strings.TrimSpace(encoding)) }

// openDeflate reads "deflate" in both ways it is used: zlib, as the standard says, or bare.
func openDeflate(from *bufio.Reader) (io.Reader, error) {
	const method, largestWindow, dictionary = 8, 7, 0x20
	head, _ := from.Peek(2)
	if len(head) == 2 && head[0]&0x0f == method && head[0]>>4 <= largestWindow && head[1]&dictionary == 0 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(from)
	}
	return flate.NewReader(from), nil
}

// brotliWindow is how far back a Brotli stream may point (RFC 7932, section 9.1), in bytes.
func brotliWindow(from *bufio.Reader) int64 {
	head, _ := from.Peek(1)
	if len(head) == 0 {
		return 0
	}
	switch b := head[0]; {
	case b&1 == 0:
		return 1 << 16
	case b&0b1110 != 0:
		return 1 << (17 + b>>1&0b111)
	case b&0b1110000 != 0:
		return 1 << (8 + b>>4&0b111)
	}
	return 1 << 17
}

func openZstd(from *bufio.Reader, reserve func(bytes int64) bool) (io.Reader, func(), error) {
	nothing := func() {}
	var header zstd.Header
	head, _ := from.Peek(zstd.HeaderMaxSize)
	if err := header.Decode(head); err != nil {
		return nil, nothing, err
	}
	window := header.WindowSize
	if header.SingleSegment {
		window = header.FrameContentSize
	}
	const blocks = 3 * 128 << 10
	if window > maxWindow || !reserve(int64(window)+blocks) {
		return nil, nothing, ErrMemory
	}
	decoder, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(max(window, zstd.MinWindowSize)))
	if err != nil {
		return nil, nothing, err
	}
	return decoder, decoder.Close, nil
}
