package console

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5/pgconn"
)

// passing are the SQLSTATEs, or their first letters, of what goes by without us: try again.
var passing = []string{
	"08",             // the connection
	"25006",          // read-only: a standby, or a primary that has just become one
	"25P03", "25P04", // a transaction took too long
	"40001", "40P01", "55P03", // somebody else's transaction was in the way
	"53",           // connections, memory or disk used up
	"57014", "57P", // statement_timeout; shut down, crashed, starting
	"58", // its files
}

// storeIsDown tells a store that cannot be asked (try again) from our own mistake (a fault).
func storeIsDown(err error) bool {
	var refused *pgconn.ConnectError
	var network net.Error
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		for _, code := range passing {
			if strings.HasPrefix(pg.Code, code) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.As(err, &refused), errors.As(err, &network),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), // cut under a statement
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled): // ours: no caller can cancel
		return true
	}
	return pgconn.SafeToRetry(err)
}

// guarded refuses a request at once while PostgreSQL is known not to answer, and ends one that waits
// for it as soon as that is found out: every route behind it asks PostgreSQL first.
func (c *Console) guarded(ctx *fiber.Ctx) error {
	if c.Guard == nil {
		return ctx.Next()
	}
	limited, release, err := c.Guard(ctx.UserContext())
	if err != nil {
		return unavailable(err)
	}
	defer release()
	ctx.SetUserContext(limited)
	return ctx.Next()
}
