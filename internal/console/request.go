package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/fault"
)

const (
	maxBody        = 1 << 20 // bytes (api.md, Common)
	maxDiscarded   = 8 << 20 // bytes of a body that is refused
	requestTimeout = 30 * time.Second
	retrySoon      = 2 * time.Second

	defaultSize = 10
	maxSize     = 100
)

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
	nulls := map[string]string{}
	for name, value := range fields {
		if string(value) == "null" {
			nulls[name] = "must not be null; leave it out to keep it unset"
		}
	}
	if len(nulls) > 0 {
		return fault.InvalidFields(nulls)
	}
	if err := json.Unmarshal(body, dst); err != nil {
		return jsonFault(err)
	}
	return nil
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

func jsonFault(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fault.New(fault.Invalid, "malformed JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind) && kind.Field != "":
		return fault.InvalidFields(map[string]string{kind.Field: fmt.Sprintf("must not be a %s", kind.Value)})
	case errors.As(err, &kind):
		return fault.New(fault.Invalid, "the body must be a JSON object, not a %s", kind.Value)
	}
	return fault.Wrap(fault.Invalid, err, "the body is not valid JSON")
}

// pageOf reads the query parameter page: an integer from 1, default 1.
func pageOf(ctx *fiber.Ctx) (int, error) {
	return intParam(ctx, "page", 1, math.MaxInt32)
}

// sizeOf reads the query parameter size: 1-100, default 10.
func sizeOf(ctx *fiber.Ctx) (int, error) {
	return intParam(ctx, "size", defaultSize, maxSize)
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
	if !storable([]byte(text)) {
		return "", fault.InvalidFields(map[string]string{name: "must be UTF-8 text without NUL"})
	}
	return strings.Clone(text), nil
}

// storable tells whether bytes are text that every store takes: UTF-8 without NUL.
func storable(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// idParam reads a UUID from the path; a malformed one names nothing (api.md: 404).
func idParam(ctx *fiber.Ctx, name string) (uuid.UUID, error) {
	text := ctx.Params(name)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, fault.Absent()
	}
	return id, nil
}
