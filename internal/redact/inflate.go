package redact

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Bounds on the copy of an upstream's error answer that is inflated to find its message. An upstream
// chooses the bytes: what they may cost is bounded, and an answer beyond it has no message.
const (
	maxDeflated   = 16 << 10               // bytes before
	maxInflated   = 64 << 10               // bytes after; an answer that is not compressed is copied as far
	inflateWithin = 200 * time.Millisecond // an ordinary one takes 0.3 ms; on a busy machine it may wait for its turn
	inflateStep   = 1 << 10                // bytes between two looks at the clock
	maxWindow     = 8 << 20                // bytes of a Zstandard window (RFC 9659); memory is taken as it is filled
)

// inflate undoes a Content-Encoding; what it cannot undo within the bounds comes out empty.
func inflate(body []byte, encoding string) []byte {
	encoding = strings.ToLower(strings.TrimSpace(encoding))
	if encoding == "" || encoding == "identity" {
		return body
	}
	if len(body) > maxDeflated {
		return nil
	}
	source := &timed{rest: body, until: time.Now().Add(inflateWithin)}
	switch encoding {
	case "gzip", "x-gzip":
		return readInflated(gzip.NewReader(source))
	case "deflate":
		// The field's two readings of "deflate": zlib as the standard says, or bare.
		if reader, err := zlib.NewReader(source); err == nil {
			return readInflated(reader, nil)
		}
		source.rest = body
		return readInflated(flate.NewReader(source), nil)
	case "br":
		source.rest = narrowBrotli(body)
		return readInflated(brotli.NewReader(source), nil)
	case "zstd":
		plain, err := zstdDecoder().DecodeAll(body, nil)
		if err != nil {
			return nil
		}
		return plain
	}
	return nil
}

func readInflated(source io.Reader, err error) []byte {
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(io.LimitReader(source, maxInflated+1))
	if err != nil || len(plain) > maxInflated {
		return nil
	}
	return plain
}

// timed hands out bytes in small steps until its time is over.
type timed struct {
	rest  []byte
	until time.Time
}

var errInflateTime = errors.New("inflating takes too long")

func (t *timed) Read(p []byte) (int, error) {
	if len(t.rest) == 0 {
		return 0, io.EOF
	}
	if time.Now().After(t.until) {
		return 0, errInflateTime
	}
	n := copy(p[:min(len(p), inflateStep)], t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// narrowBrotli gives a Brotli stream the window of 256 KiB where it asks for up to 16 MiB, which a
// decoder would fill before it gives anything away. The window is the least of its first byte (RFC
// 7932, section 9.1), and makes no difference to an answer that is shorter: nothing in it lies
// further back than its beginning.
func narrowBrotli(body []byte) []byte {
	const is256K = 0b0011
	if len(body) == 0 || body[0]&1 == 0 || body[0]&0b1111 <= is256K {
		return body
	}
	body = bytes.Clone(body)
	body[0] = body[0]&^0b1111 | is256K
	return body
}

// zstdDecoder is shared: it decodes one answer at a time, into memory that grows with what comes out.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxInflated), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // the options are constant
	}
	return decoder
})
