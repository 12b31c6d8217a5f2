package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/valyala/fasthttp"
)

// answerHead is what the relay must know of an upstream's response head.
type answerHead struct {
	status     int
	length     int64 // of the body; -1 when it is not known
	chunked    bool
	keepAlive  bool // the upstream keeps the connection open afterwards
	connection [4][]byte
	lines      int  // Connection lines kept above
	measured   bool // a Content-Length line was kept
	typed      bool // a Content-Type line was kept
	encoded    bool // a Content-Encoding line was kept
	served     bool // a Server line was kept
	masked     bool // lines follow whose names are masked, see mask
	varied     bool // Vary names Authorization, or all
	private    bool // Cache-Control forbids shared caches to keep it
	document   bool // a browser could run it as a page
	rewritten  []rewritten
}

// maxAnswerHead bounds an upstream's response head, in bytes; maxInterim how many 1xx answers may
// precede the final one.
const (
	maxAnswerHead = 64 << 10
	maxInterim    = 32
)

// What a server of HTTP/2 says first, by the fourth byte (RFC 9113, section 6).
const (
	frameSettings = 4
	frameGoAway   = 7
)

var errAnswer = errors.New("malformed response head")

// readAnswer reads the final response head from the upstream into dst, without the headers that do
// not go to the caller. It returns the reader to go on with: another one when the head outgrew it.
func readAnswer(br *bufio.Reader, conn net.Conn, dst *fasthttp.ResponseHeader, head *answerHead, from *origin) (*bufio.Reader, error) {
	for range maxInterim {
		var raw []byte
		var err error
		if raw, br, err = peekHead(br, conn); err != nil {
			return br, err
		}
		kept, err := head.filter(raw, from)
		if err != nil {
			return br, err
		}
		if head.status == 101 {
			return br, fmt.Errorf("%w: protocol switched without being asked", errAnswer)
		}
		if head.chunked && !from.bodiless && head.status >= 200 && head.status != 204 && head.status != 304 {
			buffered, _ := br.Peek(br.Buffered())
			if !beginsChunk(buffered[len(raw):]) {
				return br, fmt.Errorf("%w: chunked body", errAnswer)
			}
		}
		if head.status < 200 {
			if _, err := br.Discard(len(raw)); err != nil {
				return br, err
			}
			continue
		}
		// The lines to keep were moved to the beginning; they must end where the body begins.
		copy(raw[len(raw)-kept:], raw[:kept])
		if _, err := br.Discard(len(raw) - kept); err != nil {
			return br, err
		}
		if err := dst.Read(br); err != nil {
			return br, fmt.Errorf("%w: %w", errAnswer, err)
		}
		head.unmask(dst)
		head.guard(dst)
		return br, nil
	}
	return br, fmt.Errorf("%w: too many interim responses", errAnswer)
}

// peekHead waits for a whole response head and returns it without consuming it.
func peekHead(br *bufio.Reader, conn net.Conn) ([]byte, *bufio.Reader, error) {
	for searched := 0; ; {
		buffered, _ := br.Peek(br.Buffered())
		if i := bytes.Index(buffered[max(0, searched-3):], []byte("\r\n\r\n")); i >= 0 {
			return buffered[:max(0, searched-3)+i+4], br, nil
		}
		if len(buffered) >= 4 && buffered[0] == 0 && (buffered[3] == frameSettings || buffered[3] == frameGoAway) {
			return nil, br, errHTTP2
		}
		if cannotBeHead(buffered, searched) {
			return nil, br, errAnswer
		}
		searched = len(buffered)
		_, err := br.Peek(len(buffered) + 1)
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull) && br.Size() < maxAnswerHead:
			br = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(buffered)), conn), maxAnswerHead)
			searched = 0
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, br, fmt.Errorf("%w: larger than %d bytes", errAnswer, maxAnswerHead)
		case errors.Is(err, io.EOF) && len(buffered) > 0:
			return nil, br, io.ErrUnexpectedEOF
		default:
			return nil, br, err
		}
	}
}

// cannotBeHead tells whether what has come of a response head, of which so many bytes were looked at
// before, is none of HTTP/1: waiting for its end would be waiting for ever.
func cannotBeHead(begun []byte, seen int) bool {
	const protocol = "HTTP/1."
	n := min(len(begun), len(protocol))
	if string(begun[:n]) != protocol[:n] && (len(begun) >= 4 || begun[0] != 0) { // see peekHead
		return true
	}
	for i := seen; i < len(begun); i++ {
		if begun[i] == '\n' && (i == 0 || begun[i-1] != '\r') {
			return true
		}
	}
	return false
}

// filter reads a response head and moves the lines that go to the caller to its beginning; kept is
// how many bytes they take, final empty line included.
func (h *answerHead) filter(raw []byte, from *origin) (kept int, err error) {
	*h = answerHead{length: -1}
	line, rest, err := nextLine(raw)
	if err != nil {
		return 0, errAnswer
	}
	old, err := h.statusLine(line)
	if err != nil {
		return 0, err
	}
	h.keepAlive = !old
	kept = len(raw) - len(rest)
	if err := h.framing(rest, old); err != nil {
		return 0, err
	}
	for len(rest) > 0 {
		line, after, _ := nextLine(rest)
		whole := rest[:len(rest)-len(after)]
		rest = after
		if len(line) > 0 && h.removed(line, from) {
			continue
		}
		kept += copy(raw[kept:], whole)
	}
	return kept, nil
}

// statusLine reads "HTTP/1.x 200 Reason" and makes it one of HTTP/1.1: the version is the hop's.
func (h *answerHead) statusLine(line []byte) (old bool, err error) {
	if len(line) < len("HTTP/1.1 200") || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return false, errAnswer
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return false, errAnswer
		}
		h.status = h.status*10 + int(c-'0')
	}
	if h.status < 100 {
		return false, errAnswer
	}
	old = line[7] == '0'
	line[7] = '1'
	return old, nil
}

// framing reads the lines that say how the body ends and whether the connection stays.
func (h *answerHead) framing(lines []byte, old bool) error {
	for len(lines) > 0 {
		line, rest, err := nextLine(lines)
		if err != nil {
			return errAnswer
		}
		lines = rest
		if len(line) == 0 {
			break
		}
		name, value, err := splitLine(line)
		if err != nil {
			return errAnswer
		}
		switch {
		case is(name, "content-length"):
			n, err := strconv.ParseInt(string(value), 10, 63)
			if err != nil || value[0] < '0' || h.length >= 0 && h.length != n {
				return errAnswer
			}
			h.length = n
		case is(name, "transfer-encoding"):
			if h.chunked || old || !is(value, "chunked") {
				return fmt.Errorf("%w: transfer encoding", errAnswer)
			}
			h.chunked = true
		case is(name, "connection"):
			if h.lines < len(h.connection) && !is(value, "close") && !is(value, "keep-alive") {
				h.connection[h.lines] = bytes.Clone(value) // the lines are moved about before it is read
				h.lines++
			}
			if hasToken(value, []byte("close")) {
				h.keepAlive = false
			} else if old && hasToken(value, []byte("keep-alive")) {
				h.keepAlive = true
			}
		}
	}
	if h.chunked && h.length >= 0 { // the encoding says where the body ends; what follows is not trusted
		h.length, h.keepAlive = -1, false
	}
	return nil
}

// masked stands for the first byte of a name that would replace the line before it.
const masked = '!'

// mask hides the name of a line that was there before: of these, the server's response keeps the last.
func (h *answerHead) mask(name []byte, seen *bool) {
	if *seen {
		name[0] = masked
		h.masked = true
	}
	*seen = true
}

// unmask gives the masked lines of a parsed head their names back.
func (h *answerHead) unmask(parsed *fasthttp.ResponseHeader) {
	if !h.masked {
		return
	}
	for name := range parsed.All() {
		switch {
		case len(name) < 2 || name[0] != masked:
		case is(name[1:], "ontent-type"), is(name[1:], "ontent-encoding"):
			name[0] = 'C'
		case is(name[1:], "erver"):
			name[0] = 'S'
		}
	}
}
