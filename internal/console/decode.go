package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
)

const (
	maxBody       = 1 << 20 // bytes
	maxSignInBody = 4 << 10 // bytes of a body that anybody may send
)

// bodyOf reads the body of a request into its type. The fields named may be null, which is as if left out.
func bodyOf[T any](ctx *fiber.Ctx, nullable ...string) (body T, err error) {
	err = decode(ctx, &body, maxBody, nullable...)
	return body, err
}

// nullsOf is bodyOf where null says something else than nothing: the fields named that are given as null come too.
func nullsOf[T any](ctx *fiber.Ctx, nullable ...string) (body T, nulls []string, err error) {
	sent, err := readBody(ctx, maxBody)
	if err != nil {
		return body, nil, err
	}
	if err = decodeObject(sent, &body, nullable); err != nil {
		return body, nil, err
	}
	return body, nullsIn(bytes.Trim(sent, " \t\r\n"), nullable), nil
}

// nullsIn are the fields named that an object, valid JSON, gives as null.
func nullsIn(object []byte, names []string) (nulls []string) {
	for _, m := range knownMembers(object, names) {
		if string(m.value) == "null" {
			nulls = append(nulls, m.name)
		}
	}
	return nulls
}

// optionalBodyOf is bodyOf where there need be no body; null is none.
func optionalBodyOf[T any](ctx *fiber.Ctx) (body T, err error) {
	sent, err := readBody(ctx, maxBody)
	if text := string(bytes.TrimSpace(sent)); err != nil || text == "" || text == "null" {
		return body, err
	}
	return body, decodeObject(sent, &body, nil)
}

// signInBodyOf is bodyOf for requests without a credential.
func signInBodyOf[T any](ctx *fiber.Ctx) (body T, err error) {
	err = decode(ctx, &body, maxSignInBody)
	return body, err
}

// decode reads a JSON object of at most most bytes into dst. Unknown fields are ignored; a field given
// as null that is not among nullable, a wrong type and malformed JSON are Invalid, more bytes TooLarge. What a sender makes up
// costs a pass over its bytes: only the fields of dst are kept and decoded.
func decode(ctx *fiber.Ctx, dst any, most int, nullable ...string) error {
	body, err := readBody(ctx, most)
	if err != nil {
		return err
	}
	return decodeObject(body, dst, nullable)
}

func decodeObject(body []byte, dst any, nullable []string) error {
	object := bytes.Trim(body, " \t\r\n")
	if len(object) == 0 {
		return fault.New(fault.Invalid, "the body is empty; send a JSON object")
	}
	if !utf8.Valid(body) {
		return fault.New(fault.Invalid, "the body is not UTF-8")
	}
	if object[0] != '{' {
		if err := json.Unmarshal(body, &struct{}{}); err != nil {
			return jsonFault(err)
		}
		return fault.New(fault.Invalid, "the body must be a JSON object") // null
	}
	if !json.Valid(body) {
		return jsonFault(json.Unmarshal(body, &json.RawMessage{}))
	}
	return decodeFields(knownMembers(object, fieldsOf(reflect.TypeOf(dst).Elem())), dst, nullable)
}

// decodeFields decodes one by one, so that every wrong field is told.
func decodeFields(members []member, dst any, nullable []string) error {
	wrong := fault.Fields{}
	for _, m := range members {
		if string(m.value) == "null" {
			if !slices.Contains(nullable, m.name) {
				wrong.Add(m.name, "must not be null; leave it out to keep it unset")
			}
			continue
		}
		var kind *json.UnmarshalTypeError
		switch err := json.Unmarshal(m.alone(), dst); {
		case errors.As(err, &kind):
			wrong.Add(m.name, "must not be a %s", kind.Value)
		case err != nil:
			return jsonFault(err)
		}
	}
	return wrong.Err()
}

// member is a field of a JSON object: its name as the contract spells it, its value as it came.
type member struct {
	name  string
	value []byte
}

// alone is an object with one field.
func (m member) alone() []byte {
	return slices.Concat([]byte(`{"`), []byte(m.name), []byte(`":`), m.value, []byte("}"))
}

// knownMembers finds the members of an object, valid JSON, that have one of the names, in any
// spelling. Of several the one of the contract's spelling wins, of equal ones the last.
func knownMembers(object []byte, names []string) []member {
	found, exact := make([]member, len(names)), make([]bool, len(names))
	for rest := object[1:]; ; {
		key, value, after := nextMember(rest)
		if key == nil {
			break
		}
		rest = after
		for i, name := range names {
			if same := string(key) == name; same || !exact[i] && spells(key, name) {
				found[i], exact[i] = member{name, value}, same
			}
		}
	}
	return slices.DeleteFunc(found, func(m member) bool { return m.value == nil })
}

// spells tells whether key is name but for upper and lower case. Most keys differ in the first letter.
func spells(key []byte, name string) bool {
	const toLower = 'a' - 'A'
	if len(key) == 0 || key[0] < utf8.RuneSelf && key[0]|toLower != name[0]|toLower {
		return false
	}
	return strings.EqualFold(string(key), name)
}

// nextMember takes one member off the inside of an object, valid JSON; at its end the key is nil.
func nextMember(text []byte) (key, value, rest []byte) {
	text = bytes.TrimLeft(text, " \t\r\n,")
	if text[0] != '"' {
		return nil, nil, nil
	}
	n := stringSize(text)
	key = text[1 : n-1]
	if bytes.IndexByte(key, '\\') >= 0 {
		var plain string
		_ = json.Unmarshal(text[:n], &plain) // valid
		key = []byte(plain)
	}
	text = bytes.TrimLeft(text[n:], " \t\r\n:")
	n = valueSize(text)
	return key, text[:n], text[n:]
}

// stringSize is the size of the string that text, valid JSON, begins with.
func stringSize(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// valueSize is the size of the value that text, valid JSON, begins with.
func valueSize(text []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			i += stringSize(text[i:]) - 1
		case '[', '{':
			depth++
			continue
		case ']', '}':
			if depth--; depth < 0 {
				return i // a number or word before the end of what holds it
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
}

var knownFields sync.Map // reflect.Type to []string

// fieldsOf are the JSON names of a struct's fields.
func fieldsOf(of reflect.Type) []string {
	if names, ok := knownFields.Load(of); ok {
		return names.([]string)
	}
	var names []string
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.IsExported() && !field.Anonymous && name != "-" {
			names = append(names, name)
		}
	}
	knownFields.Store(of, names)
	return names
}

func readBody(ctx *fiber.Ctx, most int) ([]byte, error) {
	tooLarge := fault.New(fault.TooLarge, "the body is larger than %d bytes", most)
	request := ctx.Request()
	if request.Header.ContentLength() > most {
		discard(ctx)
		return nil, tooLarge
	}
	if !request.IsBodyStream() {
		if body := request.Body(); len(body) <= most {
			return body, nil
		}
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(ctx.Context().RequestBodyStream(), int64(most)+1))
	if err != nil {
		ctx.Context().SetConnectionClose()
		return nil, fault.Wrap(fault.Invalid, err, "the body could not be read")
	}
	if len(body) > most {
		discard(ctx)
		return nil, tooLarge
	}
	return body, nil
}

func jsonFault(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fault.New(fault.Invalid, "malformed JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fault.New(fault.Invalid, "the body must be a JSON object, not a %s", kind.Value)
	}
	return fault.Wrap(fault.Invalid, err, "the body is not valid JSON")
}
