package calls

import "strings"

// wrappers and messageFields are the names providers give the parts of an error, best first.
var (
	wrappers      = []string{"error", "errors", "Error"}
	messageFields = append(wrappers, "message", "error_description", "error_message", "error_msg", "msg", "detail", "details", "title", "Message")
)

// maxErrorDepth is how many containers around a message are looked into.
const maxErrorDepth = 4

// errorMessage finds the readable sentence in a provider's JSON error answer, or nothing. It goes
// through the answer once.
func errorMessage(answer []byte) string {
	d := jsonReader{text: string(answer)}
	found := messageIn(&d, 0)
	if d.end(); d.failed {
		return ""
	}
	return found
}

// messageIn reads a value below depth containers.
func messageIn(d *jsonReader, depth int) (found string) {
	c := d.peek()
	switch {
	case depth > maxErrorDepth:
		d.skip()
	case c == '"':
		if text := d.str(); depth > 0 {
			found = strings.TrimSpace(text)
		}
	case c == '[':
		d.at++
		for count := 0; d.more(']', count); count++ {
			if count == 0 {
				found = messageIn(d, depth+1)
			} else {
				d.skip()
			}
		}
	case c == '{':
		d.at++
		var all [16]string // by the order of messageFields
		for count := 0; d.more('}', count); count++ {
			if i := messageField(d.name()); i >= 0 {
				all[i] = messageIn(d, depth+1)
			} else {
				d.skip()
			}
		}
		for _, text := range all {
			if text != "" {
				return text
			}
		}
	default:
		d.plain()
	}
	return found
}

// messageField is the rank of a field's name, -1 for any other.
func messageField(name string) int {
	for i, field := range messageFields {
		if field == name {
			return i
		}
	}
	return -1
}
