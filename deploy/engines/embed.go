// Package engines carries the pinned list of the embedded database engines, so that a binary
// outside of a clone installs the very same versions, checked against the same hashes.
package engines

import _ "embed"

// Package is package.json: the engines and their exact versions.
//
//go:embed package.json
var Package []byte

// Lock is package-lock.json: the integrity hashes npm checks while installing.
//
//go:embed package-lock.json
var Lock []byte
