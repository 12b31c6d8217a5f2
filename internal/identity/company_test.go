package identity

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/identity/oidctest"
)

const companyAudience = "callgate"

// withCompany is a world that takes the tokens of an issuer, and the issuer.
func withCompany(t *testing.T, changes ...func(*Config)) (*world, *oidctest.Provider) {
	t.Helper()
	p := oidctest.New(t, developer)
	w := newWorld(t, append([]func(*Config){func(c *Config) {
		c.CompanyTokens = CompanyTokens{JWKSURL: p.URL + "/keys", Issuer: p.URL, Audience: companyAudience}
	}}, changes...)...)
	p.Now = w.clock
	return w, p
}

func (w *world) companyClaims(p *oidctest.Provider) map[string]any {
	return map[string]any{
		"iss": p.URL, "aud": []string{"another", companyAudience}, "sub": "user-1", "email": "Dev@Example.com",
		"iat": w.clock().Unix(), "exp": w.clock().Add(time.Hour).Unix(),
	}
}

func TestCompanyTokenSpeaksForTheDeveloperOfItsAddress(t *testing.T) {
	w, p := withCompany(t)
	for _, key := range p.Keys { // RS256 and ES256
		who := w.accepted(Developer, key.Sign(t, w.companyClaims(p)))
		if who.Email != developer || who.UserID == uuid.Nil || who.SessionID != uuid.Nil || who.Audience != Developer {
			t.Fatalf("speaks for %+v", who)
		}
		if own := w.signIn(Developer, developer); own.Principal.UserID != who.UserID {
			t.Fatal("two users of one address")
		}
	}
	if n := w.number(`SELECT count(*) FROM users`); n != 1 {
		t.Fatalf("%d users", n)
	}
	w.refused(Admin, p.Keys[0].Sign(t, w.companyClaims(p)), fault.NotAdministrator)
}

func TestForgedCompanyTokensAreRefused(t *testing.T) {
	w, p := withCompany(t, func(c *Config) { c.LoginEmailDomains = []string{"example.com"} })
	rsaKey, ecKey := p.Keys[0], p.Keys[1]
	with := func(name string, value any) string {
		claims := w.companyClaims(p)
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
		return rsaKey.Sign(t, claims)
	}
	by := func(method jwt.SigningMethod, key any, header map[string]any) string {
		t.Helper()
		token := jwt.NewWithClaims(method, jwt.MapClaims(w.companyClaims(p)))
		for name, value := range header {
			token.Header[name] = value
		}
		value, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	der, err := x509.MarshalPKIXPublicKey(rsaKey.Private.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	strangerRSA, strangerEC := oidctest.NewRSA(t, "rsa-1"), oidctest.NewEC(t, "ec-1")
	good := rsaKey.Sign(t, w.companyClaims(p))
	parts := strings.Split(good, ".")
	w.accepted(Developer, good) // the corpus starts from a good one
	for name, token := range map[string]string{
		"alg none":              by(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"HS256 by a public key": by(jwt.SigningMethodHS256, public, map[string]any{"kid": "rsa-1"}),
		"HS256 by our secret":   by(jwt.SigningMethodHS256, w.config.JWTSecret, nil),
		"RS512":                 by(jwt.SigningMethodRS512, rsaKey.Private, map[string]any{"kid": "rsa-1"}),
		"PS256":                 by(jwt.SigningMethodPS256, rsaKey.Private, map[string]any{"kid": "rsa-1"}),
		"key of another type":   by(jwt.SigningMethodRS256, rsaKey.Private, map[string]any{"kid": "ec-1"}),
		"another key's name":    by(jwt.SigningMethodES256, ecKey.Private, map[string]any{"kid": "rsa-1"}),
		"unknown key":           by(jwt.SigningMethodRS256, rsaKey.Private, map[string]any{"kid": "rsa-2"}),
		"key of a stranger":     strangerRSA.Sign(t, w.companyClaims(p)),
		"EC key of a stranger":  strangerEC.Sign(t, w.companyClaims(p)),
		"embedded key":          by(jwt.SigningMethodRS256, strangerRSA.Private, map[string]any{"jku": "http://127.0.0.1:1/keys"}),
		"unknown extension":     by(jwt.SigningMethodRS256, rsaKey.Private, map[string]any{"kid": "rsa-1", "crit": []string{"x"}, "x": 1}),
		"iss of another":        with("iss", p.URL+"/"),
		"iss absent":            with("iss", nil),
		"iss ours":              with("iss", "callgate-test"),
		"aud of another":        with("aud", string(Developer)),
		"aud absent":            with("aud", nil),
		"exp absent":            with("exp", nil),
		"exp past":              with("exp", w.clock().Add(-clockLeeway).Unix()),
		"nbf ahead":             with("nbf", w.clock().Add(clockLeeway+time.Second).Unix()),
		"iat ahead":             with("iat", w.clock().Add(clockLeeway+time.Second).Unix()),
		"sub absent":            with("sub", nil),
		"email absent":          with("email", nil),
		"email malformed":       with("email", "dev@example.com\r\n"+"x"),
		"email of elsewhere":    with("email", "dev@elsewhere.com"),
		"email unverified":      with("email_verified", false),
		"email unverified text": with("email_verified", "false"),
		"email doubtful":        with("email_verified", 0),
		"oversized":             with("pad", strings.Repeat("x", maxIssuerToken)),
		"payload of another":    parts[0] + "." + strings.Split(with("sub", "user-2"), ".")[1] + "." + parts[2],
		"signature absent":      parts[0] + "." + parts[1] + ".",
		"signature changed":     parts[0] + "." + parts[1] + "." + otherThan(parts[2][0]) + parts[2][1:],
		"four parts":            good + ".e30",
		"two parts":             parts[0] + "." + parts[1],
	} {
		for _, audience := range []Audience{Developer, Admin} {
			if _, err := w.VerifyToken(t.Context(), audience, token); fault.KindOf(err) != fault.BadCredential {
				t.Errorf("%s, for %s: %v", name, audience, err)
			}
		}
	}
	w.accepted(Developer, with("email_verified", true))
	w.accepted(Developer, with("nbf", w.clock().Add(clockLeeway).Unix()))
}

func TestCompanyTokensAreRefusedWhereNoIssuerIsConfigured(t *testing.T) {
	w := newWorld(t)
	p := oidctest.New(t, developer)
	w.refused(Developer, p.Keys[0].Sign(t, w.companyClaims(p)), fault.BadCredential)
	if p.Fetches() != 0 {
		t.Fatal("its keys were asked for")
	}
}

func TestIssuersNewKeyWorksAndItsOldOneStops(t *testing.T) {
	w, p := withCompany(t)
	old := p.Keys[0]
	w.accepted(Developer, old.Sign(t, w.companyClaims(p)))
	w.accepted(Developer, old.Sign(t, w.companyClaims(p)))
	if n := p.Fetches(); n != 1 {
		t.Fatalf("keys fetched %d times", n)
	}
	next := oidctest.NewRSA(t, "rsa-2")
	p.Change(func() { p.Keys = append(p.Keys, next) })
	w.pass(keysRetry)
	w.accepted(Developer, next.Sign(t, w.companyClaims(p)))
	p.Change(func() { p.Keys = p.Keys[1:] })
	w.accepted(Developer, old.Sign(t, w.companyClaims(p))) // until the keys are fetched again
	w.pass(keysFresh)
	w.refused(Developer, old.Sign(t, w.companyClaims(p)), fault.BadCredential)
	w.accepted(Developer, next.Sign(t, w.companyClaims(p)))
}

func TestMadeUpKeyIDsCostTheIssuerOneFetchIn30Seconds(t *testing.T) {
	w, p := withCompany(t)
	stranger := oidctest.NewEC(t, "")
	for i := range 40 {
		stranger.ID = uuid.NewString()
		w.refused(Developer, stranger.Sign(t, w.companyClaims(p)), fault.BadCredential)
		if i == 20 {
			w.pass(keysRetry)
		}
	}
	if n := p.Fetches(); n != 2 {
		t.Fatalf("keys fetched %d times", n)
	}
}

func TestKnownKeysOutliveTheirIssuerForAnHour(t *testing.T) {
	w, p := withCompany(t)
	key := p.Keys[0]
	p.Change(func() { p.Down = true })
	_, err := w.VerifyToken(t.Context(), Developer, key.Sign(t, w.companyClaims(p)))
	if f := wantKind(t, err, fault.Unavailable); f.RetryAfter <= 0 || strings.Contains(f.Message, p.URL) {
		t.Fatalf("%+v", f)
	}
	p.Change(func() { p.Down = false })
	w.pass(keysRetry)
	w.accepted(Developer, key.Sign(t, w.companyClaims(p)))
	p.Change(func() { p.Down = true })
	w.pass(keysKept - time.Second)
	w.accepted(Developer, key.Sign(t, w.companyClaims(p)))
	w.pass(time.Second)
	w.refused(Developer, key.Sign(t, w.companyClaims(p)), fault.Unavailable)
}
