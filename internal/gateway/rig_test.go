package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"callgate/internal/access"
	"callgate/internal/calls"
	"callgate/internal/http1"
	"callgate/internal/redact"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const (
	goodKey     = "cg-good"
	upstreamKey = "sk-upstream-secret"
)

var (
	application = uuid.MustParse("0198a000-0000-4000-8000-000000000001")
	owner       = uuid.MustParse("0198a000-0000-4000-8000-000000000002")
)

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

// rig is a gateway on a real listener with a scripted upstream behind it.
type rig struct {
	t        *testing.T
	gateway  *Gateway
	address  string
	upstream string // host:port
	asked    chan asked
	hungUp   chan int // serials of connections the gateway closed while a script waited
	records  chan *calls.Record
	accepted atomic.Int32
	log      safeBuffer
}

func newRig(t *testing.T, answer script, changes ...func(*Config)) *rig {
	t.Helper()
	return newRigOn(t, answer, http1.ListenerConfig{}, changes...)
}

// newRigOn is newRig on another listener.
func newRigOn(t *testing.T, answer script, front http1.ListenerConfig, changes ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, asked: make(chan asked, 1000), hungUp: make(chan int, 1000), records: make(chan *calls.Record, 1000)}
	r.upstream = r.serveUpstream(answer)
	config := Config{
		Grant: func(_ context.Context, _ *access.Recent, key []byte) (*access.Grant, error) {
			switch string(key) {
			case goodKey:
				return access.NewGrant(application, owner, true, 1, "m", "off", "dead", "x-key", "path"), nil
			case "cg-disabled":
				return access.NewGrant(application, owner, false, 1, "m"), nil
			case "cg-unsure":
				return nil, access.ErrUnavailable
			case "cg-panic":
				panic("grant")
			}
			return nil, access.ErrUnknownKey
		},
		Capability: func(id string) *access.Capability {
			c := &access.Capability{ID: id, Enabled: true, UpstreamBaseURL: "http://" + r.upstream, UpstreamAuth: "bearer"}
			switch id {
			case "m", "unbound":
			case "off":
				c.Enabled = false
			case "dead":
				c.UpstreamBaseURL = "http://127.0.0.1:1"
			case "x-key":
				c.UpstreamAuth = "x-api-key"
			case "path":
				c.UpstreamBaseURL += "/base%2Fpath"
			default:
				return nil
			}
			return c
		},
		OpenKey: func(*access.Capability) ([]byte, error) { return []byte(upstreamKey), nil },
		Record: func(record *calls.Record) {
			if err := redact.Record(record); err != nil {
				t.Error(err)
			}
			r.records <- record
		},
		AllowPrivate: true,
		Logger:       slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &r.log), nil)),
	}
	for _, change := range changes {
		change(&config)
	}
	r.gateway = New(config)
	socket := listen(t)
	r.address = socket.Addr().String()
	listener := http1.NewListener(socket, front)
	server := &http1.Server{Handle: r.handle, Refuse: r.refuse}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		r.gateway.Close()
		listener.CloseAll()
		if !server.Wait(5 * time.Second) {
			t.Error("connections were served after they were closed")
		}
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("serve: %v", err)
		}
		for _, secret := range []string{r.upstream, goodKey, upstreamKey, "127.0.0.1"} {
			if strings.Contains(r.log.String(), secret) {
				t.Errorf("%s is in the log", secret)
			}
		}
		if len(r.records) > 0 {
			t.Errorf("%d records more than expected; the first: %+v", len(r.records), <-r.records)
		}
	})
	return r
}

// handle is the gateway among other handlers, of which there are none here.
func (r *rig) handle(x *http1.Exchange) bool {
	if Owns(x.Target()) {
		return r.gateway.Handle(x)
	}
	_, err := io.WriteString(x.Conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	return err == nil && x.Request.Body().Kind == http1.Empty
}

func (r *rig) refuse(x *http1.Exchange, fault error) {
	if OwnsBeginning(x.Conn.Unread()) {
		r.gateway.Refuse(x, fault)
		return
	}
	status := "400 Bad Request"
	if errors.Is(fault, http1.ErrHeadTooLong) {
		status = "431 Request Header Fields Too Large"
	}
	_, _ = io.WriteString(x.Conn, "HTTP/1.1 "+status+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	x.Linger()
}

// safeBuffer collects what is logged.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// answer is a response as a caller reads it from its socket.
type answer struct {
	*http.Response
	body []byte
	err  error // what the body ended with, if not properly
}

// forgetAsked empties r.asked; several callers may do so at a time.
func (r *rig) forgetAsked() {
	for {
		select {
		case <-r.asked:
		default:
			return
		}
	}
}

// dial connects a raw caller.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	r.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ask sends raw bytes on a connection of its own and reads the answer.
func (r *rig) ask(raw string) answer {
	r.t.Helper()
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.WriteString(conn, raw) }()
	method, _, _ := strings.Cut(raw, " ")
	return r.read(bufio.NewReader(conn), method)
}

func (r *rig) read(br *bufio.Reader, method string) answer {
	r.t.Helper()
	response, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		return answer{Response: &http.Response{Header: http.Header{}}, err: err}
	}
	body, err := io.ReadAll(response.Body)
	return answer{Response: response, body: body, err: err}
}

// post makes a request with a body of known length.
func post(target, key, body string, headers ...string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: gate\r\n", target)
	if key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", key)
	}
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return b.String()
}

// record waits for the next record.
func (r *rig) record() *calls.Record {
	r.t.Helper()
	select {
	case record := <-r.records:
		return record
	case <-time.After(5 * time.Second):
		r.t.Fatal("no record came")
		return nil
	}
}

// readAll reads n answers to POSTs from one connection.
func readAll(r *rig, conn net.Conn, n int) (all []answer) {
	br := bufio.NewReader(conn)
	for range n {
		all = append(all, r.read(br, "POST"))
	}
	return all
}
