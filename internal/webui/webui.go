// Package webui holds the pages as files. They are one more client of the HTTP API and know nothing
// that the API does not tell, so this package imports nothing of the service. The pages come in with
// the build tag webui, after `make pages`; without it Go alone builds a binary that says on / how to
// get them.
package webui

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Notice is what builds without the pages show on /: what runs here and how to get the pages.
//
//go:embed index.html
var Notice []byte

//go:embed app/src/routes.json
var routes []byte

// Routes are the addresses of the console's pages, in the language that the router of the browser and that of the server
// have in common: /applications/:id, with a ? behind what may be absent.
func Routes() ([]string, error) {
	var named map[string]string
	if err := json.Unmarshal(routes, &named); err != nil {
		return nil, fmt.Errorf("routes of the pages: %w", err)
	}
	return slices.Sorted(maps.Values(named)), nil
}
