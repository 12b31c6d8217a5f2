package gateway

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"callgate/internal/access"
	"callgate/internal/calls"
	"callgate/internal/openapi"
)

func TestCompressedBodiesPassUntouchedInBothDirections(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, strings.Repeat(noise(1_000), 50))
	_ = z.Close()
	r := newRig(t, func(conn net.Conn, a asked) bool {
		_, err := fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding\r\nContent-Length: %d\r\n\r\n%s", len(a.body), a.body)
		return err == nil
	})
	a := r.ask(post("/gateway/v1?model=m", goodKey, zipped.String(), "Content-Encoding: gzip", "Accept-Encoding: gzip, br"))
	got := r.next()
	if !bytes.Equal(got.body, zipped.Bytes()) || got.header("Content-Encoding")[0] != "gzip" || got.header("Accept-Encoding")[0] != "gzip, br" {
		t.Errorf("the upstream got %q and %d bytes", got.headers, len(got.body))
	}
	if !bytes.Equal(a.body, zipped.Bytes()) || a.Header.Get("Content-Encoding") != "gzip" || a.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("the caller got %v and %d bytes", a.Header, len(a.body))
	}
	if record := r.record(); record.RequestBytes != int64(zipped.Len()) || record.ResponseBytes != int64(zipped.Len()) {
		t.Errorf("record %+v", record)
	}
}

func TestTrailersAreReadAndGoNoFurther(t *testing.T) {
	r := newRig(t, answers("HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Api-Key: 2\r\n\r\n"))
	conn := r.dial()
	br := bufio.NewReader(conn)
	for range 3 { // both connections stay in step
		_, _ = io.WriteString(conn, "POST /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer "+goodKey+
			"\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Api-Key: x\r\n\r\n")
		a := r.read(br, "POST")
		got := r.next()
		if string(got.body) != "hello" || got.header("X-Sum") != nil || got.header("X-Api-Key") != nil {
			t.Errorf("the upstream got %q %q", got.headers, got.body)
		}
		if string(a.body) != "ok" || a.err != nil || len(a.Trailer) != 0 || a.Header.Get("X-Sum") != "" {
			t.Errorf("the caller got %q %v, trailers %v", a.body, a.err, a.Trailer)
		}
		if record := r.record(); !record.Success || record.RequestBytes != 5 || record.ResponseBytes != 2 {
			t.Errorf("record %+v", record)
		}
		r.rested()
	}
	if n := r.accepted.Load(); n != 1 {
		t.Errorf("%d upstream connections", n)
	}
}

func TestUpstreamOfHTTP2OnlyIsToldFromOneThatIsDown(t *testing.T) {
	for name, test := range map[string]struct{ scheme, says string }{
		"TLS":       {"https", "\x15\x03\x03\x00\x02\x02\x78"}, // the alert: no application protocol
		"cleartext": {"http", "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80\x00\x04\x00\x01\x00\x00\x00\x05\x00\xff\xff\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			listener := listen(t)
			var upstream sync.WaitGroup
			upstream.Go(func() {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = conn.Read(make([]byte, 4<<10))
				_, _ = io.WriteString(conn, test.says)
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
			})
			r := newRig(t, answers(okAnswer), func(c *Config) {
				c.Capability = func(id string) *access.Capability {
					return &access.Capability{ID: id, Enabled: true, UpstreamBaseURL: test.scheme + "://" + listener.Addr().String(), UpstreamAuth: "bearer"}
				}
			})
			t.Cleanup(func() { _ = listener.Close(); upstream.Wait() })
			a := r.ask(post("/gateway/v1?model=m", goodKey, "{}"))
			record := r.record()
			if a.StatusCode != 502 || !strings.Contains(string(a.body), "HTTP/2 only") || !strings.Contains(string(a.body), "upstream_unreachable") {
				t.Errorf("answer %d %s", a.StatusCode, a.body)
			}
			if record.StatusCode != 502 || record.ReasonType != calls.ConnectionFailed || !strings.Contains(record.Failure.Message, "HTTP/2 only") ||
				!strings.Contains(r.log.String(), "it speaks HTTP/2 only") {
				t.Errorf("record %+v", record)
			}
		})
	}
}

// TestLargeUploadPassesThroughConstantMemory sends UPLOAD_BYTES (128 MiB; make chaos: 1 GiB) to an
// upstream that hashes them, and watches the heap.
func TestLargeUploadPassesThroughConstantMemory(t *testing.T) {
	size := int64(128 << 20)
	if n, err := strconv.ParseInt(os.Getenv("UPLOAD_BYTES"), 10, 64); err == nil {
		size = n
	}
	listener := listen(t)
	sum := make(chan []byte, 1)
	var upstream sync.WaitGroup
	upstream.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		request, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			t.Error(err)
			return
		}
		h := sha256.New()
		_, _ = io.Copy(h, request.Body)
		sum <- h.Sum(nil)
		_, _ = io.WriteString(conn, okAnswer)
	})
	t.Cleanup(func() { _ = listener.Close(); upstream.Wait() })
	r := newRig(t, answers(okAnswer), func(c *Config) {
		c.MaxBodyBytes = size
		c.Capability = capabilityAt(listener.Addr().String())
	})
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage is not what is measured
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	sent := sha256.New()
	conn := r.dial()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	_, _ = fmt.Fprintf(conn, "PUT /gateway/v1?model=m HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", goodKey, size)
	peak := upload(t, conn, size, sent, &now) - min(before.HeapInuse, now.HeapInuse)
	a := r.read(bufio.NewReader(conn), "PUT")
	if got := <-sum; a.StatusCode != 200 || !bytes.Equal(got, sent.Sum(nil)) {
		t.Errorf("answer %d %s; hashes equal %v", a.StatusCode, a.body, bytes.Equal(got, sent.Sum(nil)))
	}
	if record := r.record(); !record.Success || record.RequestBytes != size {
		t.Errorf("record %+v", record)
	}
	t.Logf("%d MiB: heap in use at most %d KiB more", size>>20, int64(peak)>>10)
	if peak < 1<<63 && peak > 8<<20 {
		t.Errorf("heap in use grew by %d bytes", peak)
	}
}

// upload writes size bytes and returns the most heap in use seen meanwhile.
func upload(t *testing.T, conn net.Conn, size int64, sum hash.Hash, stats *runtime.MemStats) (peak uint64) {
	t.Helper()
	piece := []byte(noise(1 << 20))
	for left := size; left > 0; {
		part := piece[:min(left, int64(len(piece)))]
		_, _ = sum.Write(part)
		n, err := conn.Write(part)
		if err != nil {
			t.Fatal(err)
		}
		if left -= int64(n); left>>20%16 == 0 {
			runtime.ReadMemStats(stats)
			peak = max(peak, stats.HeapInuse)
		}
	}
	return peak
}

func TestNothingACallerSendsBecomesAMetricsLabel(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := newRig(t, answers(okAnswer), func(c *Config) { c.Registry = registry })
	series := func() (all map[string]bool) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		all = map[string]bool{}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				all[fmt.Sprint(family.GetName(), metric.GetLabel())] = true
				for _, label := range metric.GetLabel() {
					if !known[label.GetValue()] {
						t.Errorf("%s has the label %s=%q", family.GetName(), label.GetName(), label.GetValue())
					}
				}
			}
		}
		return all
	}
	for range 30 {
		odd := "canary" + strconv.Itoa(rand.IntN(1e9))
		for _, raw := range []string{
			post("/gateway/"+odd+"?model="+odd, goodKey, odd, odd+": "+odd), post("/gateway/"+odd+"?model=m", odd, odd), post("/gateway/..?model=m&"+odd, goodKey, odd),
			post("/via/"+odd+"/"+odd, goodKey, odd), post("/via/m/v1?model="+odd, goodKey, odd), post("/via/m", "", odd, "X-Api-Key: "+odd),
			odd + " /gateway/v1?model=m HTTP/1.1\r\nHost: " + odd + "\r\nAuthorization: Bearer " + goodKey + "\r\n\r\n",
		} {
			r.ask(raw)
		}
		for len(r.records) > 0 {
			<-r.records
		}
		for len(r.asked) > 0 {
			<-r.asked
		}
	}
	waitFor(t, func() bool { return r.gateway.supervisor.len() == 0 })
	for len(r.records) > 0 {
		<-r.records
	}
	if n := len(series()); n > len(reasons)+30 {
		t.Errorf("%d series", n)
	}
}

// known are all values that labels of the gateway's metrics may have.
var known = func() map[string]bool {
	all := map[string]bool{"success": true, "made": true, "refused": true}
	for _, code := range reasons {
		all[string(code)] = true
	}
	for _, r := range []refusal{refusedKey, refusedAccess, refusedStopping, refusedMalformed} {
		all[r.code] = true
	}
	for _, state := range usageStates {
		all[string(state)] = true
	}
	return all
}()

// everyRefusal are those of errors.go.
var everyRefusal = []refusal{
	refusedKey, refusedKeys, refusedAccess, refusedStopping, refusedMalformed, refusedExpired, refusedAddress, refusedDisabled, refusedUnknown,
	refusedModel, refusedOff, refusedUnbound, refusedNoModel, refusedModels, refusedDiffers, refusedPath, refusedElsewhere, refusedShown, refusedMethod, refusedLarge,
	refusedChunks, refusedMemory, refusedShare, refusedPool, refusedInternal, refusedUnreachable, refusedHTTP2, refusedAnswer, refusedStalled,
	refusedHead, refusedLate, refusedUpgrade, refusedTimeout,
}

func TestEveryRefusalIsListed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if value, is := n.(*ast.ValueSpec); is && strings.HasPrefix(value.Names[0].Name, "refused") {
			declared++
		}
		return true
	})
	if declared != len(everyRefusal) {
		t.Errorf("errors.go has %d refusals, the tests know %d", declared, len(everyRefusal))
	}
}

// TestEveryReasonHasACounter: one without would leave its caller without an answer.
func TestEveryReasonHasACounter(t *testing.T) {
	g := New(Config{})
	defer g.Close()
	for _, r := range everyRefusal {
		if g.metrics.outcomes[r.reasonCode] == nil {
			t.Errorf("%q is not counted", r.reasonCode)
		}
	}
}

func TestReasonCodesAreThoseOfTheContract(t *testing.T) {
	var documented []calls.ReasonCode
	schema := openapi.Resolve(openapi.Tree(), map[string]any{"$ref": "#/components/schemas/FailureCode"})
	for _, code := range schema["enum"].([]any) {
		documented = append(documented, calls.ReasonCode(code.(string)))
	}
	if !slices.Equal(documented, calls.ReasonCodes) {
		t.Errorf("openapi.yaml has %v, calls.ReasonCodes %v", documented, calls.ReasonCodes)
	}
}
