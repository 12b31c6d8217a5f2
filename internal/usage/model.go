package usage

import "bytes"

// readModel reads no more of an event than its model, where only texts, counts and literals stand before it in its first line, as
// mostly, and tells whether it did. It finds what write would.
func (s *scanner) readModel(event []byte) bool {
	line := event[:max(lineEnd(event), 0)]
	if !begins(line, dataField) {
		return false
	}
	at := behindSpace(line, len(dataField))
	for next := byte('{'); at < len(line) && line[at] == next; next = ',' {
		from := behindSpace(line, at+1)
		end := textEnd(line, from)
		if end == 0 || end == len(line) || line[end] != ':' {
			return false
		}
		named := isModel(line[from+1 : end-1])
		from = behindSpace(line, end+1)
		if at = textEnd(line, from); at == 0 {
			at = literalEnd(line, from)
		} else if named && at-from > len(`""`) {
			s.model.set(line[from+1 : at-1])
			return true
		}
	}
	return false
}

// behindSpace is at, or behind the space that is there.
func behindSpace(p []byte, at int) int {
	if at < len(p) && p[at] == ' ' {
		return at + 1
	}
	return at
}

// textEnd is where a text ends that begins at a position, has no escapes and is at most maxName long, 0 where there is none.
func textEnd(p []byte, at int) int {
	if at >= len(p) || p[at] != '"' {
		return 0
	}
	at++
	n := quoteOrEscape(p[at:min(len(p), at+maxName+1)])
	if n < 0 || p[at+n] != '"' {
		return 0
	}
	return at + n + 1
}

// literalEnd is where a count, null, true or false ends that begins at a position, len(p) where none does.
func literalEnd(p []byte, at int) int {
	if at >= len(p) || bytes.IndexByte([]byte("0123456789ntf"), p[at]) < 0 {
		return len(p)
	}
	for at < len(p) && (p[at] >= '0' && p[at] <= '9' || p[at] >= 'a' && p[at] <= 'z') {
		at++
	}
	return at
}
