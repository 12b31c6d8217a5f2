package console

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/stats"
)

// What one user, and one client that does not read, can take of the exports' few connections to
// ClickHouse, which are apart from those of every other question (stats.Reader.Walk).
const (
	exportTimeout  = 30 * time.Minute // of one file
	exportsPerUser = 2
	exportRetry    = 10 * time.Second
	exportBlock    = 1000 // entries of the audit trail that are read together

	// A client must take stallBytes within stallTimeout, or its file breaks off.
	stallTimeout = 30 * time.Second
	stallBytes   = 64 << 10
)

// exportCalls is listCalls without pages, as CSV.
func (c *Console) exportCalls(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsOfOne(ctx)
	if err != nil {
		return nil, err
	}
	return c.csvFile(ctx, callsFile(q), func(ctx context.Context, to io.Writer) error { return c.Report.WriteCalls(ctx, to, q) })
}

// exportOwnCalls is listOwnCalls without pages, as CSV.
func (c *Console) exportOwnCalls(ctx *fiber.Ctx) (any, error) {
	q, err := c.callsOfAny(ctx)
	if err != nil {
		return nil, err
	}
	owner := principal(ctx).UserID
	return c.csvFile(ctx, callsFile(q), func(ctx context.Context, to io.Writer) error { return c.Report.WriteOwnCalls(ctx, to, owner, q) })
}

func callsFile(q stats.CallsQuery) string {
	return "calls-" + q.Range.Start.String() + "-" + q.Range.End.String() + ".csv"
}

// csvFile answers with a file that write writes, as one of those that its reader may have at a time.
func (c *Console) csvFile(ctx *fiber.Ctx, name string, write func(context.Context, io.Writer) error) (any, error) {
	release, err := c.exports.admit(principal(ctx))
	if err != nil {
		return nil, err
	}
	file, err := startExport(ctx.UserContext(), write, release)
	if err != nil {
		return nil, err
	}
	file.conn, file.stall = ctx.Context().Conn(), c.exports.stall
	ctx.Attachment(name)
	ctx.Set(fiber.HeaderContentType, "text/csv; charset=utf-8")
	ctx.Context().Response.SetBodyStream(file, -1)
	return written, nil
}

// exports counts the files that are being written for each account, in this process.
type exports struct {
	stall time.Duration

	mu      sync.Mutex
	running map[account]int
}

// account is a user's, or an administrator's, who has no id.
type account struct {
	id    uuid.UUID
	email string
}

func newExports() *exports { return &exports{stall: stallTimeout, running: map[account]int{}} }

// admit takes a place for a file of an account, to be released once; TooManyAttempts when there is none.
func (e *exports) admit(who identity.Principal) (release func(), err error) {
	user := account{id: who.UserID}
	if who.UserID == uuid.Nil {
		user.email = who.Email
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running[user] >= exportsPerUser {
		return nil, &fault.Error{Kind: fault.TooManyAttempts, RetryAfter: exportRetry,
			Message: "your account is already downloading as many files as it may at a time; wait until one has ended"}
	}
	e.running[user]++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.running[user]--; e.running[user] == 0 {
			delete(e.running, user)
		}
	}, nil
}

// export is a CSV file while it is being written. An error on the way breaks the response off, so
// that half a file never looks like a whole one.
type export struct {
	*bufio.Reader
	pipe   *io.PipeReader
	cancel context.CancelFunc

	conn  net.Conn
	stall time.Duration
	taken int // bytes since the client was last given time
}

// Read is asked for more only when the client's socket has taken what was read before.
func (e *export) Read(p []byte) (int, error) {
	if e.taken == 0 || e.taken >= stallBytes {
		e.taken = 0
		if err := e.conn.SetWriteDeadline(time.Now().Add(e.stall)); err != nil {
			return 0, err
		}
	}
	n, err := e.Reader.Read(p)
	e.taken += n
	return n, err
}

// Close ends the export wherever it is.
func (e *export) Close() error {
	e.cancel()
	return errors.Join(e.conn.SetWriteDeadline(time.Time{}), e.pipe.Close())
}

// startExport returns when the first of what write writes is there, or with the fault that kept it away, Unavailable
// when it did not come before the request's ctx ended. It releases when the export ends.
func startExport(request context.Context, write func(context.Context, io.Writer) error, release func()) (*export, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request), exportTimeout)
	context.AfterFunc(ctx, release)
	tooLate := context.AfterFunc(request, cancel)
	out, in := io.Pipe()
	go func() { _ = in.CloseWithError(write(ctx, in)) }()
	e := &export{Reader: bufio.NewReader(out), pipe: out, cancel: cancel}
	_, err := e.Peek(1)
	if !tooLate() && err == nil {
		err = request.Err()
	}
	if err != nil {
		cancel()
		return nil, errors.Join(err, out.Close())
	}
	return e, nil
}
