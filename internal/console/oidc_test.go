package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"callgate/internal/identity"
	"callgate/internal/identity/oidctest"
)

const companyConsole = "https://callgate.example.com"

func newCompanyAuthServer(t *testing.T) (*authServer, *oidctest.Provider) {
	t.Helper()
	p := oidctest.New(t, authDeveloper)
	d := newAuthServer(t, companyConsole, func(c *identity.Config) {
		c.OIDC = identity.OIDC{
			Issuer: p.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, Name: "Company",
			RedirectURL: companyConsole + OIDCCallbackPath,
		}
	})
	return d, p
}

// follow sends a browser's navigation and returns where it is redirected to, and the cookies set.
func (d *authServer) follow(path string, cookies ...*http.Cookie) (location string, set map[string]*http.Cookie) {
	d.t.Helper()
	request := httptest.NewRequest("GET", path, nil)
	request.Header.Set("Sec-Fetch-Site", "cross-site") // so a browser says of the way back
	for _, cookie := range cookies {
		request.AddCookie(cookie)
	}
	response := d.exchange(request, "")
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 302 || len(body) != 0 || response.Header.Get("Cache-Control") != "no-store" || response.Header.Get("X-Request-Id") == "" {
		d.t.Fatalf("%s answered %d %q %v", path, response.StatusCode, body, response.Header)
	}
	set = map[string]*http.Cookie{}
	for _, cookie := range response.Cookies() {
		set[cookie.Name] = cookie
	}
	return response.Header.Get("Location"), set
}

// begin goes to the provider and comes back with the callback's path and the attempt's cookie.
func (d *authServer) begin(p *oidctest.Provider, query string) (path string, attempt *http.Cookie) {
	d.t.Helper()
	address, set := d.follow("/api/auth/oidc/login" + query)
	if !strings.HasPrefix(address, p.URL+"/authorize?") || set[oidcCookie] == nil {
		d.t.Fatalf("led to %s with %v", address, set)
	}
	return strings.TrimPrefix(p.Browse(address).String(), companyConsole), set[oidcCookie]
}

func TestCompanySignInOpensTheSessionAndGoesOnToThePageAskedFor(t *testing.T) {
	d, p := newCompanyAuthServer(t)
	company := d.ok(d.ask("GET", "/api/config", ""), "publicBaseUrl", "publicGatewayUrl", "oidc", "version", "statisticsRetentionDays", "callRetentionDays", "failureRetentionDays")["oidc"].(map[string]any)
	if company["enabled"] != true || company["name"] != "Company" {
		t.Fatalf("configuration %v", company)
	}
	path, attempt := d.begin(p, "?next="+url.QueryEscape("/applications?page=2"))
	if !attempt.HttpOnly || !attempt.Secure || attempt.SameSite != http.SameSiteLaxMode || attempt.Path != "/api/auth/oidc" || attempt.Domain != "" {
		t.Fatalf("cookie %v", attempt)
	}
	location, set := d.follow(path, attempt)
	session := set[sessionCookie]
	if location != "/applications?page=2" || session == nil || !session.HttpOnly || !session.Secure || session.Path != "/" || session.SameSite != http.SameSiteLaxMode {
		t.Fatalf("led to %s with %v", location, set)
	}
	if gone := set[oidcCookie]; gone == nil || gone.Value != "" || gone.Path != attempt.Path {
		t.Fatalf("the attempt is kept: %v", gone)
	}
	data := d.ok(d.ask("POST", "/api/auth/token", "", cookieOf(session)...), "token", "expiresAt", "user")
	if user := data["user"].(map[string]any); user["email"] != authDeveloper {
		t.Fatalf("signed in as %v", user)
	}
	if location, set = d.follow(path, attempt); location != "/sign-in?error=failed&next=%2Fapplications%3Fpage%3D2" || set[sessionCookie] != nil {
		t.Fatalf("a second time it led to %s with %v", location, set)
	}
}

func TestCompanySignInNeverLeadsToAnotherSite(t *testing.T) {
	d, p := newCompanyAuthServer(t)
	for _, next := range []string{"", "//evil.com", "https://evil.com", `/\evil.com`, "/\t/evil.com", "evil"} {
		path, attempt := d.begin(p, "?next="+url.QueryEscape(next))
		if location, set := d.follow(path, attempt); location != "/" || set[sessionCookie] == nil {
			t.Errorf("%q led to %s", next, location)
		}
	}
}

func TestFailedCompanySignInEndsAtTheSignInPageWithoutDetail(t *testing.T) {
	d, p := newCompanyAuthServer(t)
	want := func(name, wanted, path string, cookies ...*http.Cookie) {
		t.Helper()
		location, set := d.follow(path, cookies...)
		if location != "/sign-in?error="+wanted || set[sessionCookie] != nil {
			t.Errorf("%s led to %s with %v", name, location, set)
		}
	}
	path, attempt := d.begin(p, "")
	other, _ := d.begin(p, "")
	want("no cookie", "expired", path)
	want("another sign-in's answer", "expired", other, attempt)
	want("nothing at all", "expired", OIDCCallbackPath)
	want("a code made up", "failed", OIDCCallbackPath+"?code=x&state="+url.QueryEscape(stateOf(t, path)), attempt)

	p.Change(func() { p.Denies = true })
	path, attempt = d.begin(p, "")
	want("declined", "denied", path, attempt)

	p.Change(func() { p.Denies = false; p.Claims["email_verified"] = false })
	path, attempt = d.begin(p, "")
	want("unverified", "not_allowed", path, attempt)

	fresh, away := newCompanyAuthServer(t)
	away.Change(func() { away.Down = true })
	location, _ := fresh.follow("/api/auth/oidc/login?next=/a")
	if location != "/sign-in?error=unavailable" {
		t.Errorf("without its provider it led to %s", location)
	}
}

func stateOf(t *testing.T, path string) string {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("state")
}
