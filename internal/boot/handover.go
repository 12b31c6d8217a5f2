package boot

import (
	"bufio"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"callgate/internal/http1"
)

// others has Fiber's app answer the requests that are not the gateway's, one at a time: for each its server
// is given a connection that has this one request and then ends, so that whatever is read belongs to it.
type others struct {
	server *fasthttp.Server
}

// handOver makes an app answer requests of an http1.Server. Bodies are read as they come: handlers bound
// them.
func handOver(app *fiber.App, from clients) *others {
	server := app.Server()
	server.SecureErrorLogMessage = true // a malformed request is not repeated in what is logged
	routes := app.Handler()             // it also builds the router
	server.Handler = func(ctx *fasthttp.RequestCtx) {
		from.tell(ctx)
		routes(ctx)
		conn := ctx.Conn().(*oneRequest)
		if conn.exchange.Last() || !conn.body.Ended() {
			ctx.Response.Header.SetConnectionClose()
		}
		conn.closes = ctx.Response.ConnectionClose()
	}
	return &others{server}
}

// settings are what Fiber is configured with for that: bodies as streams, long heads, any method.
func settings(c *fiber.Config) {
	c.StreamRequestBody = true
	c.DisablePreParseMultipartForm = true
	c.DisableDefaultContentType = true
	c.BodyLimit = 1                  // with streaming: how much is read before the handler; gateway and console enforce their own limits
	c.ReadTimeout = 60 * time.Second // for a request's body
	c.WriteTimeout = 0               // the listener sees to callers that do not read
	c.ReadBufferSize = maxHead
	c.WriteBufferSize = 4 << 10
	c.RequestMethods = append(append([]string(nil), fiber.DefaultMethods...),
		"QUERY", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "PURGE", "LINK", "UNLINK")
}

// maxHead bounds the head of a request, in bytes.
const maxHead = 16 << 10

// handle answers one request. It reports whether another may follow on the connection.
func (o *others) handle(x *http1.Exchange) (again bool) {
	conn := &oneRequest{Conn: x.Conn, exchange: x, head: x.Raw(), closes: true}
	conn.body.Begin(x.Body())
	err := o.server.ServeConn(conn)
	_ = x.Conn.SetDeadline(time.Time{})
	return err == nil && conn.fault == nil && !conn.closes && conn.body.Ended()
}

// refuse answers what cannot be read as a request.
func (o *others) refuse(x *http1.Exchange, fault error) {
	switch {
	case errors.Is(fault, http1.ErrHeadTooLong):
		fault = &fasthttp.ErrSmallBuffer{}
	case errors.Is(fault, http1.ErrHeadTimeout):
		fault = fasthttp.ErrTimeout
	}
	ctx := new(fasthttp.RequestCtx)
	ctx.Init2(x.Conn, nil, true)
	o.server.ErrorHandler(ctx, fault)
	ctx.SetConnectionClose()
	w := bufio.NewWriter(x.Conn)
	if ctx.Response.Write(w) == nil && w.Flush() == nil {
		x.Linger()
	}
}

// oneRequest is a connection on which one request has come and nothing after it.
type oneRequest struct {
	*http1.Conn // writes, addresses, deadlines
	exchange    *http1.Exchange
	head        []byte // not read yet
	body        http1.Body
	rest        []byte // of the body, that was found and not read yet
	fault       error
	closes      bool // the answer is the last one on the connection
}

// Read gives the head, and then the body as it comes, chunks without extensions and trailers.
func (c *oneRequest) Read(p []byte) (int, error) {
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	for len(c.rest) == 0 {
		if c.fault != nil {
			return 0, c.fault
		}
		if c.body.Ended() {
			return 0, io.EOF
		}
		c.fault = c.more()
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *oneRequest) more() error {
	if c.Buffer().Len() == 0 {
		if _, err := c.Fill(false); errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
	}
	piece, err := c.body.Next(c.Buffer())
	if err != nil {
		return err
	}
	if c.rest = piece.Bytes(); c.body.Framing().Kind == http1.Chunked {
		c.rest = piece.Chunk(c.body.Ended())
	}
	return nil
}

// SyscallConn gives the socket, by which it is seen that a client has left.
func (c *oneRequest) SyscallConn() (syscall.RawConn, error) {
	if socket, ok := c.Conn.Conn.(syscall.Conn); ok {
		return socket.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// Close leaves the connection open: it is the listener's.
func (c *oneRequest) Close() error { return nil }

var (
	_ net.Conn     = (*oneRequest)(nil)
	_ syscall.Conn = (*oneRequest)(nil)
)
