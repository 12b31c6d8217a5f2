package usage

import "bytes"

// Reader reads one answer as it passes. The zero Reader reads nothing, until Begin. It holds 640 bytes, 512 more
// while an event that came in part is kept, and for an answer that is compressed what its decoder needs, which is asked for.
type Reader struct {
	kind     kind
	fault    bool // it cannot be read
	events   events
	scanner  scanner
	inflater *inflater
	passed   passed
}

// kind is how an answer is read.
type kind uint8

const (
	unread kind = iota // it is neither JSON nor a stream of events
	document
	stream
)

// Begin says what comes: the Content-Type and the Content-Encoding of an answer. budget is asked for the bytes of
// memory that the decoder of a compressed answer takes at most, and given them back as a negative number; an answer
// for which it has none is Unreadable. Whoever called Begin must call End.
func (r *Reader) Begin(contentType, encoding []byte, budget func(bytes int64) bool) {
	r.kind, r.fault, r.inflater, r.events, r.passed = unread, false, nil, events{}, passed{}
	r.scanner.reset()
	if r.kind, r.scanner.events = kindOf(contentType); r.kind == unread {
		return
	}
	if encoding = bytes.TrimSpace(encoding); len(encoding) > 0 && !bytes.EqualFold(encoding, []byte("identity")) {
		r.inflater = newInflater(string(encoding), budget, r.read)
	}
}

// kindOf tells how an answer of a Content-Type is read, and whether each of its texts is an event.
func kindOf(contentType []byte) (of kind, events bool) {
	mediaType := contentType
	if end := bytes.IndexByte(contentType, ';'); end >= 0 {
		mediaType = contentType[:end]
	}
	switch string(mediaType) { // what most are
	case "application/json":
		return document, false
	case "text/event-stream":
		return stream, true
	}
	switch mediaType = bytes.ToLower(bytes.TrimSpace(mediaType)); {
	case string(mediaType) == "text/event-stream":
		return stream, true
	case bytes.Contains(mediaType, []byte("json")):
		return document, isLines(mediaType)
	}
	return unread, false
}

// Write takes the next piece of the answer's body, which it does not keep.
func (r *Reader) Write(p []byte) {
	switch {
	case r.kind == unread || len(p) == 0:
		return
	case r.fault && r.inflater != nil:
		r.passed.addRaw(p)
		return
	case r.fault:
		r.passed.add(p, r.scanner.events)
		return
	}
	defer r.guard()
	if r.inflater == nil {
		r.read(p)
	} else if r.inflater.write(p) != nil {
		r.fault = true
		if r.inflater.given == 0 {
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

func (r *Reader) read(p []byte) {
	r.passed.add(p, r.scanner.events)
	if r.kind == stream {
		r.events.write(p, &r.scanner)
	} else {
		r.scanner.write(p)
	}
}

// End tells what the answer said. complete says that it ended properly.
func (r *Reader) End(complete bool) (report Report) {
	if r.kind == document || r.inflater != nil || r.events.hasLeft() {
		r.finish(complete)
	}
	s := &r.scanner
	if s.of == nowhere {
		report.Model = s.model.text()
	}
	switch {
	case r.fault || s.unreadable:
		report.State = Unreadable
	case !s.whole.report(&report):
		report = Report{State: Unreadable, Model: report.Model}
	case !complete || s.begun:
		report.State = Partial
	case report.Known == 0:
		report.State = Absent
	default:
		report.State = Reported
	}
	return report
}

// finish reads what is left.
func (r *Reader) finish(complete bool) {
	defer r.guard()
	if r.inflater != nil {
		err := r.inflater.end()
		r.inflater = nil
		r.fault = r.fault || err != nil && complete
	}
	r.events.readTail(&r.scanner)
	switch {
	case r.kind == stream && complete:
		r.events.end(&r.scanner)
	case r.kind == document && complete:
		r.fault = r.fault || !r.scanner.complete()
	case r.kind == document:
		r.scanner.interrupted()
	}
}

// isLines tells whether a JSON media type is one of many texts, each an event.
func isLines(mediaType []byte) bool {
	for _, kind := range [...]string{"ndjson", "jsonl", "json-lines", "json-seq", "stream+json"} {
		if bytes.Contains(mediaType, []byte(kind)) {
			return true
		}
	}
	return false
}
