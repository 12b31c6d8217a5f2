package inflate

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// deflated is what a decoder of the DEFLATE family takes, and any other beside its window, in bytes.
const deflated = 64 << 10

// hold takes bytes of the budget for a decoder.
func (f *Decoder) hold(bytes int64) error {
	if !f.budget(bytes) {
		return errMemory
	}
	f.held = bytes
	return nil
}

// open makes the decoder of an encoding; done is for when it is not used any more.
func (f *Decoder) open(encoding string, from *bufio.Reader) (decoder io.Reader, done func(), err error) {
	done = func() {}
	switch encoding {
	case "gzip", "x-gzip":
		if err = f.hold(deflated); err == nil {
			decoder, err = gzip.NewReader(from)
		}
	case "deflate":
		if err = f.hold(deflated); err == nil {
			decoder, err = openDeflate(from)
		}
	case "br":
		if err = f.hold(deflated + brotliWindow(from)); err == nil {
			decoder = brotli.NewReader(from)
		}
	case "zstd":
		decoder, done, err = f.openZstd(from)
	default:
		err = errEncoding
	}
	return decoder, done, err
}

// openDeflate reads "deflate" in both ways it is used: zlib, as the standard says, or bare.
func openDeflate(from *bufio.Reader) (io.Reader, error) {
	if head, _ := from.Peek(2); len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
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

func (f *Decoder) openZstd(from *bufio.Reader) (io.Reader, func(), error) {
	var header zstd.Header
	head, _ := from.Peek(zstd.HeaderMaxSize)
	if err := header.Decode(head); err != nil {
		return nil, nil, err
	}
	window := header.WindowSize
	if header.SingleSegment {
		window = header.FrameContentSize
	}
	if window > maxWindow {
		return nil, nil, errMemory
	}
	const blocks = 3 * 128 << 10
	if err := f.hold(int64(window) + blocks); err != nil {
		return nil, nil, err
	}
	decoder, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(max(window, zstd.MinWindowSize)))
	if err != nil {
		return nil, nil, err
	}
	return decoder, decoder.Close, nil
}
