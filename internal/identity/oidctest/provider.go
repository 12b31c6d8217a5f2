// Package oidctest is an OpenID provider on loopback for tests: real keys and real endpoints, and
// what a faulty or hostile one would do where a test asks for it.
package oidctest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
)

// ClientID and ClientSecret are the one client the provider knows.
const (
	ClientID     = "callgate-test"
	ClientSecret = "secret of the test client"
)

// Key is one of the provider's key pairs.
type Key struct {
	ID      string
	Private crypto.Signer
}

// Provider is the server. The fields may be changed between requests, under its lock with Change.
type Provider struct {
	URL string

	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex
	grants  map[string]url.Values // by code: the parameters of its authorization
	fetches int

	Keys     []Key
	Claims   map[string]any // of ID tokens, over the ordinary ones; nil removes one
	UserInfo map[string]any // nil: it is not told
	Denies   bool           // the user says no
	Down     bool           // every request but authorization is answered 503
	Methods  []string       // token_endpoint_auth_methods_supported; nil: not said
	Takes    string         // the one of them that it takes; a code that comes with another is used up. Empty: any
	Public   bool           // the client has no secret
	Now      func() time.Time
}

// New starts a provider whose user has the address email; it ends with the test.
func New(t testing.TB, email string) *Provider {
	t.Helper()
	p := &Provider{
		t: t, grants: map[string]url.Values{}, Now: time.Now,
		Claims: map[string]any{"email": email, "email_verified": true},
		Keys:   []Key{NewRSA(t, "rsa-1"), NewEC(t, "ec-1")},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.up(p.discovery))
	mux.HandleFunc("GET /keys", p.up(p.keys))
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.up(p.token))
	mux.HandleFunc("GET /userinfo", p.up(p.userInfo))
	p.server = httptest.NewServer(mux)
	p.URL = p.server.URL
	t.Cleanup(p.server.Close)
	return p
}

// NewRSA makes a key for RS256.
func NewRSA(t testing.TB, id string) Key {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return Key{id, private}
}

// NewEC makes a key for ES256.
func NewEC(t testing.TB, id string) Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return Key{id, private}
}

// Change runs f while no request is served.
func (p *Provider) Change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// Fetches is how often the key set was asked for.
func (p *Provider) Fetches() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches
}

// Sign makes a token with the key, by the algorithm of its type.
func (k Key) Sign(t testing.TB, claims map[string]any) string {
	t.Helper()
	var method jwt.SigningMethod = jwt.SigningMethodRS256
	if _, ec := k.Private.(*ecdsa.PrivateKey); ec {
		method = jwt.SigningMethodES256
	}
	token := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	if k.ID != "" {
		token.Header["kid"] = k.ID
	}
	value, err := token.SignedString(k.Private)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// Browse does what a browser does with the address of an authorization: it returns where the
// provider sends it.
func (p *Provider) Browse(address string) *url.URL {
	p.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(address)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	back, err := response.Location()
	if err != nil {
		p.t.Fatalf("the provider answered %d", response.StatusCode)
	}
	return back
}

func (p *Provider) up(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.Down {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		h(w, r)
	}
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	metadata := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "userinfo_endpoint": p.URL + "/userinfo",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256"},
	}
	if p.Methods != nil {
		metadata["token_endpoint_auth_methods_supported"] = p.Methods
	}
	answer(w, http.StatusOK, metadata)
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.fetches++
	set := []any{map[string]any{"kty": "OKP", "crv": "Ed448", "x": "AA", "kid": "of a kind nobody here knows"}}
	for _, key := range p.Keys {
		set = append(set, jose.JSONWebKey{Key: key.Private.Public(), KeyID: key.ID, Use: "sig"})
	}
	answer(w, http.StatusOK, map[string]any{"keys": set})
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := r.URL.Query()
	if asked.Get("client_id") != ClientID || asked.Get("response_type") != "code" || asked.Get("code_challenge_method") != "S256" ||
		asked.Get("state") == "" || asked.Get("nonce") == "" || !slices.Contains(strings.Fields(asked.Get("scope")), "openid") {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {asked.Get("state")}, "iss": {p.URL}}
	if p.Denies {
		back.Set("error", "access_denied")
		back.Set("error_description", "canary detail")
	} else {
		code := rand.Text()
		p.grants[code] = asked
		back.Set("code", code)
	}
	w.Header().Set("Location", asked.Get("redirect_uri")+"?"+back.Encode())
	w.WriteHeader(http.StatusFound)
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	plainID, _ := url.QueryUnescape(id)
	plainSecret, _ := url.QueryUnescape(secret)
	method := "client_secret_post"
	switch {
	case basic:
		method = "client_secret_basic"
	case secret == "":
		method = "none"
	}
	if p.Takes != "" && p.Takes != method {
		delete(p.grants, r.PostFormValue("code"))
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	if plainID != ClientID || plainSecret != ClientSecret && (!p.Public || secret != "") {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	code := r.PostFormValue("code")
	asked, known := p.grants[code]
	delete(p.grants, code)
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "canary detail"})
		return
	}
	const access = "an access token"
	hash := sha256.Sum256([]byte(access))
	now := p.Now()
	claims := map[string]any{
		"iss": p.URL, "aud": ClientID, "sub": "user-1", "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"nonce": asked.Get("nonce"), "at_hash": base64.RawURLEncoding.EncodeToString(hash[:16]),
	}
	maps.Copy(claims, p.Claims)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	answer(w, http.StatusOK, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": p.Keys[0].Sign(p.t, claims),
	})
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer an access token" {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_token"})
		return
	}
	if p.UserInfo == nil {
		answer(w, http.StatusForbidden, map[string]any{"error": "insufficient_scope"})
		return
	}
	answer(w, http.StatusOK, p.UserInfo)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
