package identity

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"callgate/internal/identity/oidctest"
)

var fuzzNow = time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC)

func fuzzClock() time.Time { return fuzzNow }

// FuzzTokens judges any text: only the very token that was signed is taken.
func FuzzTokens(f *testing.F) {
	config := Config{JWTSecret: []byte("a secret for tests, of 32 bytes or more"), FormerJWTSecrets: [][]byte{[]byte("a former secret, of 32 bytes or more")}, Now: fuzzClock}.withDefaults()
	s := &Service{config: config, keys: signingKeys(config), parser: newParser(config)}
	all := jwt.MapClaims{"sub": "x", "aud": string(Developer), "iss": config.Issuer, "exp": fuzzNow.Add(time.Hour).Unix(), "sid": "y"}
	good, err := s.signClaims(all)
	if err != nil {
		f.Fatal(err)
	}
	delete(all, "exp")
	endless, err := s.signClaims(all)
	if err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(good, ".")
	for _, seed := range []string{good, endless, parts[0] + "." + parts[1] + ".", "eyJhbGciOiJub25lIn0." + parts[1] + ".", "..", strings.Repeat(good, 9), good + "="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		_ = signedByIssuer(token)
		if _, err := s.parser.ParseWithClaims(token, &claims{}, s.verificationKey); err == nil && token != good {
			t.Fatalf("%q is taken", token)
		}
		if _, err := s.parser.ParseWithClaims(token, &attempt{}, s.verificationKey); err == nil && token != good {
			t.Fatalf("%q is taken for an attempt", token)
		}
	})
}

// FuzzCompanyTokens judges any text: no token of the issuer speaks for anybody but whom it was made for.
func FuzzCompanyTokens(f *testing.F) {
	key := oidctest.NewEC(f, "k")
	i := newIssuer("https://issuer.example", "callgate", "http://127.0.0.1:1/", fuzzClock, slog.New(slog.DiscardHandler))
	i.keys.keys = []jose.JSONWebKey{{Key: key.Private.Public(), KeyID: "k", Algorithm: string(jose.ES256)}}
	i.keys.fetchedAt, i.keys.triedAt = fuzzNow, fuzzNow
	claims := map[string]any{"iss": "https://issuer.example", "aud": "callgate", "sub": "user-1", "email": developer, "exp": fuzzNow.Add(time.Hour).Unix()}
	good := key.Sign(f, claims)
	if _, _, err := i.verify(f.Context(), good); err != nil {
		f.Fatal(err)
	}
	parts := strings.Split(good, ".")
	f.Add(good)
	f.Add(parts[0] + ".e30." + parts[2])
	f.Add("eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ." + parts[1] + "." + parts[2])
	f.Add(`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`)
	f.Fuzz(func(t *testing.T, token string) {
		if found, c, err := i.verify(t.Context(), token); err == nil && (found.Subject != "user-1" || c.Email != developer) {
			t.Fatalf("%q speaks for %s, %s", token, found.Subject, c.Email)
		}
	})
}

// FuzzKeySets reads any document: every key that may verify is a public one of a kind that is pinned.
func FuzzKeySets(f *testing.F) {
	key := oidctest.NewEC(f, "k")
	public, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Private.Public(), KeyID: "k", Use: "sig"}}})
	if err != nil {
		f.Fatal(err)
	}
	private, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Private, KeyID: "k"}}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(public), string(private), `{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"RSA","n":"AQ","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},null,5]}`, `{"keys":5}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		keys, err := readKeys(bytes.NewReader(document))
		for _, key := range keys {
			for _, algorithm := range []string{"RS256", "ES256", "HS256", "none", ""} {
				if suits(key, algorithm) && (err != nil || !key.IsPublic() || algorithm != "RS256" && algorithm != "ES256") {
					t.Fatalf("%s of %s suits %s", key.KeyID, document, algorithm)
				}
			}
		}
	})
}

// FuzzAddresses reads any text: what is taken is one plain address, and stays as it is.
func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{developer, " Root@Example.COM ", `"a b"@x.org`, "a@b@c", "a..b@c.d", "a@-b.c", "a@b\r\nBcc: c@d.e", "é@x.org", "a@xn--p1ai"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		email, ok := canonicalEmail(text)
		if !ok {
			return
		}
		again, ok := canonicalEmail(email)
		parsed, err := mail.ParseAddress(email)
		if !ok || again != email || len(email) > maxEmail || strings.Count(email, "@") != 1 || strings.ContainsAny(email, " \r\n\x00<>,;:\"\\()[]") ||
			err != nil || parsed.Address != email || parsed.Name != "" {
			t.Fatalf("%q is taken as %q: %v", text, email, err)
		}
	})
}

// FuzzNextPages reads any text: where a browser goes on to is a page of ours.
func FuzzNextPages(f *testing.F) {
	for _, seed := range []string{"/applications?page=2#x", "//evil.example", "/\\evil.example", "/\t/evil.example", "https://evil.example", "/%2f/evil.example", "/..//evil.example"} {
		f.Add(seed)
	}
	home := &url.URL{Scheme: "https", Host: "console.example.com", Path: "/"}
	f.Fuzz(func(t *testing.T, next string) {
		page := ownPage(next)
		if page[0] != '/' || len(page) > 1 && (page[1] == '/' || page[1] == '\\') || strings.ContainsAny(page, "\t\r\n\\") {
			t.Fatalf("%q leads to %q", next, page)
		}
		if target, err := home.Parse(page); err == nil && target.Host != home.Host {
			t.Fatalf("%q leads to %s", next, target)
		}
	})
}
