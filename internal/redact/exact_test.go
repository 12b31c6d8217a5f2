package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"callgate/internal/calls"
)

// shownOf is what is kept of a text in each of the places that have room for one.
func shownOf(text string, secrets, hosts []string) map[string]string {
	quoted, _ := json.Marshal(text)
	inner, _ := json.Marshal(map[string]string{"text": text})
	twice, _ := json.Marshal(map[string]string{"arguments": string(inner)})
	shown := map[string]string{}
	for place, in := range map[string]calls.FailureInput{
		"value":              request(fmt.Sprintf(`{"a":[%s]}`, quoted)),
		"name of field":      request(fmt.Sprintf(`{%s:1}`, quoted)),
		"JSON in JSON":       request(`{"a":` + quote(string(inner)) + `}`),
		"three times":        request(`{"a":` + quote(string(twice)) + `}`),
		"query":              {RawQuery: "q=" + url.QueryEscape(text)},
		"query, twice":       {RawQuery: "q=" + url.QueryEscape("https://h/?x="+url.QueryEscape(text))},
		"path":               {Path: "/v1/" + url.PathEscape(text)},
		"message":            {Message: "failed: " + text},
		"error of upstream":  {UpstreamBody: []byte(fmt.Sprintf(`{"error":{"message":%s}}`, quoted))},
		"URL in a value":     request(`{"a":` + quote("https://h/?q="+url.QueryEscape(text)+"&b=1") + `}`),
		"every byte escaped": request(`{"a":"` + escapedWhole(text) + `"}`),
	} {
		in.Secrets, in.Hosts = secrets, hosts
		shown[place] = show(failure(in))
	}
	return shown
}

func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func escapedWhole(text string) string {
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}

// readable undoes what escapes a text may still have.
func readable(shown string) string {
	for range 4 {
		if plain, err := url.PathUnescape(shown); err == nil {
			shown = plain
		}
		shown = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\/`, `/`).Replace(shown)
	}
	return shown
}

func TestAKeyOfTheCallIsHiddenInEverySpelling(t *testing.T) {
	for _, key := range []string{"opaque", "no-form-at-all", `q"u\o/te<d>&key`, "Zm9yIHRoZSBjYW5hcnk/b25seQ+Q2x9", "日本語の鍵です", "a.b~c!d*e'f(g)"} {
		spellings := map[string]string{
			"plain": key, "in a word": "x" + key + "y", "percent": strings.ReplaceAll(url.QueryEscape(key), "+", "%20"), "percent, twice": url.PathEscape(url.PathEscape(key)),
			"every byte": percentWhole(key), "escaped slashes": strings.ReplaceAll(key, "/", `\/`),
		}
		if len(key) >= leastEncoded {
			for before := range 4 {
				text := strings.Repeat("u", before) + ":" + key + ":rest"
				spellings[fmt.Sprint("base64 ", before)] = base64.StdEncoding.EncodeToString([]byte(text))
				spellings[fmt.Sprint("base64 of URLs ", before)] = base64.RawURLEncoding.EncodeToString([]byte(text))
			}
		}
		for spelling, text := range spellings {
			for place, shown := range shownOf(text, []string{key}, nil) {
				if plain := readable(shown); !strings.Contains(shown, redacted) || strings.Contains(plain, key) || strings.HasPrefix(spelling, "base64") && strings.Contains(plain, text[4:14]) {
					t.Errorf("%s, %s: %q in %s", place, spelling, text, shown)
				}
			}
		}
	}
}

func percentWhole(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}

func TestAHostIsHiddenInEverySpelling(t *testing.T) {
	for _, c := range []struct{ host, text, want string }{
		{"api.example.com", "dial tcp: lookup API.Example.com: no such host", "dial tcp: lookup [REDACTED]: no such host"},
		{"api.example.com", "https://api.example.com:8443/v1", "https://[REDACTED]/v1"},
		{"api.example.com", "to api.example.com.:443 and api.example.com.", "to [REDACTED] and [REDACTED]."},
		{"api.example.com", "eu.api.example.com", "eu.[REDACTED]"},
		{"api.example.com", "api%2Eexample%2ecom", "[REDACTED]"},
		{"api.example.com", `api\u002eexample.com\nnext`, `[REDACTED]\nnext`},
		{"api.example.com", "my-api.example.com api.example.community apixexample.com", "my-api.example.com api.example.community apixexample.com"},
		{"xn--bcher-kva.example", "bücher.example BÜCHER.Example XN--BCHER-KVA.example", "[REDACTED] [REDACTED] [REDACTED]"},
		{"10.1.2.3", "dial tcp 10.1.2.3:80: refused, not 10.1.2.30", "dial tcp [REDACTED]: refused, not 10.1.2.30"},
		{"10.1.2.3", "::ffff:10.1.2.3 and ::ffff:a01:203", "[REDACTED] and [REDACTED]"},
		{"2001:db8::1", "[2001:db8::1]:443 2001:DB8:0:0:0:0:0:1 2001:0db8::0001.", "[[REDACTED]]:443 [REDACTED] [REDACTED]."},
		{"2001:db8::1", "2001:db8::2 12:30:45 a::b", "2001:db8::2 12:30:45 a::b"},
		{"ollama", "http://ollama:11434/api and Ollama's models; lookup ollama: no such host", "http://[REDACTED]/api and Ollama's models; lookup [REDACTED]: no such host"},
	} {
		r := newRedactor()
		r.exact.reset(nil, []string{c.host})
		if got := r.text(c.text); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
	for place, shown := range shownOf("no route to API.Example.COM.:8443", nil, []string{"api.example.com"}) {
		if strings.Contains(strings.ToLower(shown), "example") {
			t.Errorf("%s: %s", place, shown)
		}
	}
}

// A text whose secrets are hidden has none left, whatever surrounds them and however they are written.
func TestHidingExactSecretsLeavesNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[!-$&-\[\]-~]{8,40}`).Draw(t, "secret")
		text := ""
		for range rapid.IntRange(1, 4).Draw(t, "pieces") {
			written := rapid.SampledFrom([]func(string) string{
				func(s string) string { return s }, percentWhole, url.QueryEscape, escapedWhole,
				func(s string) string { return strings.TrimSuffix(strings.TrimPrefix(quote(s), `"`), `"`) },
			}).Draw(t, "written")
			text += strings.TrimRight(rapid.String().Draw(t, "noise"), `%\`) + written(secret) // no half of an escape before it
		}
		var x exact
		x.reset([]string{secret}, []string{"api.example.com"})
		hidden := x.hide(text)
		if again := x.hide(hidden); again != hidden {
			t.Fatalf("%q of %q became %q", secret, hidden, again)
		}
		if strings.Contains(hidden, secret) || strings.Contains(hidden, percentWhole(secret)) || strings.Contains(hidden, escapedWhole(secret)) {
			t.Fatalf("%q shows in %q", secret, hidden)
		}
	})
}
