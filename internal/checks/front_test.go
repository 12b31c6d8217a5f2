package checks

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// startFront runs nginx with the shipped settings, changed, before two servers.
func startFront(t *testing.T, gateway, console http.HandlerFunc, changes ...func(conf string) string) *front {
	t.Helper()
	f := &front{gateway: httptest.NewServer(gateway), console: httptest.NewServer(console)}
	t.Cleanup(func() { f.gateway.CloseClientConnections(); f.gateway.Close(); f.console.Close() })
	f.Front = nginxtest.Start(t, []string{f.gateway.Listener.Addr().String()}, []string{f.console.Listener.Addr().String()}, changes...)
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
		got := body(t, http.DefaultClient, request)
		if want := "console.example.com:8443[127.0.0.1] [127.0.0.1] 1 1 []"; got != want {
			t.Errorf("%s is asked as %s, want %s", path, got, want)
		}
	}
}

// TestFrontBelievesTheProxyBeforeItAndNobodyElse, as front-proxy.conf says it with FRONT_PROXY.
func TestFrontBelievesTheProxyBeforeItAndNobodyElse(t *testing.T) {
	template, err := os.ReadFile(deployed("front-proxy.conf"))
	if err != nil {
		t.Fatal(err)
	}
	said := func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Header["X-Real-Ip"], r.Header["X-Forwarded-For"])
	}
	for _, c := range []struct{ proxy, claims, want string }{
		{"unix:", "203.0.113.7", "127.0.0.1"},
		{"127.0.0.2", "203.0.113.7", "127.0.0.1"},
		{"127.0.0.1", "203.0.113.7", "203.0.113.7"},
		{"127.0.0.0/8", "198.51.100.9, 203.0.113.7, 127.0.0.3", "203.0.113.7"}, // what stands left of it is the caller's own claim
		{"127.0.0.1", "2001:db8::7", "2001:db8::7"},
		{"127.0.0.1", "nobody", "127.0.0.1"},
	} {
		f := startFront(t, said, said, func(conf string) string {
			return strings.ReplaceAll(string(template), "${FRONT_PROXY}", c.proxy) + conf
		})
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.Base+"/gateway/v1/models", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"X-Real-Ip": {"198.51.100.1"}, "X-Forwarded-For": {c.claims}}
		if got := body(t, http.DefaultClient, request); got != fmt.Sprintf("[%[1]s] [%[1]s]", c.want) {
			t.Errorf("FRONT_PROXY=%s, X-Forwarded-For: %s: gateways are told %s, want %s", c.proxy, c.claims, got, c.want)
		}
	}
}

// TestFrontSpeaksTLSWithTheFilesItIsGiven: tls.crt and tls.key, as tls.yml mounts them.
func TestFrontSpeaksTLSWithTheFilesItIsGiven(t *testing.T) {
	snippet, err := os.ReadFile(deployed("front-tls.conf"))
	if err != nil {
		t.Fatal(err)
	}
	known := httptest.NewTLSServer(nil) // for its certificate, and a client that trusts it
	t.Cleanup(known.Close)
	key, err := x509.MarshalPKCS8PrivateKey(known.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), nginxtest.FreeAddress(t)
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: known.Certificate().Raw}, "tls.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.URL.Path, r.Host) }
	startFront(t, said, said, func(conf string) string {
		const include = "include /etc/nginx/front.d/*.conf;"
		if !strings.Contains(conf, include) {
			t.Fatal("front.conf has no place for TLS")
		}
		return strings.Replace(conf, include, strings.NewReplacer("/etc/nginx/tls", dir, "8443", listen).Replace(string(snippet)), 1)
	})
	for _, path := range []string{"/via/m/v1/models", "/api/config"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listen+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, known.Client(), request); got != path+listen {
			t.Errorf("%s is answered %q", path, got)
		}
	}
}

// body is what a request is answered.
func body(t *testing.T, client *http.Client, request *http.Request) string {
	t.Helper()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
