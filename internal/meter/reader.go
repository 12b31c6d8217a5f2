package meter

import (
	"bytes"
	"hash/crc32"

	"callgate/internal/decompress"
)

// Head is what is to be known of an answer before its body.
type Head struct {
	ContentType, Encoding []byte
	// Path is the one that was asked for. It must stay as it is until the answer's end.
	Path   []byte
	counts [len(countHeaders)]uint32 // one more than was told; 0: nothing was
}

// Count takes a field of the answer's head that may tell what was used.
func (h *Head) Count(name, value []byte) {
	for i, header := range countHeaders {
		if len(name) == len(header.name) && bytes.EqualFold(name, []byte(header.name)) {
			if v, ok := count(bytes.TrimSpace(value)); ok && v < maxCount {
				h.counts[i] = v + 1
			}
		}
	}
}

// format is how an answer is read.
type format uint8

const (
	unknown format = iota // its first bytes are still to tell
	unread                // it is none of these
	documents
	eventStream
	frameStream
)

// Reader reads one answer as it passes. The zero Reader reads nothing, until Begin. It holds some two kilobytes, and for
// an answer that is compressed what its decoder needs, which is asked for.
type Reader struct {
	head     Head
	format   format
	declared format
	isLines  bool // its documents are lines, by its type
	fault    bool // it cannot be read
	first    [maxFirst]byte
	firstLen int
	answer   answer
	scanner  scanner
	events   events
	frames   frames
	inflater *decompress.Stream
	passed   passed
}

// maxFirst is how many bytes may be needed to tell a format: a field of an event, or the prelude of a frame.
const maxFirst = prelude

// Begin says what comes. budget is asked for the bytes of memory that the decoder of a compressed answer takes at most,
// and given them back as a negative number; an answer for which it has none is Unreadable. Whoever called Begin must call
// End.
func (r *Reader) Begin(head Head, budget func(bytes int64) bool) {
	r.head, r.format, r.fault, r.firstLen, r.inflater, r.passed = head, unknown, false, 0, nil, passed{}
	r.answer.reset()
	r.scanner.reset(&r.answer)
	r.events.reset()
	r.frames = frames{}
	var isBinary bool
	r.declared, r.isLines, isBinary = kindOf(head.ContentType)
	if encoding := bytes.TrimSpace(head.Encoding); len(encoding) > 0 && !bytes.EqualFold(encoding, []byte("identity")) {
		if isBinary {
			r.format = unread
			return
		}
		r.inflater = decompress.NewStream(string(encoding), budget, r.read)
	}
}

// kindOf tells what a Content-Type says: of the format, whether each line is a text, and that it is for eyes and ears.
func kindOf(contentType []byte) (declared format, isLines, isBinary bool) {
	mediaType, _, _ := bytes.Cut(contentType, []byte(";"))
	switch string(mediaType) { // what most are
	case "application/json":
		return documents, false, false
	case "text/event-stream":
		return eventStream, false, false
	}
	mediaType = bytes.ToLower(bytes.TrimSpace(mediaType))
	has := func(words ...string) bool {
		for _, word := range words {
			if bytes.Contains(mediaType, []byte(word)) {
				return true
			}
		}
		return false
	}
	switch {
	case string(mediaType) == "text/event-stream":
		return eventStream, false, false
	case string(mediaType) == "application/vnd.amazon.eventstream":
		return frameStream, false, false
	case has("json"):
		return documents, has("ndjson", "jsonl", "json-lines", "json-seq", "stream+json"), false
	}
	return unread, false, has("audio/", "image/", "video/", "font/", "/html")
}

// Write takes the next piece of the answer's body, which it does not keep.
func (r *Reader) Write(p []byte) {
	switch {
	case r.format == unread || len(p) == 0:
		return
	case r.fault && r.inflater != nil:
		r.passed.addRaw(p)
		return
	case r.fault:
		r.passed.add(p, r.countsLines())
		return
	}
	defer r.guard()
	if r.inflater == nil {
		r.read(p)
	} else if r.inflater.Write(p) != nil {
		r.fault = true
		if r.inflater.Given() == 0 {
			r.passed.addRaw(p)
		}
	}
}

// guard keeps a fault of this package, or of a decoder, from the call.
func (r *Reader) guard() {
	if recover() != nil {
		r.fault = true
	}
}

func (r *Reader) countsLines() bool { return r.format == eventStream || r.isLines }

// read takes what came, inflated.
func (r *Reader) read(p []byte) {
	if r.format == unknown {
		if p = r.tellFormat(p); len(p) == 0 {
			return
		}
	}
	r.passed.add(p, r.countsLines())
	switch r.format {
	case documents:
		r.scanner.write(p)
	case eventStream:
		r.events.write(p, &r.scanner)
	case frameStream:
		r.fault = !r.frames.write(p, &r.scanner)
		r.passed.lines = 2 * r.frames.done // as events of a stream are
	}
}

// tellFormat tells by the first bytes what comes, whatever the Content-Type says, and by that where they leave it open. It
// gives what is to be read, nothing while more is needed.
func (r *Reader) tellFormat(p []byte) []byte {
	if r.firstLen == 0 {
		p = bytes.TrimLeft(p, space) // some send it to keep a connection open, before the answer or between
	}
	first := p
	if r.firstLen > 0 || len(p) < len(r.first) {
		n := copy(r.first[r.firstLen:], p)
		p = p[n:]
		r.firstLen += n
		first = r.first[:r.firstLen]
	} else {
		p = nil
	}
	is := formatOf(first)
	if is == unknown && r.firstLen < len(r.first) {
		return nil
	}
	if is == unread || is == unknown {
		is = r.declared
	}
	if r.format = is; is == eventStream {
		r.answer.form = inEvents
	} else if is == frameStream {
		r.answer.form = inFrames
	}
	if is == unread {
		return nil
	}
	if rest := bytes.TrimPrefix(first, mark); len(rest) > 0 {
		r.read(rest)
	}
	return p
}

const space = " \r\n\t"

// mark is the byte order mark that a text may begin with.
var mark = []byte("\xef\xbb\xbf")

// formatOf tells what first bytes are, unknown where more are needed, unread where they are nothing that is read.
func formatOf(first []byte) format {
	if len(first) < len(mark) && bytes.HasPrefix(mark, first) {
		return unknown
	}
	first = bytes.TrimLeft(bytes.TrimPrefix(first, mark), space)
	if len(first) == 0 {
		return unknown
	}
	switch first[0] {
	case '{', '[', 0x1e:
		return documents
	case ':':
		return eventStream
	case 0:
		if len(first) < prelude {
			return unknown
		}
		if isPrelude(first) {
			return frameStream
		}
	}
	for _, field := range [...]string{"data", "event", "id", "retry"} {
		switch n := min(len(first), len(field)); {
		case string(first[:n]) != field[:n]:
		case len(first) <= len(field):
			return unknown
		case first[len(field)] == ':':
			return eventStream
		}
	}
	return unread
}

// End tells what the answer said. complete says that it ended properly.
func (r *Reader) End(complete bool) (report Report) {
	r.finish(complete)
	a := &r.answer
	readable := a.report(&report)
	used := report.Sum()
	if used.IsZero() && readable && r.head.counts != [len(countHeaders)]uint32{} { // what the body says counts before the head
		for i, n := range r.head.counts {
			if n > 0 {
				a.whole.set(countHeaders[i].is, n-1)
			}
		}
		readable = a.report(&report)
		used = report.Sum()
	}
	isRead := r.declared != unread || r.format == eventStream || r.format == frameStream || a.opened != 0
	switch {
	case r.fault && isRead, !readable:
		report.State = Unreadable
	case a.isRepeated(r.head.Path):
		report.State = Repeated
	case !complete || a.begun:
		report.State = Partial
	case used.total() == 0 && (a.isUnfinished() || used.IsZero() && endsWithAny(r.head.Path, tasks)):
		report.State = Deferred
	case used.IsZero():
		report.State = Absent
	default:
		report.State = Reported
	}
	if report.State != Reported && report.State != Partial {
		report.countNothing()
	}
	r.head = Head{}
	return report
}

// finish reads what is left.
func (r *Reader) finish(complete bool) {
	defer r.guard()
	if r.inflater != nil {
		err := r.inflater.End()
		r.inflater = nil
		r.fault = r.fault || err != nil && complete
	}
	if r.format == unknown { // the answer is too short to tell
		r.format = r.declared
		r.read(bytes.TrimPrefix(r.first[:r.firstLen], mark))
	}
	switch {
	case r.format == eventStream && complete:
		r.events.end(&r.scanner)
	case r.format == frameStream:
		r.fault = r.fault || complete && r.frames.n != 0
	case r.format == documents && complete:
		r.fault = r.fault || !r.scanner.complete()
	case r.format == documents:
		r.scanner.interrupted()
	}
}

// IsStream tells, when an answer ended, whether it came as a stream, whatever its Content-Type said.
func (r *Reader) IsStream() bool {
	return r.format == eventStream || r.format == frameStream || r.format == documents && r.isLines
}

// isPrelude tells whether bytes are how a frame of Amazon's begins.
func isPrelude(p []byte) bool {
	const sum = prelude - crc32.Size
	return len(p) >= prelude && crc32.ChecksumIEEE(p[:sum]) == bigEndian(p[sum:])
}
