//go:build embedded

package boot

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/beijing"
	"callgate/internal/demo"
)

// caughtMail is one mail of GET /dev/mails.
type caughtMail struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Code    string `json:"code"`
	SentAt  string `json:"sentAt"`
}

var mailPage = template.Must(template.New("mails").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5"><title>Caught mail</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}
article{border-bottom:1px solid #868E99;padding:12px 0}b{font-size:28px;font-variant-numeric:tabular-nums}pre{white-space:pre-wrap}</style>
<h1>Caught mail</h1>
{{range .}}<article>{{.SentAt}} · {{.To}} · {{.Subject}}<br><b>{{.Code}}</b><pre>{{.Text}}</pre></article>{{else}}<p>No mail yet. Ask for a sign-in code and it appears here.</p>{{end}}
</html>`))

// serveMails shows caught mails, newest first: as a page to a browser, as JSON to a program.
func serveMails(app *fiber.App, box *demo.Mailbox) {
	app.Get("/dev/mails", func(c *fiber.Ctx) error {
		mails := []caughtMail{}
		for _, m := range box.Mails(c.Query("to")) {
			mails = append(mails, caughtMail{m.To, m.Subject, m.Text, m.Code, beijing.Format(m.SentAt)})
		}
		c.Set(fiber.HeaderCacheControl, "no-store")
		if !strings.Contains(c.Get(fiber.HeaderAccept), fiber.MIMETextHTML) {
			return c.JSON(fiber.Map{"items": mails})
		}
		var page bytes.Buffer
		if err := mailPage.Execute(&page, mails); err != nil {
			return err
		}
		return sendPage(c, page.Bytes())
	})
}
