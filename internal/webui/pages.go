//go:build webui

package webui

import (
	"embed"
	"io/fs"
)

//go:embed all:app/dist
var built embed.FS

// Pages returns the built pages, index and admin, each in zh-CN.html and en.html, and what they load, with .br and .gz beside.
func Pages() (fs.FS, bool) {
	pages, err := fs.Sub(built, "app/dist")
	return pages, err == nil
}
