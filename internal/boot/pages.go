package boot

import (
	"io/fs"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/webui"
)

// pagePolicy allows the page its own style element and nothing else.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// servePages answers / with the pages of this build.
func servePages(app *fiber.App) {
	app.Get("/", func(c *fiber.Ctx) error {
		page, err := fs.ReadFile(webui.Files, "index.html")
		if err != nil {
			return err
		}
		return sendPage(c, page)
	})
}

func sendPage(c *fiber.Ctx, page []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set("Content-Security-Policy", pagePolicy)
	c.Set("X-Content-Type-Options", "nosniff")
	return c.Send(page)
}
