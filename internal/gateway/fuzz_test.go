package gateway

import (
	"bytes"
	"net/url"
	"path"
	"strings"
	"testing"
)

// FuzzTargets reads any request target: a path that is let through stays below the base path
// however often it is decoded, and no model pair reaches the upstream.
func FuzzTargets(f *testing.F) {
	for _, target := range []string{
		"/gateway/v1/chat?model=a", "/gateway", "/gateway/../x", "/gateway/%2e%2e/x?mod%65l=a&model=b&&x", "/gateway/a%252f..%252fb",
		"/via/a/v1/chat?b=c", "/via/a/../x?model=b", "/via/%2e%2e/%2e%2e/x", "/via//%252e%252e?mod%65l", "/via", "/viaduct/a", "http://host/via/a%2Fb",
		"/gateway/..;x/y", "http://host/gateway/v1?model=%zz", "/gatewayx", "/gateway/%c0%ae%c0%ae/", "/gateway/%255c?model",
	} {
		f.Add([]byte(target))
	}
	f.Fuzz(func(t *testing.T, target []byte) {
		to, ok := splitTarget(target)
		if !ok {
			return
		}
		given, query := to.path, to.query
		if _, told, count := splitModel([]byte(to.asked()), nil); to.via && (count == 0 || told != to.model() || bytes.IndexByte(to.named, '/') >= 0) {
			t.Fatalf("%q names %q, and is kept as %q", target, to.named, to.asked())
		}
		rest, _, count := splitModel(query, nil)
		if _, _, left := splitModel(rest, nil); left != 0 || count == 0 && string(rest) != string(query) {
			t.Fatalf("of %q is left %q", query, rest)
		}
		if checkPath(given) != nil {
			return
		}
		for text := string(given); ; {
			if cleaned := path.Clean("/base" + text); cleaned != "/base" && !strings.HasPrefix(cleaned, "/base/") {
				t.Fatalf("%q leaves the base path as %q", given, cleaned)
			}
			decoded, err := url.PathUnescape(text)
			if err != nil || decoded == text {
				return
			}
			text = decoded
		}
	})
}
