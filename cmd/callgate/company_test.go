package main

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"
	"time"

	"callgate/internal/identity/oidctest"
)

// TestCompanyLoginOpensTheConsole follows a browser through the company's OpenID provider and back,
// and takes a token of its issuer, on the real binary as the environment configures it.
func TestCompanyLoginOpensTheConsole(t *testing.T) {
	const address = "worker@example.com"
	provider := oidctest.New(t, address)
	p := startDev(t, map[string]string{
		"OIDC_ISSUER": provider.URL, "OIDC_CLIENT_ID": oidctest.ClientID, "OIDC_CLIENT_SECRET": oidctest.ClientSecret,
		"OIDC_NAME": "Example Corp", "OIDC_SCOPES": "profile",
		"JWT_JWKS_URL": provider.URL + "/keys", "JWT_ISSUER": provider.URL, "JWT_AUDIENCE": "callgate",
	})
	company := do[struct {
		OIDC struct {
			Enabled bool
			Name    string
		}
	}](client{p, ""}, "GET", "/api/config", nil).OIDC
	if !company.Enabled || company.Name != "Example Corp" {
		t.Fatalf("configuration %+v", company)
	}

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: http.DefaultClient.Transport, Timeout: 20 * time.Second}
	page, err := browser.Get(p.base + "/api/auth/oidc/login?next=%2Fapplications%3Fpage%3D2")
	if err != nil {
		t.Fatal(err)
	}
	_ = page.Body.Close()
	if at := page.Request.URL.String(); at != p.base+"/applications?page=2" {
		t.Fatalf("the browser ended at %s", at)
	}
	signedIn := &client{p, ""}
	for _, cookie := range jar.Cookies(page.Request.URL) {
		if cookie.Name == "callgate_session" {
			signedIn.token = sessionToken(t, p, cookie)
		}
	}
	type user struct{ ID, Email string }
	me := do[user](*signedIn, "GET", "/api/auth/me", nil)
	if me.Email != address {
		t.Fatalf("signed in as %+v", me)
	}

	now := time.Now()
	bearer := client{p, provider.Keys[1].Sign(t, map[string]any{
		"iss": provider.URL, "aud": "callgate", "sub": "user-1", "email": address,
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	})}
	if same := do[user](bearer, "GET", "/api/auth/me", nil); same != me {
		t.Fatalf("the token is of %+v, the session of %+v", same, me)
	}
	do[map[string]any](bearer, "POST", "/api/applications", map[string]any{"name": "Made with a company token"})
	if status, e := bearer.try("GET", "/api/admin/groups", nil); status != 403 || e.Code != 40301 {
		t.Fatalf("in the back office it is answered %d %d", status, e.Code)
	}
	if strings.Contains(p.output()+p.errors(), oidctest.ClientSecret) {
		t.Fatal("the client secret is in the log")
	}
}

// sessionToken exchanges the session cookie for a user JWT.
func sessionToken(t *testing.T, p *process, session *http.Cookie) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", p.base+"/api/auth/token", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(session)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct{ Data struct{ Token string } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Data.Token
}
