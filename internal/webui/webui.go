// Package webui holds the pages as files. They are one more client of the HTTP API and know nothing
// that the API does not tell, so this package imports nothing of the service. The pages come in with
// the build tag webui, after `make pages`; without it Go alone builds a binary that says on / how to
// get them.
package webui

import _ "embed"

// Notice is what builds without the pages show on /: what runs here and how to get the pages.
//
//go:embed index.html
var Notice []byte
