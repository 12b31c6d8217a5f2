package contract

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Transport checks every exchange that goes through base and fails those outside the contract.
// Answers that are streamed (gateway calls, CSV files) are checked by their status and headers only.
func (c *Checker) Transport(base http.RoundTripper) http.RoundTripper {
	return transport{c, base}
}

type transport struct {
	*Checker
	base http.RoundTripper
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent []byte
	if op, _ := t.find(request.Method, request.URL.Path); op == nil && !strings.HasPrefix(request.URL.Path, "/api/") {
		return t.base.RoundTrip(request)
	}
	if request.GetBody != nil && strings.HasPrefix(request.URL.Path, "/api/") {
		body, err := request.GetBody()
		if err != nil {
			return nil, fmt.Errorf("request body: %w", err)
		}
		if sent, err = io.ReadAll(body); err != nil {
			return nil, fmt.Errorf("request body: %w", err)
		}
	}
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	exchange := Exchange{Method: request.Method, URL: request.URL, RequestBody: sent, Status: response.StatusCode, Header: response.Header}
	if whole(response) {
		raw, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(raw))
		if exchange.Body = raw; err != nil { // the caller meets the break where it is
			exchange.Body, response.Body = nil, io.NopCloser(io.MultiReader(bytes.NewReader(raw), broken{err}))
		}
	}
	if err := t.Check(exchange); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response, nil
}

// whole tells whether the answer is one to be read before it is handed on. What an upstream answers
// is handed on as it comes.
func whole(r *http.Response) bool {
	relayed := strings.HasPrefix(r.Request.URL.Path, "/gateway/") && r.StatusCode < 400
	return !relayed && r.ContentLength >= 0 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}

// broken is where a body broke off.
type broken struct{ error }

func (b broken) Read([]byte) (int, error) { return 0, b.error }
