package gateway

import (
	"slices"
	"strings"
)

// methods are those that are forwarded. TRACE would have an upstream repeat the
// platform's key, and what nobody has defined is known to nobody.
var methods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"}

func isMethod(method string) bool { return slices.Contains(methods[:], method) }

// methodOf is the text of a method; that of a known one is not made anew.
func methodOf(method []byte) string {
	for _, known := range methods {
		if string(method) == known {
			return known
		}
	}
	return string(method)
}

// allowsMethod tells whether a capability's list has the method; an empty one has every method.
func allowsMethod(list []string, method string) bool {
	return len(list) == 0 || slices.Contains(list, method)
}

// allowsPath tells whether a path begins with one of a capability's list, whole segments of it; an
// empty list allows every path. Paths are compared as they were sent: one that is spelled otherwise,
// by escapes or empty segments, is refused and never let through.
func allowsPath(list []string, path []byte) bool {
	if len(path) == 0 {
		path = []byte("/")
	}
	for _, allowed := range list {
		if len(path) >= len(allowed) && string(path[:len(allowed)]) == allowed &&
			(len(path) == len(allowed) || path[len(allowed)] == '/' || strings.HasSuffix(allowed, "/")) {
			return true
		}
	}
	return len(list) == 0
}

// removedIn are the request headers that do not go to the upstream: credentials of the caller,
// traces of the way to us, hop-by-hop headers, and those that are written anew. The connecting
// addresses that proxies in front add would tell the upstream who calls, and some refuse them; what
// makes some frameworks take another method or path than the request line's gets around our checks.
var removedIn = newNames(
	"authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "x-callgate-*",
	"forwarded", "x-forwarded-*", "x-original-forwarded-for", "x-real-ip", "via", "true-client-ip", "x-client-ip", "cf-connecting-ip",
	"x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-original-uri", "x-rewrite-url",
	"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings",
	"host", "content-length", "expect",
)

// removedOut are the response headers that do not go to the caller: an upstream's
// answer is hostile to the origin, which may be the console's, and to proxies in front of us.
var removedOut = newNames(
	// hop-by-hop, and what is ours to say
	"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade",
	"x-callgate-*", "x-call-id", "x-content-type-options", "access-control-*",
	// what a browser keeps for the whole origin, or reports to elsewhere
	"set-cookie", "set-cookie2", "clear-site-data", "set-login", "nel", "report-to", "reporting-endpoints", "strict-transport-security",
	"alt-svc", "accept-ch*", "critical-ch", "public-key-pins*", "expect-ct", "origin-agent-cluster", "sec-session-*", "secure-session-*",
	"use-as-dictionary", "no-vary-search", "activate-storage-access", "attribution-reporting-*", "ad-auction-*", "observe-browsing-topics",
	"shared-storage-write", "www-authenticate",
	// what acts on the page that is shown, or on its tools
	"service-worker-allowed", "content-security-policy*", "permissions-policy*", "feature-policy", "document-policy*", "integrity-policy*",
	"cross-origin-opener-policy*", "cross-origin-embedder-policy*", "origin-trial", "speculation-rules", "refresh", "sourcemap", "x-sourcemap",
	// what a proxy, a cache or a health checker in front of us obeys
	"x-accel-*", "x-sendfile*", "x-lighttpd-*", "x-litespeed-*", "x-reproxy-*", "surrogate-*", "cdn-cache-control", "cloudflare-cdn-cache-control",
	"edge-control", "x-envoy-immediate-health-check-fail", "x-envoy-overloaded", "x-envoy-degraded",
)

// names are header names in lower case, to be found without allocating: whole ones by their length and
// first letter, beginnings (given with a final *) by their first letter.
type names struct {
	whole      [40][]string
	letters    [40]uint32 // by length, a bit for each first letter
	beginnings [26][]string
}

func newNames(all ...string) *names {
	s := new(names)
	for _, name := range all {
		first := name[0] - 'a'
		if beginning, ok := strings.CutSuffix(name, "*"); ok {
			s.beginnings[first] = append(s.beginnings[first], beginning)
		} else {
			s.whole[len(name)] = append(s.whole[len(name)], name)
			s.letters[len(name)] |= 1 << first
		}
	}
	return s
}

// has tells whether a header's name is one of them, whatever its case. An underscore counts as the
// hyphen that some servers take it for.
func (s *names) has(name []byte) bool {
	if len(name) == 0 {
		return false
	}
	first := (name[0] | 0x20) - 'a'
	if first >= 26 {
		return false
	}
	if len(name) < len(s.whole) && s.letters[len(name)]&(1<<first) != 0 {
		for _, candidate := range s.whole[len(name)] {
			if like(name, candidate) {
				return true
			}
		}
	}
	for _, beginning := range s.beginnings[first] {
		if len(name) >= len(beginning) && like(name[:len(beginning)], beginning) {
			return true
		}
	}
	return false
}

// like compares a name with a lower-case one, whatever its case, underscores taken for hyphens.
func like(name []byte, lower string) bool {
	for i, c := range name {
		switch {
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		case c == '_':
			c = '-'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
