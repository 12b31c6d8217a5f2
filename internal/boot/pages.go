package boot

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/text/language"

	"callgate/internal/webui"
)

// noticePolicy allows a page its own style element and nothing else.
const noticePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pagePolicy lets the pages load what this server has, and add styles that carry the nonce.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-%s'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// What a browser opens and is no page of the console or the back office gets the console's own 404 page, unless it
// belongs to one of the other parts of this server.
var (
	officeRoutes = []string{"/admin", "/admin/*"}
	otherParts   = []string{"/api/", "/gateway/", "/via/", "/docs/", "/dev/", "/health/", "/assets/", "/openapi.yaml/"}
)

// servePages answers with the pages of this build; one without them says on / how to get them.
func servePages(app *fiber.App) error {
	files, built := webui.Pages()
	if !built {
		app.Get("/", func(c *fiber.Ctx) error { return sendPage(c, webui.Notice) })
		return nil
	}
	return serveBuilt(app, files)
}

func serveBuilt(app *fiber.App, files fs.FS) error {
	assets, err := readAssets(files)
	if err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	for name, one := range assets {
		app.Get(name, one.send)
	}
	console, err := readPage(files, "index")
	if err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	office, err := readPage(files, "admin")
	if err != nil {
		return fmt.Errorf("pages: %w", err)
	}
	routes, err := webui.Routes()
	if err != nil {
		return err
	}
	app.Get("/admin/sign-in", func(c *fiber.Ctx) error { return sendApp(c, office.withoutFrame()) })
	for _, route := range routes {
		page := console
		if route == "/sign-in" {
			page = console.withoutFrame()
		}
		app.Get(route, func(c *fiber.Ctx) error { return sendApp(c, page) })
	}
	for _, route := range officeRoutes {
		app.Get(route, func(c *fiber.Ctx) error { return sendApp(c, office) })
	}
	app.Use(func(c *fiber.Ctx) error {
		if !opensPage(c) {
			return c.Next()
		}
		c.Status(fiber.StatusNotFound)
		return sendApp(c, console)
	})
	return nil
}

// page is a page in each language.
type page map[string][]byte

func readPage(files fs.FS, name string) (page, error) {
	read := page{}
	for _, lang := range []string{"zh-CN", "en"} {
		content, err := fs.ReadFile(files, name+"."+lang+".html")
		if err != nil {
			return nil, err
		}
		read[lang] = content
	}
	return read, nil
}

// withoutFrame is a page that does not show the frame of all others till its code is there.
func (p page) withoutFrame() page {
	bare := page{}
	for lang, content := range p {
		before, frame, _ := bytes.Cut(content, []byte("<!--frame-->"))
		_, after, _ := bytes.Cut(frame, []byte("<!--/frame-->"))
		bare[lang] = slices.Concat(before, after)
	}
	return bare
}

// opensPage tells a browser that opens an address from a program that asks for it.
func opensPage(c *fiber.Ctx) bool {
	if c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead || !strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML) {
		return false
	}
	for _, part := range otherParts {
		if strings.HasPrefix(c.Path()+"/", part) {
			return false
		}
	}
	return true
}

// sendApp sends a page with what only this answer knows: its nonce, and the language and theme that
// the browser chose before, so that nothing flashes.
func sendApp(c *fiber.Ctx, page page) error {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return fmt.Errorf("nonce: %w", err)
	}
	nonce := base64.RawStdEncoding.EncodeToString(raw)
	lang, theme := preferences(c.Cookies("callgate_ui"), c.Get(fiber.HeaderAcceptLanguage))
	content := bytes.ReplaceAll(page[lang], []byte("__NONCE__"), []byte(nonce))
	content = bytes.Replace(content, []byte("__THEME__"), []byte(theme), 1)
	secure(c, fmt.Sprintf(pagePolicy, nonce))
	c.Set(fiber.HeaderCacheControl, "no-store") // a nonce is used once
	c.Vary(fiber.HeaderCookie, fiber.HeaderAcceptLanguage)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(content)
}

// sendPage sends a page that needs no script.
func sendPage(c *fiber.Ctx, page []byte) error {
	secure(c, noticePolicy)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(page)
}

func secure(c *fiber.Ctx, policy string) {
	c.Set(fiber.HeaderContentSecurityPolicy, policy)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "same-origin")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
}

var pageLanguages = language.NewMatcher([]language.Tag{language.SimplifiedChinese, language.English})

// preferences reads the cookie "<language>.<theme>" that the pages write, perhaps with more behind a
// further dot which is theirs alone, and takes only values they would: it ends up inside the page.
func preferences(cookie, acceptLanguage string) (lang, theme string) {
	lang, theme, _ = strings.Cut(cookie, ".")
	theme, _, _ = strings.Cut(theme, ".")
	if lang != "zh-CN" && lang != "en" {
		lang = "zh-CN"
		if tags, _, err := language.ParseAcceptLanguage(acceptLanguage); err == nil && len(tags) > 0 && len(acceptLanguage) <= 256 {
			if _, chosen, sure := pageLanguages.Match(tags...); chosen == 1 && sure >= language.High {
				lang = "en"
			}
		}
	}
	if theme != "light" && theme != "dark" {
		theme = "system"
	}
	return lang, theme
}

// asset is one file in every encoding the build made of it.
type asset struct {
	kind         string
	immutable    bool // its name holds the hash of its content
	plain        []byte
	brotli, gzip []byte
}

var assetKinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// readAssets returns all files by their path on the server.
func readAssets(files fs.FS) (map[string]*asset, error) {
	assets := map[string]*asset{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		kind, known := assetKinds[path.Ext(name)]
		if err != nil || entry.IsDir() || !known {
			return err
		}
		one := &asset{kind: kind, immutable: strings.HasPrefix(name, "assets/")}
		if one.plain, err = fs.ReadFile(files, name); err != nil {
			return err
		}
		one.brotli, _ = fs.ReadFile(files, name+".br") // small files have none
		one.gzip, _ = fs.ReadFile(files, name+".gz")
		assets["/"+name] = one
		return nil
	})
	return assets, err
}

func (a *asset) send(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, a.kind)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if a.immutable {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	}
	c.Vary(fiber.HeaderAcceptEncoding)
	switch accepted := c.Get(fiber.HeaderAcceptEncoding); {
	case a.brotli != nil && accepts(accepted, "br"):
		c.Set(fiber.HeaderContentEncoding, "br")
		return c.Send(a.brotli)
	case a.gzip != nil && accepts(accepted, "gzip"):
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return c.Send(a.gzip)
	}
	return c.Send(a.plain)
}

// accepts tells whether an Accept-Encoding names encoding and does not refuse it.
func accepts(header, encoding string) bool {
	for _, part := range strings.Split(header, ",") {
		name, parameters, _ := strings.Cut(part, ";")
		if strings.TrimSpace(name) == encoding {
			quality, err := strconv.ParseFloat(strings.TrimPrefix(strings.ReplaceAll(parameters, " ", ""), "q="), 64)
			return err != nil || quality > 0
		}
	}
	return false
}
