package console

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"callgate/internal/openapi/contract"
)

// documented holds every answer of this package's tests against the OpenAPI document.
var documented *contract.Checker

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if documented, err = contract.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.DefaultClient.Transport = documented.Transport(http.DefaultTransport)
	status := m.Run()
	for _, violation := range documented.Violations() {
		fmt.Fprintln(os.Stderr, violation)
		status = 1
	}
	// Whatever the document promises has been seen, once the whole package has run.
	if flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" && status == 0 {
		for _, op := range documented.Operations("/api/") {
			if documented.Seen(op.ID) == 0 {
				fmt.Fprintf(os.Stderr, "no test saw %s %s answered as intended\n", op.Method, op.Path)
				status = 1
			}
		}
	}
	os.Exit(status)
}

// exchange sends a request past the network and holds the answer against the document.
func (d *authServer) exchange(request *http.Request, body string) *http.Response {
	d.t.Helper()
	response, err := d.app.Test(request, 20_000)
	if err != nil {
		d.t.Fatal(err)
	}
	answered, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		d.t.Fatal(err)
	}
	response.Body = io.NopCloser(bytes.NewReader(answered))
	err = documented.Check(contract.Exchange{
		Method: request.Method, URL: request.URL, RequestBody: []byte(body),
		Status: response.StatusCode, Header: response.Header, Body: answered,
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return response
}

func TestEveryRouteIsDocumentedAndEveryDocumentedPathIsARoute(t *testing.T) {
	var served, promised []string
	for _, route := range newAuthServer(t, "").app.GetRoutes(true) {
		if strings.HasPrefix(route.Path, "/api/") && route.Method != http.MethodHead {
			served = append(served, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
		}
	}
	for _, op := range documented.Operations("/api/") {
		promised = append(promised, op.Method+" "+op.Path)
	}
	slices.Sort(served)
	slices.Sort(promised)
	if !slices.Equal(served, promised) {
		t.Errorf("served   %v\npromised %v", served, promised)
	}
}
