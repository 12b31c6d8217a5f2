package http1

import (
	"bytes"
	"errors"
)

// What can be wrong with a head or a body. A server answers the first three with 400, 431 and 501.
var (
	ErrMalformed   = errors.New("malformed HTTP/1.1 message")
	ErrHeadTooLong = errors.New("the head is longer than allowed")
	ErrCoding      = errors.New("a transfer coding other than chunked")
	ErrHTTP2       = errors.New("the peer speaks HTTP/2")
)

// MaxHead is the longest head that can be read, in bytes: places in it are told in 16 bits.
const MaxHead = 1<<16 - 1

// Head is what the heads of requests and responses have in common.
type Head struct {
	// Old tells that the peer speaks HTTP/1.0: it knows no chunks, and closes unless it says otherwise.
	Old bool
	// KeepAlive tells that the peer leaves the connection open after this message.
	KeepAlive bool
	// Upgrade tells that another protocol is asked for, or switched to.
	Upgrade bool

	raw    []byte // start line and the empty line at the end included
	fields []Field
	few    [24]Field // the fields of most heads
	parsed
}

// parsed is how far a head was parsed, and what it said so far.
type parsed struct {
	next     int  // where the line begins that is to be parsed
	searched int  // up to here there is no end of that line
	started  bool // the start line was parsed

	length      int64 // as Content-Length says; -1: it does not
	lengths     int
	chunked     bool
	codings     int
	hosts       int
	connections [4]Field
	connection  int
}

// reset makes the head ready for another message.
func (h *Head) reset() {
	h.Old, h.KeepAlive, h.Upgrade, h.raw = false, false, false, nil
	h.parsed = parsed{length: -1}
	if h.fields = h.fields[:0]; cap(h.fields) == 0 || cap(h.fields) > 4*len(h.few) {
		h.fields = h.few[:0] // an odd message's many fields are not kept
	}
}

// lines parses the complete lines of unread, the first with start. It returns how many bytes the head
// takes, or 0 when bytes are missing; what was parsed once is not parsed again.
func (h *Head) lines(unread []byte, limit int, start func([]byte) error) (int, error) {
	if limit = min(limit, MaxHead); len(unread) > 0 && !tokenBytes[unread[0]] {
		return 0, ErrMalformed // at once: of what is no HTTP the end of a line may never come
	}
	for {
		i := bytes.IndexByte(unread[h.searched:], '\n')
		if i < 0 {
			h.searched = len(unread)
			if h.searched >= limit {
				return 0, ErrHeadTooLong
			}
			return 0, nil
		}
		end := h.searched + i + 1
		if end > limit {
			return 0, ErrHeadTooLong
		}
		from := h.next
		h.next, h.searched = end, end
		if end-from < 2 || unread[end-2] != '\r' { // a bare line feed ends a line for some servers only
			return 0, ErrMalformed
		}
		if end-from == 2 && h.started {
			h.raw = unread[:end]
			return end, nil
		}
		var err error
		if h.started {
			err = h.field(unread, from, end)
		} else {
			err = start(unread[from : end-2])
			h.started = true
		}
		if err != nil {
			return 0, err
		}
	}
}

// field parses the line head[from:end], which ends with CR LF.
func (h *Head) field(head []byte, from, end int) error {
	colon := from
	for tokenBytes[head[colon]] { // the line feed is none
		colon++
	}
	if colon == from || head[colon] != ':' { // a folded line begins with white space
		return ErrMalformed
	}
	first, last := trim(head, colon+1, end-2)
	if hasControl(head[first:last]) {
		return ErrMalformed
	}
	f := Field{start: uint16(from), nameEnd: uint16(colon), valueStart: uint16(first), valueEnd: uint16(last), end: uint16(end)}
	if err := h.note(&f, head[from:colon], head[first:last]); err != nil {
		return err
	}
	h.fields = append(h.fields, f)
	return nil
}

// note keeps what a line says of the connection and of the body's framing.
func (h *Head) note(f *Field, name, value []byte) error {
	switch len(name) {
	case 2:
		f.Hop = EqualFold(name, "te")
	case 4:
		if EqualFold(name, "host") {
			h.hosts++
		}
	case 7:
		if EqualFold(name, "upgrade") {
			f.Hop, h.Upgrade = true, true
		} else {
			f.Hop = EqualFold(name, "trailer")
		}
	case 10:
		if EqualFold(name, "connection") {
			f.Hop = true
			if h.connection == len(h.connections) {
				return ErrMalformed
			}
			h.connections[h.connection] = *f
			h.connection++
		} else {
			f.Hop = EqualFold(name, "keep-alive")
		}
	case 14:
		switch {
		case EqualFold(name, "content-length"):
			f.Hop = true
			return h.contentLength(value)
		case EqualFold(name, "content_length"): // to some servers an underscore is a hyphen
			return ErrMalformed
		}
		f.Hop = EqualFold(name, "http2-settings")
	case 16:
		f.Hop = EqualFold(name, "proxy-connection")
	case 17:
		switch {
		case EqualFold(name, "transfer-encoding"):
			f.Hop = true
			h.codings++
			h.chunked = EqualFold(value, "chunked")
		case EqualFold(name, "transfer_encoding"):
			return ErrMalformed
		}
	}
	return nil
}

// contentLength keeps the length of the body; a second line must say the same.
func (h *Head) contentLength(value []byte) error {
	if len(value) == 0 || len(value) > 18 { // of 18 digits every number fits
		return ErrMalformed
	}
	n := int64(0)
	for _, c := range value {
		if c < '0' || c > '9' {
			return ErrMalformed
		}
		n = n*10 + int64(c-'0')
	}
	if h.lengths++; h.lengths > 1 && n != h.length {
		return ErrMalformed
	}
	h.length = n
	return nil
}

// maxOptions bounds what Connection may name: each is compared with every field.
const maxOptions = 16

// finish marks the fields that Connection names and finds out whether the connection stays.
func (h *Head) finish() error {
	if h.codings > 1 || h.codings == 1 && (h.Old || !h.chunked) {
		return ErrCoding
	}
	h.KeepAlive = !h.Old
	closes, options := false, 0
	for _, line := range h.connections[:h.connection] {
		for list := h.Value(line); len(list) > 0; {
			var option []byte
			option, list = nextToken(list)
			switch {
			case EqualFold(option, "close"):
				closes = true
			case EqualFold(option, "keep-alive"):
				h.KeepAlive = true
			case len(option) > 0:
				if options++; options > maxOptions {
					return ErrMalformed
				}
				h.mark(option)
			}
		}
	}
	h.KeepAlive = h.KeepAlive && !closes
	return nil
}

func (h *Head) mark(name []byte) {
	for i := range h.fields {
		f := &h.fields[i]
		f.Hop = f.Hop || int(f.nameEnd-f.start) == len(name) && bytes.EqualFold(h.Name(*f), name)
	}
}
