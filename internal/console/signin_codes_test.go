package console

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"callgate/internal/fault"
	"callgate/internal/identity"
)

// fromPage are the headers a browser sends from our own page, and the cookies it holds.
func fromPage(cookies ...*http.Cookie) []string {
	headers := []string{"Origin", "https://console.example.com", "Sec-Fetch-Site", "same-origin"}
	var pairs []string
	for _, cookie := range cookies {
		pairs = append(pairs, cookie.Name+"="+cookie.Value)
	}
	if len(pairs) > 0 {
		headers = append(headers, "Cookie", strings.Join(pairs, "; "))
	}
	return headers
}

func TestACodeIsGoodInTheBrowserThatAskedForItAlone(t *testing.T) {
	for path, want := range map[string]struct{ email, browser, session string }{
		"/api/auth":       {authDeveloper, "callgate_browser", sessionCookie},
		"/api/admin/auth": {authAdmin, "callgate_admin_browser", adminSessionCookie},
	} {
		d := newAuthServer(t, "https://console.example.com")
		asked := d.ask("POST", path+"/code", `{"email":"`+want.email+`"}`, fromPage()...)
		nonce := asked.cookies[want.browser]
		if nonce == nil || !nonce.HttpOnly || !nonce.Secure || nonce.SameSite != http.SameSiteStrictMode || nonce.Path != path || !nonce.Expires.IsZero() {
			t.Fatalf("%s: cookie %v", path, nonce)
		}
		mails := func() int { return len(d.mails.Mails(want.email)) }
		for end := time.Now().Add(10 * time.Second); mails() == 0; time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("no mail came within 10 s")
			}
		}
		body := `{"email":"` + want.email + `","code":"` + d.mails.Mails(want.email)[0].Code + `"}`
		for range 6 { // a program at the same address, and another browser
			d.want(fault.BadCredential, d.ask("POST", path+"/login", body))
			d.want(fault.BadCredential, d.ask("POST", path+"/login", body, fromPage()...))
		}
		in := d.ask("POST", path+"/login", body, fromPage(nonce)...)
		if in.status != 200 || in.cookies[want.session] == nil {
			t.Fatalf("%s: answered %d %s", path, in.status, in.Msg)
		}
		known := in.cookies[want.browser]
		if known == nil || strings.HasPrefix(known.Value, nonce.Value) || time.Until(known.Expires) < identity.BrowserCookieTTL-time.Hour || !known.HttpOnly {
			t.Fatalf("%s: cookie %v after the sign-in", path, known)
		}
		if again := d.ask("POST", path+"/code", `{"email":"`+want.email+`"}`, fromPage(known)...); again.status != 200 || again.cookies[want.browser] != nil {
			t.Fatalf("%s: answered %d with %v", path, again.status, again.cookies)
		}
	}
}

func TestAProgramSignsInWithoutCookies(t *testing.T) {
	d := newAuthServer(t, "")
	got := d.ask("POST", "/api/auth/code", `{"email":"`+authDeveloper+`"}`)
	if got.status != 200 || len(got.cookies) != 0 {
		t.Fatalf("answered %d with %v", got.status, got.cookies)
	}
	for end := time.Now().Add(10 * time.Second); len(d.mails.Mails(authDeveloper)) == 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no mail came within 10 s")
		}
	}
	in := d.ask("POST", "/api/auth/login", `{"email":"`+authDeveloper+`","code":"`+d.mails.Mails(authDeveloper)[0].Code+`"}`)
	if in.status != 200 || len(in.cookies) != 1 {
		t.Fatalf("answered %d %s with %v", in.status, in.Msg, in.cookies)
	}
}
