//go:build !webui

package webui

import "io/fs"

// Pages returns false: this build holds none.
func Pages() (fs.FS, bool) { return nil, false }
