package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
)

const (
	maxBody        = 1 << 20 // bytes (api.md, Common)
	maxDiscarded   = 8 << 20 // bytes of a body or head that is refused
	headPause      = 100 * time.Millisecond
	requestTimeout = 30 * time.Second
	retrySoon      = 2 * time.Second

	defaultSize = 10
	maxSize     = 100
)

// bodyOf reads the body of a request into its type.
func bodyOf[T any](ctx *fiber.Ctx) (body T, err error) {
	err = decode(ctx, &body)
	return body, err
}

// editOf reads the body of an edit and its precondition, which the room must be given.
func editOf[T any](ctx *fiber.Ctx) (body T, seen []time.Time, err error) {
	if seen, err = precondition(ctx); err != nil {
		return body, nil, err
	}
	body, err = bodyOf[T](ctx)
	return body, seen, err
}

// precondition reads If-Match: one updatedAt in double quotes. Absent or * it is empty.
func precondition(ctx *fiber.Ctx) (seen []time.Time, err error) {
	values := ctx.Request().Header.PeekAll(fiber.HeaderIfMatch)
	if len(values) == 0 || len(values) == 1 && string(values[0]) == "*" {
		return nil, nil
	}
	quoted, begins := strings.CutPrefix(string(values[0]), `"`)
	text, ends := strings.CutSuffix(quoted, `"`)
	at, ok := beijing.Parse(text)
	if len(values) > 1 || !begins || !ends || !ok {
		return nil, fault.InvalidFields(map[string]string{"If-Match": "must be the updatedAt that was read, in double quotes, or *"})
	}
	return []time.Time{at}, nil
}

// decode reads a JSON object of at most 1 MiB into dst. Unknown fields are ignored; a field given
// as null, a wrong type and malformed JSON are Invalid, more bytes TooLarge.
func decode(ctx *fiber.Ctx, dst any) error {
	body, err := readBody(ctx)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return fault.New(fault.Invalid, "the body is empty; send a JSON object")
	}
	if !utf8.Valid(body) {
		return fault.New(fault.Invalid, "the body is not UTF-8")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return jsonFault(err)
	}
	if fields == nil {
		return fault.New(fault.Invalid, "the body must be a JSON object")
	}
	wrong := fault.Fields{}
	// One by one, so that every wrong field is told; of two spellings the one of the contract wins.
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if string(value) == "null" {
			wrong.Add(name, "must not be null; leave it out to keep it unset")
			continue
		}
		var kind *json.UnmarshalTypeError
		switch err := json.Unmarshal(alone(name, value), dst); {
		case errors.As(err, &kind):
			wrong.Add(name, "must not be a %s", kind.Value)
		case err != nil:
			return jsonFault(err)
		}
	}
	return wrong.Err()
}

// alone is an object with one field.
func alone(name string, value json.RawMessage) []byte {
	quoted, _ := json.Marshal(name) // a string never fails
	return slices.Concat([]byte("{"), quoted, []byte(":"), value, []byte("}"))
}

func readBody(ctx *fiber.Ctx) ([]byte, error) {
	tooLarge := fault.New(fault.TooLarge, "the body is larger than 1 MiB")
	request := ctx.Request()
	if request.Header.ContentLength() > maxBody {
		discard(ctx)
		return nil, tooLarge
	}
	if !request.IsBodyStream() {
		if body := request.Body(); len(body) <= maxBody {
			return body, nil
		}
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(ctx.Context().RequestBodyStream(), maxBody+1))
	if err != nil {
		ctx.Context().SetConnectionClose()
		return nil, fault.Wrap(fault.Invalid, err, "the body could not be read")
	}
	if len(body) > maxBody {
		discard(ctx)
		return nil, tooLarge
	}
	return body, nil
}

// discard reads what is left of a body, up to a bound, and closes the connection: a client that is
// still sending when it is closed would see a broken connection in place of the answer.
func discard(ctx *fiber.Ctx) {
	ctx.Context().SetConnectionClose()
	if ctx.Request().IsBodyStream() {
		_, _ = io.CopyN(io.Discard, ctx.Context().RequestBodyStream(), maxDiscarded)
	}
}

// discardHead is discard for a head that is larger than the server reads: until its sender pauses.
func discardHead(ctx *fiber.Ctx) {
	conn := ctx.Context().Conn()
	buffer := make([]byte, 16<<10)
	for read := 0; read < maxDiscarded; {
		if conn.SetReadDeadline(time.Now().Add(headPause)) != nil {
			return
		}
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		read += n
	}
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

// pageNumber reads the query parameter page: an integer from 1, default 1.
func pageNumber(ctx *fiber.Ctx) (int, error) {
	return intParam(ctx, "page", 1, math.MaxInt32)
}

// pageSize reads the query parameter size: 1-100, default 10.
func pageSize(ctx *fiber.Ctx) (int, error) {
	return intParam(ctx, "size", defaultSize, maxSize)
}

func pageAndSize(ctx *fiber.Ctx) (page, size int, err error) {
	if page, err = pageNumber(ctx); err != nil {
		return 0, 0, err
	}
	size, err = pageSize(ctx)
	return page, size, err
}

func intParam(ctx *fiber.Ctx, name string, absent, most int) (int, error) {
	text := ctx.Query(name)
	if text == "" && !ctx.Context().QueryArgs().Has(name) {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fault.InvalidFields(map[string]string{name: fmt.Sprintf("must be an integer from 1 to %d", most)})
	}
	return n, nil
}

// textParam reads a query parameter that a store will see; absent is empty.
func textParam(ctx *fiber.Ctx, name string) (string, error) {
	text := ctx.Query(name)
	if !fault.Storable(text) {
		return "", fault.InvalidFields(map[string]string{name: "must be UTF-8 text without NUL"})
	}
	return strings.Clone(text), nil
}

// ofID answers for the object that the path's id, a UUID, names.
func ofID(h func(*fiber.Ctx, uuid.UUID) (any, error)) handler {
	return func(ctx *fiber.Ctx) (any, error) {
		id, err := idParam(ctx, "id")
		if err != nil {
			return nil, err
		}
		return h(ctx, id)
	}
}

// ofIdentifier answers for the capability or group that the path's id names.
func ofIdentifier(h func(*fiber.Ctx, string) (any, error)) handler {
	return func(ctx *fiber.Ctx) (any, error) {
		id, err := identifierParam(ctx, "id")
		if err != nil {
			return nil, err
		}
		return h(ctx, id)
	}
}

// identifierParam reads an identifier from the path, where a colon may come percent-encoded.
func identifierParam(ctx *fiber.Ctx, name string) (string, error) {
	text, err := url.PathUnescape(ctx.Params(name))
	if err != nil {
		return "", fault.Absent()
	}
	return text, nil
}

// idParam reads a UUID from the path; a malformed one names nothing (api.md: 404).
func idParam(ctx *fiber.Ctx, name string) (uuid.UUID, error) {
	text := ctx.Params(name)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, fault.Absent()
	}
	return id, nil
}
