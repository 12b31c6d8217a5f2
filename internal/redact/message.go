package redact

import (
	"bytes"
	"strings"
)

// place is where providers put an error, or a part of one.
type place struct {
	name   string // in any case
	around bool   // only what is inside it counts, and no text
}

// places are the names on the way to an error's message, best first. message_test.go has the answers
// that they were taken from.
var places = [...]place{
	{name: "error"}, {name: "errors"},
	{name: "fault", around: true},            // Apigee
	{name: "response", around: true},         // Tencent
	{name: "responsemetadata", around: true}, // Volcengine
	{name: "base_resp", around: true},        // MiniMax
	{name: "message"}, {name: "faultstring"}, {name: "error_description"}, {name: "error_message"}, {name: "error_msg"},
	{name: "status_msg"}, {name: "msg"}, {name: "detail"}, {name: "details"}, {name: "title"},
	{name: "header", around: true}, // iFlytek
}

// maxErrorDepth is how many containers around a message are looked into.
const maxErrorDepth = 4

// errorMessage finds the readable sentence in a provider's error answer, which is JSON or a stream of
// events with JSON in them, or nothing. It goes through the answer a few times at most.
func errorMessage(answer []byte) string {
	text := string(bytes.TrimPrefix(answer, []byte("\uFEFF")))
	if found, ok := jsonMessage(text); ok {
		return found
	}
	return eventMessage(text)
}

// jsonMessage is the message in one JSON text; ok tells whether it is one.
func jsonMessage(text string) (found string, ok bool) {
	d := jsonReader{text: text}
	found = messageIn(&d, 0)
	if d.end(); d.failed {
		return "", false
	}
	return found, true
}

// eventMessage is the message in the first event of a stream that is called an error, or else in the first
// that has one.
func eventMessage(stream string) (first string) {
	name, data := "", []byte(nil)
	for more := true; more; {
		line, rest := stream, ""
		if end := strings.IndexAny(stream, "\r\n"); end >= 0 {
			line, rest = stream[:end], strings.TrimPrefix(stream[end:], "\r")
			rest = strings.TrimPrefix(rest, "\n")
		}
		stream, more = rest, len(line) < len(stream)
		field, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimPrefix(value, " "); field {
		case "event":
			name = value
		case "data":
			data = append(append(data, value...), '\n')
		}
		if line != "" && more {
			continue
		}
		found, _ := jsonMessage(string(data)) // the event ends here
		if found != "" && name == "error" {
			return found
		}
		if first == "" {
			first = found
		}
		name, data = "", data[:0]
	}
	return first
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
		var all [len(places)]string
		for count := 0; d.more('}', count); count++ {
			i := placeOf(d.name())
			if i < 0 || places[i].around && d.peek() != '{' && d.peek() != '[' {
				d.skip()
				continue
			}
			if text := messageIn(d, depth+1); all[i] == "" {
				all[i] = text
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

// placeOf is the rank of a field's name, -1 for any other.
func placeOf(name string) int {
	for i := range places {
		if len(name) == len(places[i].name) && strings.EqualFold(name, places[i].name) {
			return i
		}
	}
	return -1
}
