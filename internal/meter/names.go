package meter

import (
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// maxInterned bounds the names that are kept for reuse.
const maxInterned = 1000

// interned are names of models that were met: there are few, and a call is not to allocate its own.
var interned struct {
	names atomic.Pointer[map[string]string]
	mu    sync.Mutex
}

// intern is the text of a name, printable.
func intern(name []byte) string {
	if len(name) == 0 {
		return ""
	}
	known := interned.names.Load()
	if known != nil {
		if text, ok := (*known)[string(name)]; ok {
			return text
		}
	}
	text := printable(string(name))
	interned.mu.Lock()
	defer interned.mu.Unlock()
	grown := map[string]string{string(name): text}
	if known = interned.names.Load(); known != nil {
		if len(*known) >= maxInterned {
			return text
		}
		for from, to := range *known {
			grown[from] = to
		}
	}
	interned.names.Store(&grown)
	return text
}

// printable leaves out what no name of a model has.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
}
