package boot

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gofiber/fiber/v2"
)

// pagesApp serves a small build beside what stands around the pages.
func pagesApp(t *testing.T) *fiber.App {
	t.Helper()
	page := func(lang, script string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`<html lang="` + lang + `" data-theme="__THEME__"><meta nonce="__NONCE__"><script nonce="__NONCE__" src="/assets/` +
			script + `"><div id="root"><!--frame-->Frame<!--/frame--></div>`)}
	}
	files := fstest.MapFS{
		"index.zh-CN.html":     page("zh-CN", "console.js"),
		"index.en.html":        page("en", "console.js"),
		"admin.zh-CN.html":     page("zh-CN", "office.js"),
		"admin.en.html":        page("en", "office.js"),
		"favicon.svg":          {Data: []byte("<svg/>")},
		"assets/console.js":    {Data: []byte("plain")},
		"assets/console.js.br": {Data: []byte("brotli")},
		"assets/console.js.gz": {Data: []byte("gzip")},
	}
	app := fiber.New()
	app.Get("/api/config", func(c *fiber.Ctx) error { return c.SendString("config") })
	if err := serveBuilt(app, files); err != nil {
		t.Fatal(err)
	}
	return app
}

func ask(t *testing.T, app *fiber.App, method, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	request := httptest.NewRequest(method, path, nil)
	for at := 0; at < len(headers); at += 2 {
		request.Header.Set(headers[at], headers[at+1])
	}
	response, err := app.Test(request, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestEveryPageRouteGetsItsPageAndNothingElseIsShadowed(t *testing.T) {
	app := pagesApp(t)
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, route := range []struct {
		method, path, accept string
		status               int
		part                 string
	}{
		{"GET", "/", "*/*", 200, "console.js"},
		{"GET", "/sign-in?next=/applications", browser, 200, "console.js"},
		{"GET", "/applications/0198b5c2", browser, 200, "console.js"},
		{"GET", "/capabilities/gpt%2F5", browser, 200, "console.js"},
		{"GET", "/admin", browser, 200, "office.js"},
		{"GET", "/admin/capabilities/new", browser, 200, "office.js"},
		{"HEAD", "/applications", browser, 200, ""},
		{"GET", "/nowhere", browser, 404, "console.js"},
		{"GET", "/nowhere", "application/json", 404, "Cannot GET"},
		{"GET", "/api/config", browser, 200, "config"},
		{"GET", "/api/nowhere", browser, 404, "Cannot GET"},
		{"GET", "/gateway", browser, 404, "Cannot GET"},
		{"GET", "/via/m/v1", browser, 404, "Cannot GET"},
		{"GET", "/assets/gone.js", browser, 404, "Cannot GET"},
		{"POST", "/applications", browser, 405, ""},
	} {
		response, body := ask(t, app, route.method, route.path, "Accept", route.accept)
		if response.StatusCode != route.status || !strings.Contains(body, route.part) {
			t.Errorf("%s %s answered %d %q, want %d with %q", route.method, route.path, response.StatusCode, body, route.status, route.part)
		}
	}
}

func TestTheFrameIsThereBeforeItsCodeButWhereNobodyIsSignedIn(t *testing.T) {
	app := pagesApp(t)
	for path, framed := range map[string]bool{"/": true, "/applications": true, "/sign-in?next=/": false, "/admin": true, "/admin/sign-in": false} {
		if _, body := ask(t, app, "GET", path); strings.Contains(body, "Frame") != framed || !strings.HasSuffix(body, "</div>") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

func TestEveryPageHasANonceOfItsOwnAndAStrictPolicy(t *testing.T) {
	app := pagesApp(t)
	nonces := map[string]bool{}
	for range 3 {
		response, body := ask(t, app, "GET", "/")
		found := regexp.MustCompile(`nonce="([A-Za-z0-9+/]{22})"`).FindAllStringSubmatch(body, -1)
		if len(found) != 2 || found[0][1] != found[1][1] {
			t.Fatalf("nonces %v", found)
		}
		nonces[found[0][1]] = true
		policy := response.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "style-src 'self' 'nonce-"+found[0][1]+"'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("policy %q", policy)
		}
		if response.Header.Get("Cache-Control") != "no-store" {
			t.Error("a page with a nonce may be kept")
		}
	}
	if len(nonces) != 3 {
		t.Errorf("%d nonces in 3 answers", len(nonces))
	}
}

func TestThePageKnowsLanguageAndThemeBeforeItRuns(t *testing.T) {
	app := pagesApp(t)
	for _, wish := range []struct{ cookie, accept, part string }{
		{"", "", `lang="zh-CN" data-theme="system"`},
		{"", "en-GB,en;q=0.9,zh;q=0.5", `lang="en" data-theme="system"`},
		{"", "fr", `lang="zh-CN" data-theme="system"`},
		{"en.dark", "zh-CN", `lang="en" data-theme="dark"`},
		{"zh-CN.light", "en", `lang="zh-CN" data-theme="light"`},
		{"en.dark.nokeys", "zh", `lang="en" data-theme="dark"`},
		{`en"><script>.dark"x`, "zh", `lang="zh-CN" data-theme="system"`},
	} {
		_, body := ask(t, app, "GET", "/", "Cookie", "callgate_ui="+wish.cookie, "Accept-Language", wish.accept)
		if !strings.Contains(body, wish.part) {
			t.Errorf("%+v: %s", wish, body)
		}
	}
}

func TestAssetsAreCompressedAndKeptForever(t *testing.T) {
	app := pagesApp(t)
	for accepted, want := range map[string]string{"gzip, deflate, br": "brotli", "gzip": "gzip", "": "plain", "identity": "plain", "br;q=0, gzip;q=0.5": "gzip"} {
		response, body := ask(t, app, "GET", "/assets/console.js", "Accept-Encoding", accepted)
		if body != want || response.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || response.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q got %q with %v", accepted, body, response.Header)
		}
	}
	if response, _ := ask(t, app, "GET", "/favicon.svg"); response.Header.Get("Cache-Control") != "no-cache" || response.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("the icon has no hash in its name: %v", response.Header)
	}
}
