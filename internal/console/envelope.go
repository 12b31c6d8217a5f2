package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/telemetry"
)

// handler answers one route: data for the envelope, or an error that carries a fault. A handler
// that has written the response itself returns written.
type handler func(*fiber.Ctx) (any, error)

// created answers 201 instead of 200.
type created struct{ data any }

const requestID = "X-Request-Id"

// written says that the handler has written the response itself.
var written = new(struct{})

// statusOf and codeOf are the table of error codes in openapi.yaml.
var statusOf = map[fault.Kind]int{
	fault.Internal: 500, fault.Invalid: 400, fault.InvalidDate: 400, fault.InvalidRange: 400,
	fault.Unauthenticated: 401, fault.BadCredential: 401, fault.NotAdministrator: 403, fault.NotPermitted: 403,
	fault.NotFound: 404, fault.NoFailureDetail: 404, fault.Conflict: 409, fault.Changed: 409, fault.MethodNotAllowed: 405,
	fault.TooLarge: 413, fault.WrongHost: 421, fault.TooManyAttempts: 429, fault.Unavailable: 503,
}

var codeOf = map[fault.Kind]int64{
	fault.Internal: 50001, fault.Invalid: 40001, fault.InvalidDate: 40002, fault.InvalidRange: 40003,
	fault.Unauthenticated: 40101, fault.BadCredential: 40102, fault.NotAdministrator: 40301, fault.NotPermitted: 40302,
	fault.NotFound: 40401, fault.NoFailureDetail: 40402, fault.Conflict: 40901, fault.Changed: 40902, fault.MethodNotAllowed: 40501,
	fault.TooLarge: 41301, fault.WrongHost: 42101, fault.TooManyAttempts: 42901, fault.Unavailable: 50301,
}

// Identify gives a request its id, which its answer and every line logged on the way show.
func Identify(ctx *fiber.Ctx) error {
	identify(ctx)
	return ctx.Next()
}

func identify(ctx *fiber.Ctx) {
	id := uuid.NewString()
	ctx.Set(requestID, id)
	ctx.SetUserContext(telemetry.WithRequest(ctx.UserContext(), id))
}

// common runs before every management route: request id, headers, recovery from panics.
func (c *Console) common(ctx *fiber.Ctx) (err error) {
	identify(ctx)
	ctx.Set("X-Content-Type-Options", "nosniff")
	ctx.Set(fiber.HeaderCacheControl, "no-store")
	limited, cancel := context.WithTimeout(ctx.UserContext(), requestTimeout)
	defer cancel()
	ctx.SetUserContext(limited)
	defer func() {
		if p := recover(); p != nil {
			c.Logger.ErrorContext(ctx.UserContext(), "panic", "path", ctx.Route().Path, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if !fault.Storable(string(ctx.Context().Path())) {
		return fault.Absent() // nothing has such a name
	}
	return ctx.Next()
}

func (c *Console) route(h handler) fiber.Handler {
	return func(ctx *fiber.Ctx) error {
		data, err := h(ctx)
		switch {
		case err != nil:
			return err
		case data == written:
			return nil
		}
		if made, ok := data.(created); ok {
			ctx.Status(fiber.StatusCreated)
			data = made.data
		}
		return ctx.JSON(openapi.Success{Msg: "ok", Data: data})
	}
}

// Fail is the ErrorHandler of the public listener: the one place where errors become HTTP.
func Fail(log *slog.Logger) fiber.ErrorHandler {
	return func(ctx *fiber.Ctx, err error) error {
		f := asFault(err)
		if ctx.GetRespHeader(requestID) == "" { // refused before common ran
			identify(ctx)
		}
		id := uuid.MustParse(ctx.GetRespHeader(requestID))
		if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
			log.ErrorContext(ctx.UserContext(), "request failed", "method", ctx.Method(), "path", ctx.Path(), "error", err)
		}
		if f.RetryAfter > 0 {
			ctx.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
		}
		ctx.Set(fiber.HeaderCacheControl, "no-store")
		say := inLanguageOf(ctx)
		if tooLate := (*tooLate)(nil); errors.As(err, &tooLate) {
			return ctx.Status(statusOf[f.Kind]).JSON(openapi.Changed{Code: codeOf[f.Kind], Msg: say(f.Message), Data: tooLate.current, RequestID: id})
		}
		answer := openapi.Error{Code: codeOf[f.Kind], Msg: say(f.Message), RequestID: id}
		if len(f.Fields) > 0 {
			answer.Data = &openapi.WrongFields{Fields: make(map[string]string, len(f.Fields))}
			for name, message := range f.Fields {
				answer.Data.Fields[name] = say(message)
			}
		}
		return ctx.Status(statusOf[f.Kind]).JSON(answer)
	}
}

// asFault finds or makes the fault of an error, so that nothing internal is ever published.
func asFault(err error) *fault.Error {
	var f *fault.Error
	var ours *fiber.Error
	switch {
	case errors.As(err, &f):
		if f.Kind == fault.Unavailable && f.RetryAfter == 0 {
			f = unavailable(err)
		}
		return f
	case errors.As(err, &ours):
		return fiberFault(ours)
	case storeIsDown(err):
		return unavailable(err)
	}
	return fault.Wrap(fault.Internal, err, "internal error; the request id finds it in the log")
}

func unavailable(err error) *fault.Error {
	return &fault.Error{Kind: fault.Unavailable, Message: "a store is unavailable; try again shortly", RetryAfter: retrySoon, Cause: err}
}

func fiberFault(err *fiber.Error) *fault.Error {
	switch err.Code {
	case fiber.StatusNotFound:
		return fault.New(fault.NotFound, "no such path")
	case fiber.StatusMethodNotAllowed:
		return fault.New(fault.MethodNotAllowed, "this path does not take this method")
	case fiber.StatusRequestEntityTooLarge, fiber.StatusRequestHeaderFieldsTooLarge:
		return fault.New(fault.TooLarge, "the request is too large")
	}
	if err.Code >= 500 {
		return fault.Wrap(fault.Internal, err, "internal error; the request id finds it in the log")
	}
	return fault.New(fault.Invalid, "%s", err.Message)
}
