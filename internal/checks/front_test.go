package checks

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"callgate/internal/nginxtest"
)

// front is the real nginx with deploy/front.conf, before two servers in the place of the roles.
type front struct {
	*nginxtest.Front
	gateway, console *httptest.Server
}

// startFront runs nginx with the shipped settings before two servers.
func startFront(t *testing.T, gateway, console http.HandlerFunc) *front {
	t.Helper()
	f := &front{gateway: httptest.NewServer(gateway), console: httptest.NewServer(console)}
	t.Cleanup(func() { f.gateway.CloseClientConnections(); f.gateway.Close(); f.console.Close() })
	f.Front = nginxtest.Start(t, []string{f.gateway.Listener.Addr().String()}, []string{f.console.Listener.Addr().String()})
	return f
}

// within fails the test when nothing comes in time.
func within[T any](t *testing.T, what string, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(time.Minute):
		t.Fatalf("%s: not within a minute", what)
	}
	return value
}

// TestFrontPassesEachPieceOfAStreamOnAsItComesAndTellsThatTheCallerLeft goes through the real nginx: the next
// piece is sent only when the one before has arrived, and the end of the caller's connection is one of the gateway's.
func TestFrontPassesEachPieceOfAStreamOnAsItComesAndTellsThatTheCallerLeft(t *testing.T) {
	next, left := make(chan bool), make(chan bool, 1)
	f := startFront(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Accel-Buffering", "yes") // of a stranger's answer; not obeyed
		for n := 0; ; n++ {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", n)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				left <- true
				return
			}
		}
	}, http.NotFound)
	response, err := http.Post(f.Base+"/gateway/v1/chat/completions?model=m", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(response.Body)
	for n := range 5 {
		line, err := lines.ReadString('\n')
		if want := fmt.Sprintf("data: %d\n", n); err != nil || line != want {
			t.Fatalf("piece %d: %q, %v", n, line, err)
		}
		_, _ = lines.ReadString('\n')
		next <- true
	}
	began := time.Now()
	_ = response.Body.Close()
	within(t, "the gateway learns that its caller left", left)
	t.Logf("the gateway learnt that its caller left after %v", time.Since(began).Round(time.Millisecond))
}

// TestFrontPassesAnUploadOnAsItComes: the gateway decides on its head, and reads at the caller's pace.
func TestFrontPassesAnUploadOnAsItComes(t *testing.T) {
	pieces := make(chan string, 10)
	f := startFront(t, func(w http.ResponseWriter, r *http.Request) {
		piece := make([]byte, 100)
		for {
			n, err := r.Body.Read(piece)
			if n > 0 {
				pieces <- string(piece[:n])
			}
			if err != nil {
				return
			}
		}
	}, http.NotFound)
	body, write := io.Pipe()
	answered := make(chan error, 1)
	go func() {
		response, err := http.Post(f.Base+"/gateway/v1/audio?model=m", "application/octet-stream", body)
		if err == nil {
			err = response.Body.Close()
		}
		answered <- err
	}()
	for _, piece := range []string{"first", "second", "third"} {
		_, _ = io.WriteString(write, piece)
		if got := within(t, piece, pieces); got != piece {
			t.Errorf("%q came as %q", piece, got)
		}
	}
	_ = write.Close()
	if err := within(t, "the answer", answered); err != nil {
		t.Error(err)
	}
}

// TestFrontSaysWhoAskedAndForWhichHostWhateverTheCallerClaims.
func TestFrontSaysWhoAskedAndForWhichHostWhateverTheCallerClaims(t *testing.T) {
	said := func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Host, r.Header["X-Real-Ip"], r.Header["X-Forwarded-For"], r.ProtoMajor, r.ProtoMinor, r.Header["Connection"])
	}
	f := startFront(t, said, said)
	for _, path := range []string{"/gateway", "/gateway/v1/models", "/", "/api/config", "/via/m/v1/models"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.Base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "console.example.com:8443"
		request.Header = http.Header{"X-Real-Ip": {"198.51.100.1"}, "X-Forwarded-For": {"198.51.100.1"}}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if want := "console.example.com:8443[127.0.0.1] [127.0.0.1] 1 1 []"; string(got) != want {
			t.Errorf("%s is asked as %s, want %s", path, got, want)
		}
	}
}
