package gateway

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPathsThatCouldLeaveTheBasePathAreRefused(t *testing.T) {
	for _, path := range []string{
		"/..", "/../x", "/v1/..", "/v1/../x", "/.", "/./x", "/v1/./x", "/v1/.",
		"/%2e%2e/x", "/%2E%2e", "/.%2e/x", "/%2e./x", "/%2e", "/v1/%2e/x",
		"/v1%2f..%2fx", "/v1%2F%2e%2E/x", "/..%2fx", "/..;/x", "/..;a=b/x", "/%2e%2e;/x", "/.;/x",
		"/%252e%252e/x", "/%25252e%25252e/x", "/v1%252f..%252fx", "/%25%32%65%25%32%65/x", "/%2525252525252e",
		`/v1\..\x`, `/\x`, "/v1%5cx", "/v1%5C..%5Cx", "/v1%255c..", "/x%00", "/x%0d%0aHost:y", "/x%0a", "/x\x7f", "/x%7f", "/x#y",
		"/%c0%ae%c0%ae/x", "/%c1%9cx", "/v1/%zz", "/%", "/a%2", "/%g0/x", "/%2x",
	} {
		if checkPath([]byte(path)) == nil {
			t.Errorf("%q accepted", path)
		}
	}
}

func TestOrdinaryPathsAreAccepted(t *testing.T) {
	for _, path := range []string{
		"", "/", "/v1/chat/completions", "/v1.0/x", "/a..b/..c/d..", "/...", "/.well-known/x", "/models/meta%2Fllama", "/a%20b", "/%E4%BD%A0",
		"/v1/files/x.json;v=1", "//x", "/x//y/", "/100%25", "/%25zz", "/a:b@c!$&'()*+,=~", "/\xe4\xbd\xa0",
	} {
		if err := checkPath([]byte(path)); err != nil {
			t.Errorf("%q refused: %v", path, err)
		}
	}
}

func TestTargetIsSplitAtThePrefixAndTheFirstQuestionMark(t *testing.T) {
	const none = "-" // no capability in the path
	for uri, want := range map[string][3]string{
		"/gateway":                         {"", "", none},
		"/gateway/":                        {"/", "", none},
		"/gateway?model=m":                 {"", "model=m", none},
		"/gateway/v1/x?a=b?c":              {"/v1/x", "a=b?c", none},
		"http://gate:80/gateway/v1?x":      {"/v1", "x", none},
		"/gateway//x%2Fy?":                 {"//x%2Fy", "", none},
		"/gateway/redirect?to=http://x/#y": {"/redirect", "to=http://x/#y", none},
		"/gateway/via/m/v1":                {"/via/m/v1", "", none},
		"/via":                             {"", "", ""},
		"/via/":                            {"", "", ""},
		"/via?model=m":                     {"", "model=m", ""},
		"/via//v1":                         {"/v1", "", ""},
		"/via/m":                           {"", "", "m"},
		"/via/m?a=b":                       {"", "a=b", "m"},
		"/via/m/":                          {"/", "", "m"},
		"/via/m/v1/x?a=b?c":                {"/v1/x", "a=b?c", "m"},
		"/via/a%3Ab.c-1/v1":                {"/v1", "", "a:b.c-1"},
		"/via/a+b%2Fc%zz/v1":               {"/v1", "", "a+b/c%zz"},
		"/via/m//x%2Fy?":                   {"//x%2Fy", "", "m"},
		"/via/gateway/v1":                  {"/v1", "", "gateway"},
		"http://gate:80/via/m/v1?x":        {"/v1", "x", "m"},
	} {
		a, ok := splitTarget([]byte(uri))
		capability := none
		if a.via {
			capability = a.model()
		}
		if !ok || string(a.path) != want[0] || string(a.query) != want[1] || capability != want[2] {
			t.Errorf("%q: %q %q %q %v", uri, a.path, a.query, capability, ok)
		}
	}
	for _, uri := range []string{
		"", "/", "/gatewayx", "/GATEWAY/x", "/x/gateway/", "*", "http://gate", "/gateway%2fx",
		"/viaduct", "/via.x", "/VIA/m/x", "/x/via/m", "/via%2fm/x", "/vi", "//via/m", "http://via/m/v1", "http:///",
	} {
		if _, ok := splitTarget([]byte(uri)); ok {
			t.Errorf("%q is the gateway's", uri)
		}
	}
}

func TestOnlyModelPairsLeaveTheQuery(t *testing.T) {
	for query, want := range map[string]struct {
		rest, model string
		count       int
	}{
		"":                               {"", "", 0},
		"model=m":                        {"", "m", 1},
		"a=1&model=m&b=%zz+%20":          {"a=1&b=%zz+%20", "m", 1},
		"model=m&a=1":                    {"a=1", "m", 1},
		"a=1&model=m":                    {"a=1", "m", 1},
		"a&&model=m&b":                   {"a&&b", "m", 1},
		"model=a%2Fb+c%zz":               {"", "a/b c%zz", 1},
		"mod%65l=m&%6Dodel=n":            {"", "m", 2},
		"model":                          {"", "", 1},
		"model=":                         {"", "", 1},
		"Model=x&models=y&model%20=z&=m": {"Model=x&models=y&model%20=z&=m", "", 0},
		"model=m&model=m":                {"", "m", 2},
		"x=model=m":                      {"x=model=m", "", 0},
	} {
		rest, model, count := splitModel([]byte(query), nil)
		if string(rest) != want.rest || model != want.model || count != want.count {
			t.Errorf("%q: %q %q %d", query, rest, model, count)
		}
	}
}

func TestQueryWithoutModelPassesUntouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		query := rapid.StringMatching(`[a-z%&=+;.0-9]{0,30}`).Filter(func(query string) bool {
			return !strings.Contains(query, "mod") && !strings.Contains(query, "%6") && !strings.HasSuffix(query, "&")
		}).Draw(t, "query")
		rest, _, count := splitModel([]byte(query), nil)
		if count != 0 || string(rest) != query {
			t.Fatalf("%q became %q", query, rest)
		}
	})
}
