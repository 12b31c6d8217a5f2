package boot

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/openapi"
	"callgate/internal/openapi/contract"
)

func TestTheContractIsServedAndReadableWithoutOtherSites(t *testing.T) {
	documented, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New()
	serveDocs(app)
	for path, content := range map[string]struct{ kind, part string }{
		"/openapi.yaml":  {"application/yaml", "openapi: 3.1"},
		"/docs":          {"text/html; charset=utf-8", `id="createApplication"`},
		"/docs/docs.css": {"text/css; charset=utf-8", "body"},
		"/docs/docs.js":  {"text/javascript; charset=utf-8", "fetch("},
	} {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		response, err := app.Test(request, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != 200 || response.Header.Get("Content-Type") != content.kind || !strings.Contains(string(body), content.part) {
			t.Errorf("%s answered %d %s, %v", path, response.StatusCode, response.Header.Get("Content-Type"), err)
		}
		policy := response.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if path == "/openapi.yaml" && !bytes.Equal(body, openapi.Document) {
			t.Error("another document is served")
		}
		if err := documented.Check(contract.Exchange{Method: request.Method, URL: request.URL, Status: response.StatusCode, Header: response.Header, Body: body}); err != nil {
			t.Error(err)
		}
	}
}
