package identity

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"callgate/internal/fault"
	"callgate/internal/identity/oidctest"
)

const callback = "https://console.example.com/api/auth/oidc/callback"

// withProvider is a world whose company login is the provider, and the provider.
func withProvider(t *testing.T, changes ...func(*Config)) (*world, *oidctest.Provider) {
	t.Helper()
	p := oidctest.New(t, "Dev@Example.com")
	w := newWorld(t, append([]func(*Config){func(c *Config) {
		c.OIDC = OIDC{Issuer: p.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, Name: "Company", RedirectURL: callback, Scopes: []string{"profile", "email"}}
	}}, changes...)...)
	p.Now = w.clock
	return w, p
}

// begin goes to the provider and back, up to the answer that the callback gets.
func (w *world) begin(p *oidctest.Provider, next string) OIDCAnswer {
	w.t.Helper()
	address, cookie, err := w.StartOIDC(w.t.Context(), next)
	if err != nil {
		w.t.Fatal(err)
	}
	back := p.Browse(address)
	if !strings.HasPrefix(back.String(), callback+"?") {
		w.t.Fatalf("sent back to %s", back)
	}
	q := back.Query()
	return OIDCAnswer{Attempt: cookie, State: q.Get("state"), Code: q.Get("code"), Error: q.Get("error"), Issuer: q.Get("iss")}
}

func (w *world) finish(answer OIDCAnswer) (SignIn, string, error) {
	return w.FinishOIDC(w.t.Context(), answer, agent)
}

func TestProviderSignsInTheDeveloperOfItsVerifiedAddress(t *testing.T) {
	w, p := withProvider(t)
	byCode := w.signIn(Developer, developer)
	in, next, err := w.finish(w.begin(p, "/applications?page=2"))
	if err != nil {
		t.Fatal(err)
	}
	if next != "/applications?page=2" || in.Principal.Email != developer || in.Principal.UserID != byCode.Principal.UserID {
		t.Fatalf("%+v goes on to %s", in.Principal, next)
	}
	if who := w.accepted(Developer, in.Token.Value); who != in.Principal {
		t.Fatalf("the token speaks for %+v", who)
	}
	if who, err := w.VerifySession(t.Context(), Developer, in.SessionToken); err != nil || who != in.Principal {
		t.Fatalf("the session is of %+v, %v", who, err)
	}
	w.refused(Admin, in.Token.Value, fault.NotAdministrator)
}

func TestProviderMakesTheUserAtTheFirstSignIn(t *testing.T) {
	w, p := withProvider(t)
	first, _, err := w.finish(w.begin(p, ""))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := w.finish(w.begin(p, ""))
	if err != nil || first.Principal.UserID != second.Principal.UserID {
		t.Fatalf("%v, %v, %v", first.Principal, second.Principal, err)
	}
	if n := w.number(`SELECT count(*) FROM users`); n != 1 {
		t.Fatalf("%d users", n)
	}
}

func TestAuthorizationIsAskedWithStateNonceAndPKCE(t *testing.T) {
	w, _ := withProvider(t)
	seen := map[string]bool{}
	for range 3 {
		address, _, err := w.StartOIDC(t.Context(), "/")
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			if value := q.Get(name); len(value) < 22 || seen[value] {
				t.Fatalf("%s is %q", name, value)
			}
			seen[q.Get(name)] = true
		}
		if q.Get("scope") != "openid email profile" || q.Get("code_challenge_method") != "S256" || q.Get("redirect_uri") != callback {
			t.Fatalf("asked with %v", q)
		}
	}
}

func TestAttemptIsForItsBrowserItsStateAndTenMinutes(t *testing.T) {
	w, p := withProvider(t)
	mine, theirs := w.begin(p, "/"), w.begin(p, "/")
	session := w.signIn(Developer, developer)
	for name, answer := range map[string]OIDCAnswer{
		"no cookie":           {State: mine.State, Code: mine.Code},
		"another's cookie":    {Attempt: theirs.Attempt, State: mine.State, Code: mine.Code},
		"no state":            {Attempt: mine.Attempt, Code: mine.Code},
		"another state":       {Attempt: mine.Attempt, State: mine.State + "x", Code: mine.Code},
		"a token of a person": {Attempt: session.Token.Value, Code: mine.Code},
		"a forged cookie":     {Attempt: mine.Attempt[:len(mine.Attempt)-4] + "AAAA", State: mine.State, Code: mine.Code},
	} {
		if _, next, err := w.finish(answer); fault.KindOf(err) != fault.Unauthenticated || next != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.refused(Developer, mine.Attempt, fault.BadCredential)
	w.refused(Admin, mine.Attempt, fault.BadCredential)
	w.pass(attemptTTL)
	_, _, err := w.finish(mine)
	wantKind(t, err, fault.Unauthenticated)
}

func TestCodeOfAnotherSignInIsRefused(t *testing.T) {
	w, p := withProvider(t)
	mine, theirs := w.begin(p, "/"), w.begin(p, "/")
	mine.Code = theirs.Code // PKCE and nonce are of another attempt
	_, _, err := w.finish(mine)
	wantKind(t, err, fault.BadCredential)
}

func TestAnswerOfAProviderIsUsedOnce(t *testing.T) {
	w, p := withProvider(t)
	answer := w.begin(p, "/")
	if _, _, err := w.finish(answer); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.finish(answer)
	wantKind(t, err, fault.BadCredential)
}

func TestFaultyIDTokensAreRefused(t *testing.T) {
	w, p := withProvider(t)
	good := p.Claims
	with := func(name string, value any) map[string]any {
		return map[string]any{"email": good["email"], "email_verified": true, name: value}
	}
	at := func(d time.Duration) int64 { return w.clock().Add(d).Unix() }
	for name, claims := range map[string]map[string]any{
		"issuer":          with("iss", "https://evil.example.com"),
		"no issuer":       with("iss", nil),
		"audience":        with("aud", "another client"),
		"no audience":     with("aud", nil),
		"two audiences":   with("aud", []string{oidctest.ClientID, "another client"}),
		"azp":             with("azp", "another client"),
		"nonce":           with("nonce", "another"),
		"no nonce":        with("nonce", nil),
		"expired":         with("exp", at(-clockLeeway)),
		"no expiry":       with("exp", nil),
		"not yet valid":   with("nbf", at(clockLeeway+time.Second)),
		"of the future":   with("iat", at(clockLeeway+time.Second)),
		"no subject":      with("sub", nil),
		"at_hash":         with("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"),
		"unverified":      with("email_verified", false),
		"unverified text": with("email_verified", "false"),
		"verified absent": with("email_verified", nil),
		"no address":      with("email", "nobody"),
	} {
		p.Change(func() { p.Claims = claims })
		if in, _, err := w.finish(w.begin(p, "/")); fault.KindOf(err) != fault.BadCredential || in.SessionToken != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Change(func() { p.Claims = good; p.Keys[0] = oidctest.NewRSA(t, "rsa-1") })
	_, _, err := w.finish(w.begin(p, "/")) // signed by a key of the same name that is not published
	wantKind(t, err, fault.BadCredential)
	if n := w.number(`SELECT count(*) FROM sessions`); n != 0 {
		t.Fatalf("%d sessions", n)
	}
	w.pass(keysRetry)
	for name, claims := range map[string]map[string]any{
		"leeway":            with("exp", at(-clockLeeway+time.Second)),
		"azp is ours":       with("azp", oidctest.ClientID),
		"verified, as text": with("email_verified", "true"),
	} {
		p.Change(func() { p.Claims = claims })
		if _, _, err := w.finish(w.begin(p, "/")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAddressMayComeFromTheUserInfoOfTheSameSubject(t *testing.T) {
	w, p := withProvider(t)
	p.Change(func() {
		p.Claims = map[string]any{}
		p.UserInfo = map[string]any{"sub": "user-1", "email": developer, "email_verified": true}
	})
	in, _, err := w.finish(w.begin(p, "/"))
	if err != nil || in.Principal.Email != developer {
		t.Fatalf("%+v, %v", in.Principal, err)
	}
	for _, info := range []map[string]any{
		{"sub": "user-2", "email": developer, "email_verified": true},
		{"sub": "user-1", "email": developer, "email_verified": false},
		{"sub": "user-1"},
	} {
		p.Change(func() { p.UserInfo = info })
		_, _, err := w.finish(w.begin(p, "/"))
		wantKind(t, err, fault.BadCredential)
	}
}

// TestTheProviderIsToldWhoWeAreInTheWayItTakes: a code that comes in another way is used up, so there is one try.
func TestTheProviderIsToldWhoWeAreInTheWayItTakes(t *testing.T) {
	for _, try := range []struct {
		takes  string
		says   []string
		secret string
	}{
		{"client_secret_post", []string{"client_secret_post"}, oidctest.ClientSecret},
		{"client_secret_post", []string{"private_key_jwt", "client_secret_post"}, oidctest.ClientSecret},
		{"client_secret_basic", []string{"client_secret_post", "client_secret_basic"}, oidctest.ClientSecret},
		{"client_secret_basic", nil, oidctest.ClientSecret},
		{"client_secret_basic", []string{}, oidctest.ClientSecret},
		{"none", []string{"none", "client_secret_basic"}, ""},
	} {
		w, p := withProvider(t, func(c *Config) { c.OIDC.ClientSecret = try.secret })
		p.Change(func() { p.Methods, p.Takes, p.Public = try.says, try.takes, try.secret == "" })
		if _, _, err := w.finish(w.begin(p, "/")); err != nil {
			t.Errorf("takes %s, says %v: %v", try.takes, try.says, err)
		}
	}
}

// TestWhetherAnAddressIsVerifiedMayComeFromTheUserInfo of the same subject, for the same address, where the token says nothing.
func TestWhetherAnAddressIsVerifiedMayComeFromTheUserInfo(t *testing.T) {
	w, p := withProvider(t)
	trusting, q := withProvider(t, func(c *Config) { c.OIDC.TrustEmail = true })
	with := func(subject, email string, verified any) map[string]any {
		return map[string]any{"sub": subject, "email": email, "email_verified": verified}
	}
	for name, try := range map[string]struct {
		claim         any // of the token
		info          map[string]any
		plain, trusts bool // whether they sign in
	}{
		"said there":            {nil, with("user-1", developer, true), true, true},
		"as text":               {nil, with("user-1", developer, "true"), true, true},
		"the same, in capitals": {nil, with("user-1", "DEV@example.com", true), true, true},
		"of another address":    {nil, with("user-1", "other@example.com", true), false, true},
		"without an address":    {nil, map[string]any{"sub": "user-1", "email_verified": true}, false, true},
		"of another user":       {nil, with("user-2", developer, true), false, true},
		"not verified":          {nil, with("user-1", developer, false), false, false},
		"nothing said":          {nil, map[string]any{"sub": "user-1", "email": developer}, false, true},
		"refused":               {nil, nil, false, true},
		"the token says no":     {false, with("user-1", developer, true), false, false},
		"the token says yes":    {true, with("user-1", developer, false), true, true},
		"the token, of another": {true, with("user-2", "other@example.com", false), true, true},
	} {
		for who, signs := range map[*world]bool{w: try.plain, trusting: try.trusts} {
			from := p
			if who == trusting {
				from = q
			}
			from.Change(func() {
				from.Claims = map[string]any{"email": developer, "email_verified": try.claim}
				from.UserInfo = try.info
			})
			in, _, err := who.finish(who.begin(from, "/"))
			if signs && (err != nil || in.Principal.Email != developer) || !signs && fault.KindOf(err) != fault.BadCredential {
				t.Errorf("%s, trusting %t: %+v, %v", name, who == trusting, in.Principal, err)
			}
		}
	}
}

func TestAProviderThatSaysNothingOfVerificationIsTrustedOnlyByTheSwitch(t *testing.T) {
	w, p := withProvider(t, func(c *Config) { c.OIDC.TrustEmail = true })
	p.Change(func() { p.Claims = map[string]any{"email": developer} })
	in, _, err := w.finish(w.begin(p, "/"))
	if err != nil || in.Principal.Email != developer {
		t.Fatalf("%+v, %v", in.Principal, err)
	}
	for _, said := range []any{false, "false", 0} {
		p.Change(func() { p.Claims = map[string]any{"email": developer, "email_verified": said} })
		_, _, err := w.finish(w.begin(p, "/"))
		if wantKind(t, err, fault.BadCredential); !errors.Is(err, ErrAddressNotAllowed) {
			t.Errorf("%v: %v", said, err)
		}
	}
}

func TestProvidersDevelopersAreOfAllowedDomains(t *testing.T) {
	w, p := withProvider(t, func(c *Config) { c.LoginEmailDomains = []string{"elsewhere.com"} })
	_, next, err := w.finish(w.begin(p, "/capabilities"))
	if wantKind(t, err, fault.BadCredential); !errors.Is(err, ErrAddressNotAllowed) || next != "/capabilities" {
		t.Fatalf("%v, %s", err, next)
	}
	if n := w.number(`SELECT count(*) FROM users`); n != 0 {
		t.Fatalf("%d users", n)
	}
}

func TestUserWhoDeclinesIsNotSignedIn(t *testing.T) {
	w, p := withProvider(t)
	p.Change(func() { p.Denies = true })
	_, _, err := w.finish(w.begin(p, "/"))
	if wantKind(t, err, fault.BadCredential); !errors.Is(err, ErrSignInDenied) {
		t.Fatal(err)
	}
}

func TestAnswerInTheNameOfAnotherProviderIsRefused(t *testing.T) {
	w, p := withProvider(t)
	answer := w.begin(p, "/")
	answer.Issuer = "https://evil.example.com"
	_, _, err := w.finish(answer)
	wantKind(t, err, fault.BadCredential)
}

func TestServiceStartsAndRecoversWithoutItsProvider(t *testing.T) {
	w, p := withProvider(t)
	p.Change(func() { p.Down = true })
	_, _, err := w.StartOIDC(t.Context(), "/")
	if f := wantKind(t, err, fault.Unavailable); f.RetryAfter <= 0 || strings.Contains(f.Message, p.URL) {
		t.Fatalf("%+v", f)
	}
	p.Change(func() { p.Down = false })
	answer := w.begin(p, "/")
	p.Change(func() { p.Down = true })
	if _, _, err := w.finish(answer); err == nil {
		t.Fatal("signed in by nobody")
	}
}

func TestFailuresOfOneCompanySignInEndItAndNoOther(t *testing.T) {
	w, p := withProvider(t)
	p.Change(func() { p.Denies = true })
	answer := w.begin(p, "/")
	for range attemptTries {
		_, _, err := w.finish(answer)
		wantKind(t, err, fault.BadCredential)
	}
	_, _, err := w.finish(answer)
	if f := wantKind(t, err, fault.TooManyAttempts); f.RetryAfter <= 0 {
		t.Fatalf("%+v", f)
	}
	for range 40 { // more than one address was once allowed
		_, _, err := w.finish(w.begin(p, "/"))
		wantKind(t, err, fault.BadCredential)
	}
	p.Change(func() { p.Denies = false })
	if _, _, err := w.finish(w.begin(p, "/")); err != nil {
		t.Fatal(err)
	}
}

func TestNextIsAPageOfOurs(t *testing.T) {
	for next, want := range map[string]string{
		"/": "/", "/a/b?c=d#e": "/a/b?c=d#e", "/%2f": "/%2f", "/中文": "/中文",
		"": "/", "a": "/", "//evil.com": "/", "///": "/", `/\evil.com`: "/", "/\t/evil.com": "/", "/\r\nSet-Cookie: a=b": "/",
		"https://evil.com": "/", " /a": "/", "/a b": "/", "javascript:alert(1)": "/", "/" + strings.Repeat("a", maxNext): "/",
	} {
		if got := ownPage(next); got != want {
			t.Errorf("%q leads to %q", next, got)
		}
	}
}

func TestFaultyCompanyLoginIsNotConfigured(t *testing.T) {
	good := Config{JWTSecret: []byte("a secret for tests, of 32 bytes or more")}
	for _, change := range []func(*Config){
		func(c *Config) { c.OIDC = OIDC{Issuer: "http://id.example.com", ClientID: "a", RedirectURL: callback} },
		func(c *Config) { c.OIDC = OIDC{Issuer: "https://id.example.com", RedirectURL: callback} },
		func(c *Config) { c.CompanyTokens.Audience = "callgate" },
		func(c *Config) { c.CompanyTokens = CompanyTokens{"http://id.example.com", "x", "y"} },
		func(c *Config) { c.FormerJWTSecrets = [][]byte{[]byte("short")} },
	} {
		config := good
		change(&config)
		if s, err := New(config, nil, nil, nil); err == nil || s != nil {
			t.Errorf("accepted %+v", config)
		}
	}
}
