package console

import (
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/traces"
)

const (
	maxDiscarded   = 8 << 20 // bytes of a body that is refused
	requestTimeout = 30 * time.Second
	retrySoon      = 2 * time.Second

	defaultSize = 10
	maxSize     = 100
)

// editOf reads the body of an edit, as bodyOf, and its precondition, which the domain package must be given.
func editOf[T any](ctx *fiber.Ctx, nullable ...string) (body T, seen []time.Time, err error) {
	if body, err = bodyOf[T](ctx, nullable...); err != nil {
		return body, nil, err
	}
	seen, err = precondition(ctx)
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

// discard reads what is left of a body, up to a bound, and closes the connection: a client that is
// still sending when it is closed would see a broken connection in place of the answer.
func discard(ctx *fiber.Ctx) {
	ctx.Context().SetConnectionClose()
	if ctx.Request().IsBodyStream() {
		_, _ = io.CopyN(io.Discard, ctx.Context().RequestBodyStream(), maxDiscarded)
	}
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

// timeParam reads an instant from the query; absent is nil. A plus that stands for itself in a query
// comes as a space.
func timeParam(ctx *fiber.Ctx, name string) (*time.Time, error) {
	if !ctx.Context().QueryArgs().Has(name) {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339, strings.Replace(ctx.Query(name), " ", "+", 1))
	if err != nil || at.Year() < 2000 || at.Year() > 2100 {
		return nil, fault.InvalidFields(map[string]string{name: "must be a time of the form 2026-08-17T14:05:00+08:00"})
	}
	return &at, nil
}

// textParam reads a query parameter that a store will see; absent is empty.
func textParam(ctx *fiber.Ctx, name string) (string, error) {
	text := ctx.Query(name)
	if !fault.Storable(text) {
		return "", fault.InvalidFields(map[string]string{name: "must be UTF-8 text without NUL"})
	}
	return strings.Clone(text), nil
}

// modelParam reads the query parameter model; absent is nil, all models.
func modelParam(ctx *fiber.Ctx) (*string, error) {
	if !ctx.Context().QueryArgs().Has("model") {
		return nil, nil
	}
	model, err := textParam(ctx, "model")
	return &model, err
}

// keyParam reads the id of a key, of whichever application: somebody else's has no calls here.
func keyParam(ctx *fiber.Ctx) (uuid.UUID, error) {
	text := ctx.Query("key")
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 || id == uuid.Nil {
		return uuid.Nil, fault.InvalidFields(map[string]string{"key": "must be the id of a key"})
	}
	return id, nil
}

// traceParam reads the query parameter traceId.
func traceParam(ctx *fiber.Ctx) (string, error) {
	id := strings.Clone(ctx.Query("traceId"))
	if !traces.ValidTraceID(id) {
		return "", fault.InvalidFields(map[string]string{"traceId": "must be 32 lower-case hexadecimal digits, not all zero"})
	}
	return id, nil
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

// ofPart answers for a part of the object that the path's id names, which another id in it, a UUID too, names.
func ofPart(name string, h func(ctx *fiber.Ctx, id, part uuid.UUID) (any, error)) handler {
	return ofID(func(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
		part, err := idParam(ctx, name)
		if err != nil {
			return nil, err
		}
		return h(ctx, id, part)
	})
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

// identifierParam reads an identifier from the path, where a colon may come percent-encoded. With a slash it names nothing.
func identifierParam(ctx *fiber.Ctx, name string) (string, error) {
	text, err := url.PathUnescape(ctx.Params(name))
	if err != nil || strings.Contains(text, "/") {
		return "", fault.Absent()
	}
	return text, nil
}

// idParam reads a UUID from the path; a malformed one names nothing: 404.
func idParam(ctx *fiber.Ctx, name string) (uuid.UUID, error) {
	text := ctx.Params(name)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, fault.Absent()
	}
	return id, nil
}
