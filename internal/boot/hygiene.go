package boot

import (
	"errors"
	"io"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
)

// drainBytes is what is read of a body that no handler wanted, so that its connection lives.
const drainBytes = 64 << 10

// finishRequest runs around every route. Bodies are streamed: what a handler leaves unread would stand before
// the next request of the connection, so it is read here, or the connection is closed.
func finishRequest(c *fiber.Ctx) error {
	if len(c.Request().Header.PeekAll(fiber.HeaderAuthorization)) > 1 {
		c.Context().SetConnectionClose()
		return fault.New(fault.Invalid, "the request has two Authorization lines")
	}
	err := c.Next()
	body := c.Context().RequestBodyStream()
	if body == nil {
		return err
	}
	if _, rest := io.CopyN(io.Discard, body, drainBytes); !errors.Is(rest, io.EOF) { // there is more, or it broke
		c.Context().SetConnectionClose()
	}
	return err
}
