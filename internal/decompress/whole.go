package decompress

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Bounds of Whole.
const (
	maxDeflated = 16 << 10               // bytes before
	maxInflated = 64 << 10               // bytes after; a body that is not compressed is given back as long as it is
	within      = 200 * time.Millisecond // an ordinary one takes 0.3 ms; on a busy machine it may wait for its turn
	step        = 1 << 10                // bytes between two looks at the clock
)

// Whole undoes the encoding of a body that is there in one piece. What it cannot undo within its bounds comes out
// empty.
func Whole(body []byte, encoding string) []byte {
	encoding = normalised(encoding)
	if encoding == "" || encoding == "identity" {
		return body
	}
	if len(body) > maxDeflated {
		return nil
	}
	if encoding == "zstd" {
		plain, err := zstdDecoder().DecodeAll(body, nil)
		if err != nil {
			return nil
		}
		return plain
	}
	if encoding == "br" {
		body = narrowBrotli(body)
	}
	from := bufio.NewReaderSize(&timed{rest: body, until: time.Now().Add(within)}, step)
	decoder, done, err := Open(encoding, from, func(int64) bool { return true })
	defer done()
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(io.LimitReader(decoder, maxInflated+1))
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

var errTime = errors.New("inflating takes too long")

func (t *timed) Read(p []byte) (int, error) {
	if len(t.rest) == 0 {
		return 0, io.EOF
	}
	if time.Now().After(t.until) {
		return 0, errTime
	}
	n := copy(p[:min(len(p), step)], t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// narrowBrotli gives a Brotli stream the window of 256 KiB where it asks for up to 16 MiB, which a
// decoder would fill before it gives anything away. The window is the least of its first byte (RFC
// 7932, section 9.1), and makes no difference to a body that is shorter: nothing in it lies
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

// zstdDecoder is shared: it decodes one body at a time, into memory that grows with what comes out.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxInflated), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // the options are constant
	}
	return decoder
})
