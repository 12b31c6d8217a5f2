package boot

import (
	"bytes"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/console"
	"callgate/internal/openapi"
)

// docsPolicy lets the page use its own style and script and send requests to this installation.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// serveDocs answers with the contract: as the document and as a page to read and try it.
func serveDocs(app *fiber.App) {
	app.Use([]string{"/openapi.yaml", "/docs"}, console.Identify)
	app.Get("/openapi.yaml", func(c *fiber.Ctx) error { return sendDoc(c, "application/yaml", openapi.Document) })
	app.Get("/docs", func(c *fiber.Ctx) error {
		_, theme := preferences(c.Cookies("callgate_ui"), "")
		c.Vary(fiber.HeaderCookie)
		return sendDoc(c, fiber.MIMETextHTMLCharsetUTF8, bytes.Replace(openapi.Page(), []byte("__THEME__"), []byte(theme), 1))
	})
	for name, kind := range map[string]string{"docs.css": "text/css; charset=utf-8", "docs.js": "text/javascript; charset=utf-8"} {
		app.Get("/docs/"+name, func(c *fiber.Ctx) error {
			content, err := openapi.Assets.ReadFile(name)
			if err != nil {
				return err
			}
			return sendDoc(c, kind, content)
		})
	}
}

func sendDoc(c *fiber.Ctx, kind string, content []byte) error {
	c.Set(fiber.HeaderContentType, kind)
	c.Set(fiber.HeaderCacheControl, "no-cache") // the next release has another one
	c.Set(fiber.HeaderContentSecurityPolicy, docsPolicy)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	return c.Send(content)
}
