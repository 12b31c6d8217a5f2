package traces

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
)

// send posts a batch, again where the specification of OTLP says that it may succeed, and returns the
// emptied batch.
func (t *Tracer) send(batch []span) []span {
	if len(batch) == 0 {
		return batch
	}
	body, err := packed(t.request(batch))
	for attempt := 1; err == nil; attempt++ {
		var wait time.Duration
		var again bool
		if wait, again, err = t.post(body); err == nil {
			break
		}
		if !again || attempt == sendAttempts || !t.pause(max(wait, 250*time.Millisecond<<attempt)) {
			break
		}
		err = nil
	}
	t.count(len(batch), err)
	clear(batch)
	return batch[:0]
}

func packed(m proto.Message) ([]byte, error) {
	plain, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(plain) // a Buffer takes everything
	_ = w.Close()
	return b.Bytes(), nil
}

// count notes what came of n spans, and says in the log when the collector begins to fail and when it
// is well again.
func (t *Tracer) count(n int, err error) {
	if err == nil {
		t.metrics.exported.Add(float64(n))
		if t.failing {
			t.config.Logger.Info("the trace collector takes spans again")
		}
		t.failing = false
		return
	}
	t.metrics.failed.Add(float64(n))
	if !t.failing {
		t.config.Logger.Warn("the trace collector does not take spans; calls are not affected", "endpoint", t.config.Endpoint.Redacted(), "error", err)
	}
	t.failing = true
}

// pause waits, but not beyond the end of the Tracer.
func (t *Tracer) pause(d time.Duration) bool {
	timer := time.NewTimer(min(d, sendTimeout))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.stop:
		return false
	}
}

// maxAnswer bounds what is read of a collector's answer, in bytes.
const maxAnswer = 4 << 10

// post sends a request once. again tells whether another attempt may succeed, after wait at least.
func (t *Tracer) post(body []byte) (wait time.Duration, again bool, err error) {
	address := t.config.Endpoint.JoinPath("v1", "traces")
	request, err := http.NewRequestWithContext(t.context, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	for name, values := range t.config.Headers {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "gzip")
	answer, err := t.client.Do(request)
	if err != nil {
		return 0, true, err
	}
	defer func() { _ = answer.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode/100 == 2 {
		return 0, false, nil
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return time.Duration(seconds) * time.Second, again, fmt.Errorf("%s: %.200q", answer.Status, said)
}

// ParseHeaders reads name=value pairs separated by commas, percent-encoded as in W3C Baggage, the form of
// OTEL_EXPORTER_OTLP_HEADERS.
func ParseHeaders(pairs string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(pairs, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || name == "" || strings.ContainsAny(name, " \t\r\n:\x00") || strings.ContainsAny(value, "\r\n\x00") {
			return nil, errors.New("not a list of name=value pairs")
		}
		headers.Add(name, value)
	}
	return headers, nil
}
