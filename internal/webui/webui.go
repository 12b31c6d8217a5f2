// Package webui holds the pages as files. They are one more client of the HTTP API and know nothing
// that the API does not tell, so this package imports nothing of the service.
package webui

import "embed"

// Files hold index.html, which builds without the pages show on /: what runs here and how to use it.
//
//go:embed index.html
var Files embed.FS
