package console

import (
	"encoding/json"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/secret"
)

func TestDeveloperSignsInAsTheContractSays(t *testing.T) {
	d := newAuthServer(t, "https://console.example.com")
	token, session, data := d.signIn("/api/auth", authDeveloper)
	user := data["user"].(map[string]any)
	if len(user) != 2 || user["email"] != authDeveloper || uuid.Validate(user["id"].(string)) != nil {
		t.Fatalf("user %v", user)
	}
	if at := data["expiresAt"].(string); !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+08:00$`).MatchString(at) {
		t.Fatalf("expires at %s", at)
	}
	if session == nil || session.Name != "callgate_session" || !session.HttpOnly || !session.Secure || session.Path != "/" ||
		session.SameSite != http.SameSiteLaxMode || session.Domain != "" || time.Until(session.Expires) < 29*24*time.Hour {
		t.Fatalf("cookie %v", session)
	}
	for _, credential := range [][]string{bearer(token), cookieOf(session)} {
		if me := d.ok(d.ask("GET", "/api/auth/me", "", credential...), "id", "email"); !reflect.DeepEqual(me, user) {
			t.Fatalf("me is %v, signed in %v", me, user)
		}
	}
	renewed := d.ok(d.ask("POST", "/api/auth/token", "", cookieOf(session)...), "token", "expiresAt", "user")
	if !reflect.DeepEqual(renewed["user"], data["user"]) {
		t.Fatalf("renewed for %v", renewed["user"])
	}
	d.ok(d.ask("GET", "/api/auth/me", "", bearer(renewed["token"].(string))...), "id", "email")
}

func TestAdministratorSignsInAsTheContractSays(t *testing.T) {
	d := newAuthServer(t, "http://console.example.com")
	token, session, data := d.signIn("/api/admin/auth", authAdmin)
	if !reflect.DeepEqual(data["admin"], map[string]any{"email": authAdmin}) {
		t.Fatalf("admin %v", data["admin"])
	}
	if session == nil || session.Name != "callgate_admin_session" || !session.HttpOnly || session.Secure ||
		session.Path != "/api/admin" || session.SameSite != http.SameSiteStrictMode || time.Until(session.Expires) > 12*time.Hour {
		t.Fatalf("cookie %v", session)
	}
	if got := d.ask("GET", "/api/admin/groups", "", bearer(token)...); got.status != 200 {
		t.Fatalf("answered %d %s", got.status, got.Msg)
	}
	d.ok(d.ask("POST", "/api/admin/auth/token", "", cookieOf(session)...), "token", "expiresAt", "admin")
	if out := d.ask("POST", "/api/admin/auth/logout", "", cookieOf(session)...); out.status != 200 {
		t.Fatalf("answered %d %s", out.status, out.Msg)
	}
	d.want(fault.BadCredential, d.ask("GET", "/api/admin/groups", "", bearer(token)...))
	d.want(fault.BadCredential, d.ask("POST", "/api/admin/auth/token", "", cookieOf(session)...))
}

func TestCredentialsOpenOnlyTheirOwnInterface(t *testing.T) {
	d := newAuthServer(t, "")
	devToken, devSession, _ := d.signIn("/api/auth", authDeveloper)
	adminToken, adminSession, _ := d.signIn("/api/admin/auth", authAdmin)
	key := secret.Pepper("0123456789abcdef0123456789abcdef").Mint()

	d.want(fault.NotAdministrator, d.ask("GET", "/api/admin/groups", "", bearer(devToken)...))
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/sessions", "", bearer(adminToken)...))
	for _, path := range []string{"/api/auth/me", "/api/auth/sessions", "/api/applications", "/api/capabilities", "/api/statistics/applications", "/api/admin/groups"} {
		d.want(fault.Unauthenticated, d.ask("GET", path, ""))
		d.want(fault.BadCredential, d.ask("GET", path, "", bearer(key)...))
		d.want(fault.BadCredential, d.ask("GET", path, "", "Authorization", "Basic "+devToken))
		// A Bearer credential that is present decides alone.
		d.want(fault.BadCredential, d.ask("GET", path, "", append(bearer(key), cookieOf(devSession)...)...))
	}
	for _, path := range []string{"/api/auth/sessions", "/api/applications", "/api/capabilities"} {
		d.want(fault.Unauthenticated, d.ask("GET", path, "", cookieOf(devSession)...))
	}
	d.want(fault.Unauthenticated, d.ask("GET", "/api/admin/groups", "", cookieOf(adminSession)...))
	for path, crossed := range map[string]string{
		"/api/auth":       sessionCookie + "=" + adminSession.Value,
		"/api/admin/auth": adminSessionCookie + "=" + devSession.Value,
	} {
		for _, action := range []string{"/token", "/logout"} {
			d.want(fault.Unauthenticated, d.ask("POST", path+action, ""))
			d.want(fault.BadCredential, d.ask("POST", path+action, "", "Cookie", crossed))
		}
	}
	d.ok(d.ask("POST", "/api/auth/token", "", cookieOf(devSession)...), "token", "expiresAt", "user")
}

func TestSignOutEndsTheSessionAndForgetsTheCookie(t *testing.T) {
	d := newAuthServer(t, "https://console.example.com")
	token, session, _ := d.signIn("/api/auth", authDeveloper)
	for _, again := range []bool{false, true} {
		out := d.ask("POST", "/api/auth/logout", "", cookieOf(session)...)
		if again {
			d.want(fault.BadCredential, out)
		} else if out.status != 200 {
			t.Fatalf("answered %d %s", out.status, out.Msg)
		}
		gone := out.cookies[sessionCookie]
		if gone == nil || gone.Value != "" || gone.Expires.After(time.Now()) || gone.Path != session.Path || !gone.Secure {
			t.Fatalf("cookie %v", gone)
		}
	}
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/me", "", bearer(token)...))
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/me", "", cookieOf(session)...))
	d.want(fault.BadCredential, d.ask("POST", "/api/auth/token", "", cookieOf(session)...))
}

func TestSessionsAreListedAndEndedOverHTTP(t *testing.T) {
	d := newAuthServer(t, "")
	first, _, _ := d.signIn("/api/auth", authDeveloper)
	second, _, _ := d.signIn("/api/auth", authDeveloper)
	stranger, _, _ := d.signIn("/api/auth", "other@example.com")
	listed := d.ok(d.ask("GET", "/api/auth/sessions", "", bearer(second)...), "items")["items"].([]any)
	if len(listed) != 2 {
		t.Fatalf("sessions %v", listed)
	}
	var id string
	for _, item := range listed {
		session := item.(map[string]any)
		for _, name := range []string{"id", "createdAt", "lastUsedAt", "userAgent", "current"} {
			if _, there := session[name]; !there || len(session) != 5 {
				t.Fatalf("session %v", session)
			}
		}
		if session["current"] == false {
			id = session["id"].(string)
		}
	}
	absent := d.ask("DELETE", "/api/auth/sessions/"+uuid.NewString(), "", bearer(stranger)...)
	foreign := d.ask("DELETE", "/api/auth/sessions/"+id, "", bearer(stranger)...)
	malformed := d.ask("DELETE", "/api/auth/sessions/1", "", bearer(stranger)...)
	for _, got := range []authReply{absent, foreign, malformed} {
		d.want(fault.NotFound, got)
		if got.Msg != absent.Msg || string(got.Data) != "null" {
			t.Fatalf("%q is told from %q", got.Msg, absent.Msg)
		}
	}
	if got := d.ask("DELETE", "/api/auth/sessions/"+id, "", bearer(second)...); got.status != 200 || string(got.Data) != "null" {
		t.Fatalf("answered %d %s", got.status, got.Data)
	}
	d.want(fault.BadCredential, d.ask("GET", "/api/auth/me", "", bearer(first)...))
	d.ok(d.ask("GET", "/api/auth/me", "", bearer(second)...), "id", "email")
}

func TestUnlistedAdministratorIsNotToldFromAListedOne(t *testing.T) {
	d := newAuthServer(t, "")
	d.code("/api/admin/auth", authAdmin)
	body := func(got authReply) string {
		got.header.Del("X-Request-Id")
		got.header.Del("Date")
		text, err := json.Marshal([]any{got.status, got.header, got.Code, got.Msg, got.Data})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const stranger = "stranger@example.com"
	ask := func(email string) string { return body(d.ask("POST", "/api/admin/auth/code", `{"email":"`+email+`"}`)) }
	if first, again, unlisted := ask("root2@example.com"), ask(authAdmin), ask(stranger); first != unlisted || again != unlisted {
		t.Fatalf("%s\n%s\n%s", first, again, unlisted)
	}
	for try := range 6 {
		guess := func(email string) authReply {
			return d.ask("POST", "/api/admin/auth/login", `{"email":"`+email+`","code":"not it"}`)
		}
		listed, unlisted := guess(authAdmin), guess(stranger)
		wanted := fault.BadCredential
		if try == 5 {
			wanted = fault.TooManyAttempts
			if listed.header.Get("Retry-After") == "" || unlisted.header.Get("Retry-After") == "" {
				t.Fatal("no Retry-After")
			}
			listed.header.Del("Retry-After") // of codes asked for at two moments
			unlisted.header.Del("Retry-After")
		}
		d.want(wanted, listed)
		if a, b := body(listed), body(unlisted); a != b {
			t.Fatalf("try %d:\n%s\n%s", try+1, a, b)
		}
	}
}

func TestBrowserRequestsOfOtherSitesAreRefused(t *testing.T) {
	d := newAuthServer(t, "https://callgate.example.com")
	_, session, _ := d.signIn("/api/auth", authDeveloper)
	foreign := [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://callgate.example.com"},
		{"Origin", "https://evil.example.com"},
		{"Origin", "http://callgate.example.com"},
		{"Origin", "https://callgate.example.com.evil.com"},
		{"Origin", "null"},
	}
	own := [][]string{
		{"Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "none"},
		{"Origin", "https://callgate.example.com"},
		{"Origin", "http://console.example.com"}, // the host the request came to
		{},
	}
	for _, headers := range foreign {
		for _, path := range []string{"code", "login", "token", "logout"} {
			d.want(fault.BadCredential, d.ask("POST", "/api/auth/"+path, "{}", append(headers, cookieOf(session)...)...))
			d.want(fault.BadCredential, d.ask("POST", "/api/admin/auth/"+path, "{}", headers...))
		}
	}
	for _, headers := range own {
		d.ok(d.ask("POST", "/api/auth/token", "", append(headers, cookieOf(session)...)...), "token", "expiresAt", "user")
	}
}

func TestSignInBodiesAreChecked(t *testing.T) {
	d := newAuthServer(t, "")
	for _, path := range []string{"/api/auth", "/api/admin/auth"} {
		for _, body := range []string{"", "null", "[]", "{", `{"email":null}`, `{"email":7}`, `{}`, `{"email":"no address"}`, "{\"email\":\"\xff@b.c\"}"} {
			d.want(fault.Invalid, d.ask("POST", path+"/code", body))
			d.want(fault.Invalid, d.ask("POST", path+"/login", body))
		}
		got := d.ask("POST", path+"/login", `{"email":"a@b.c"}`)
		d.want(fault.Invalid, got)
		if !strings.Contains(string(got.Data), `"fields":{"code":`) {
			t.Fatalf("the field is not named: %s", got.Data)
		}
		d.want(fault.TooLarge, d.ask("POST", path+"/code", `{"email":"`+strings.Repeat("a", maxBody)+`"}`))
		d.want(fault.MethodNotAllowed, d.ask("GET", path+"/login", ""))
	}
}

func TestConfigurationIsPublic(t *testing.T) {
	d := newAuthServer(t, "https://callgate.example.com")
	data := d.ok(d.ask("GET", "/api/config", ""), "publicBaseUrl", "publicGatewayUrl", "oidc", "version", "statisticsRetentionDays", "callRetentionDays", "failureRetentionDays")
	want := map[string]any{
		"publicBaseUrl": "https://callgate.example.com", "publicGatewayUrl": "https://gateway.example.com", "version": "1.2.3",
		"statisticsRetentionDays": float64(399), "callRetentionDays": float64(399), "failureRetentionDays": float64(30),
		"oidc": map[string]any{"enabled": false, "name": ""},
	}
	if !reflect.DeepEqual(data, want) {
		t.Fatalf("got %v, want %v", data, want)
	}
	d.want(fault.NotFound, d.ask("GET", "/api/auth/oidc/login", ""))
	d.want(fault.NotFound, d.ask("GET", "/api/auth/oidc/callback", ""))
}
