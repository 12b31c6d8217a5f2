package boot

import (
	"errors"
	"io"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
	"callgate/internal/gateway"
)

// drainBytes is what is read of a body that no handler wanted, so that its connection lives.
const drainBytes = 64 << 10

// finishRequest runs around every route but the gateway's, which has rules of its own. Bodies are
// streamed and the server does not drain them: what a handler leaves unread would be taken for the
// next request of the connection, so it is read here, or the connection is closed.
func finishRequest(c *fiber.Ctx) error {
	// The gateway relays the upstream's Date, so the server adds none; a reset header gets one again.
	c.Response().Header.Reset()
	if gateway.Ambiguous(c.Request().Header.RawHeaders()) {
		c.Context().SetConnectionClose()
		return fault.New(fault.Invalid, "the request head can be read in two ways")
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
