package boot

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/console"
	"callgate/internal/http1"
)

// served serves an app that repeats bodies, as a node does, and returns its address.
func served(t *testing.T) string {
	t.Helper()
	c := fiber.Config{DisableStartupMessage: true, Immutable: true, ErrorHandler: console.Fail(slog.New(slog.DiscardHandler))}
	settings(&c)
	app := fiber.New(c)
	app.Use(finishRequest)
	app.All("/echo", func(c *fiber.Ctx) error {
		if c.Request().IsBodyStream() {
			body, err := io.ReadAll(c.Context().RequestBodyStream())
			if err != nil {
				return fiber.ErrBadRequest
			}
			return c.Send(body)
		}
		return c.Send(c.Body())
	})
	app.All("/unread", func(c *fiber.Ctx) error { return c.SendString("unread") })
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &front{listener: http1.NewListener(socket, http1.ListenerConfig{})}
	ended := make(chan error, 1)
	go func() { ended <- f.serve(nil, app) }()
	t.Cleanup(func() {
		f.listener.CloseAll()
		<-ended
		if !f.server.Wait(5 * time.Second) {
			t.Error("requests were still being handled")
		}
	})
	return socket.Addr().String()
}

type answered struct {
	status int
	body   string
	closed bool
}

// converse sends text and reads n answers, or fewer if the connection ends.
func converse(t *testing.T, address, text string, n int) (all []answered) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	go func() { _, _ = io.WriteString(conn, text) }()
	br := bufio.NewReader(conn)
	for range n {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return all
		}
		body, _ := io.ReadAll(resp.Body)
		all = append(all, answered{resp.StatusCode, string(body), resp.Close})
	}
	return all
}

func TestOtherRequestsAreAnsweredOneAfterAnotherWithTheirOwnBodies(t *testing.T) {
	address := served(t)
	long := strings.Repeat("0123456789", 10_000)
	echo := "POST /echo HTTP/1.1\r\nHost: a\r\n"
	text := echo + "Content-Length: 3\r\n\r\none" +
		echo + "Transfer-Encoding: chunked\r\n\r\n1;ext=1\r\nt\r\n2\r\nwo\r\n0\r\nTrailer: x\r\n\r\n" +
		"GET /echo HTTP/1.1\r\nHost: a\r\n\r\n" +
		echo + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(long)) + long +
		"POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n" +
		"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /" +
		"GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
	want := []answered{{200, "one", false}, {200, "two", false}, {200, "", false}, {200, long, false}, {200, "unread", false}, {200, "unread", false},
		{404, "", true}}
	got := converse(t, address, text, len(want)+1)
	if len(got) != len(want) {
		t.Fatalf("%d answers", len(got))
	}
	for i := range want {
		if want[i].status != 200 {
			got[i].body = ""
		}
		if got[i] != want[i] {
			t.Errorf("answer %d: %d %.60q, closed %v", i, got[i].status, got[i].body, got[i].closed)
		}
	}
}

func TestABodyThatCannotBeReadEndsTheConnection(t *testing.T) {
	address := served(t)
	hidden := "GET /unread HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, text := range []string{
		"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n" + hidden,
		"POST /unread HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nx\r\n" + hidden,
		"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("x", 100_000) + hidden,
		"POST /unread HTTP/1.1\r\nHost: a\r\nX: a\nY: b\r\n\r\n" + hidden,
	} {
		got := converse(t, address, text, 2)
		if len(got) > 1 || len(got) == 1 && !got[0].closed {
			t.Errorf("%.80q: %+v", text, got)
		}
	}
}

func TestAHeadThatIsTooLargeIsAnsweredThoughItIsStillBeingSent(t *testing.T) {
	address := served(t)
	for range 10 {
		got := converse(t, address, "GET /echo?q="+strings.Repeat("9", 1<<20)+" HTTP/1.1\r\nHost: a\r\n\r\n", 2)
		if len(got) != 1 || got[0].status != 413 || !strings.Contains(got[0].body, "41301") || !got[0].closed {
			t.Fatalf("%+v", got)
		}
	}
}

func TestACallerThatWaitsToBeToldToGoOnIsTold(t *testing.T) {
	address := served(t)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	br := bufio.NewReader(conn)
	for range 2 {
		_, _ = io.WriteString(conn, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
		if line, _ := br.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100 ") {
			t.Fatalf("told %q", line)
		}
		_, _ = br.ReadString('\n')
		_, _ = io.WriteString(conn, "go")
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); string(body) != "go" {
			t.Errorf("%d %q", resp.StatusCode, body)
		}
	}
}
