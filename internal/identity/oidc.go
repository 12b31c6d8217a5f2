package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"callgate/internal/fault"
)

// OIDC is the company's OpenID provider. Its endpoints are discovered at the first sign-in and kept
// until the process ends, so the service starts without it.
type OIDC struct {
	Issuer       string // https, or http on loopback; to the letter as the provider names itself
	ClientID     string
	ClientSecret string
	Name         string   // what the console calls it
	Scopes       []string // besides openid and email
	RedirectURL  string   // our callback, as registered with the provider
	TrustEmail   bool     // take an address of which the provider does not say whether it is verified
}

func (o OIDC) validate() error {
	if o.Issuer == "" {
		return nil
	}
	if !safeURL(o.Issuer) || o.ClientID == "" || o.RedirectURL == "" {
		return errors.New("OpenID sign-in needs an https issuer, a client id and a redirect URL")
	}
	return nil
}

// What a sign-in at the provider can come to, besides success, that its user may be told.
var (
	ErrSignInDenied      = errors.New("the provider did not sign the user in")
	ErrAddressNotAllowed = errors.New("the address is unverified or may not sign in")
)

const (
	attemptTTL      = 10 * time.Minute
	attemptAudience = "callgate-oidc" // of no other token, so neither is taken for the other
	maxNext         = 1024            // bytes
)

// attempt is a sign-in under way. It travels signed in a cookie of the browser that began it, so
// that nobody can finish it elsewhere, and any node can.
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // PKCE (RFC 7636)
	Next     string `json:"next"`
	jwt.RegisteredClaims
}

// OIDCAnswer is what the provider sent the browser back with, and the cookie it brought along.
type OIDCAnswer struct {
	Attempt                    string
	State, Code, Error, Issuer string // parameters state, code, error and iss (RFC 9207)
}

// OIDCName is what the provider is called, and whether there is one.
func (s *Service) OIDCName() (name string, enabled bool) {
	if s.oidc == nil {
		return "", false
	}
	return s.oidc.config.Name, true
}

// StartOIDC gives the provider's address for a sign-in that shall end on the page next, a path of
// ours with one leading slash (else "/"), and the attempt, good for 10 minutes, to be kept in a
// cookie. Fault: Unavailable when the provider cannot be reached.
func (s *Service) StartOIDC(ctx context.Context, next string) (address, cookie string, err error) {
	found, err := s.oidc.discover(ctx)
	if err != nil {
		return "", "", companyAway(err)
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: ownPage(next)}
	a.Issuer, a.Audience = s.config.Issuer, jwt.ClaimStrings{attemptAudience}
	a.ExpiresAt = jwt.NewNumericDate(s.now().Add(attemptTTL))
	cookie, err = s.signClaims(a)
	if err != nil {
		return "", "", fmt.Errorf("sign attempt: %w", err)
	}
	address = found.oauth.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier))
	return address, cookie, nil
}

// FinishOIDC signs in the developer of the verified e-mail that the provider vouches for, and tells
// the page to go on with, also when it fails and the attempt is known. Faults: Unauthenticated when
// this browser has no such attempt, TooManyAttempts for the sixth try of one attempt,
// Unavailable when the provider cannot be reached, else BadCredential, its cause ErrSignInDenied,
// ErrAddressNotAllowed or what was wrong with the answer.
func (s *Service) FinishOIDC(ctx context.Context, answer OIDCAnswer, userAgent string) (in SignIn, next string, err error) {
	var a attempt
	_, err = s.parser.ParseWithClaims(answer.Attempt, &a, s.verificationKey)
	if err != nil || !slices.Equal(a.Audience, []string{attemptAudience}) ||
		subtle.ConstantTimeCompare([]byte(a.State), []byte(answer.State)) != 1 {
		return SignIn{}, "", fault.Wrap(fault.Unauthenticated, err, "this sign-in was not begun here or has expired; begin again")
	}
	now := s.now()
	tries := attemptFailures(a.State)
	switch attempts, err := tries.spend(ctx, s.pool, now); {
	case err != nil:
		return SignIn{}, a.Next, err
	case attempts > tries.most:
		return SignIn{}, a.Next, tooMany(attemptTTL, "too many tries of this sign-in; begin again")
	}
	email, err := s.oidc.prove(ctx, a, answer)
	if err != nil {
		return SignIn{}, a.Next, err
	}
	if !s.mayLogIn(Developer, email) {
		return SignIn{}, a.Next, badAnswer(ErrAddressNotAllowed)
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		in, err = s.open(ctx, tx, Developer, email, userAgent, now)
		return err
	})
	if err != nil {
		return SignIn{}, a.Next, fmt.Errorf("sign in: %w", err)
	}
	return in, a.Next, nil
}

func badAnswer(cause error) error {
	return fault.Wrap(fault.BadCredential, cause, "the company login failed; try again")
}

// provider is the OpenID provider, once discovered.
type provider struct {
	config OIDC
	now    func() time.Time
	log    *slog.Logger

	flight singleflight.Group
	mu     sync.Mutex // guards found
	found  *discovered
}

type discovered struct {
	provider *oidc.Provider
	oauth    oauth2.Config
	tokens   *issuer
}

func (p *provider) known() *discovered {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found
}

// discover reads the provider's metadata, once. Of many that ask at the same time one does it.
func (p *provider) discover(ctx context.Context) (*discovered, error) {
	if found := p.known(); found != nil {
		return found, nil
	}
	done := p.flight.DoChan("", func() (any, error) {
		found, err := p.read()
		if err != nil {
			p.log.Warn("the OpenID provider could not be discovered", "issuer", p.config.Issuer, "error", err)
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found = found
		return nil, nil
	})
	select {
	case result := <-done:
		return p.known(), result.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *provider) read() (*discovered, error) {
	found, err := oidc.NewProvider(withClient(context.Background()), p.config.Issuer)
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	var metadata struct {
		Keys        string   `json:"jwks_uri"`
		AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&metadata); err != nil {
		return nil, fmt.Errorf("provider metadata: %w", err)
	}
	for _, endpoint := range []string{metadata.Keys, found.Endpoint().AuthURL, found.Endpoint().TokenURL} {
		if !safeURL(endpoint) {
			return nil, fmt.Errorf("provider metadata: %q is no https URL", endpoint)
		}
	}
	endpoint := found.Endpoint()
	endpoint.AuthStyle = authStyle(p.config.ClientSecret, metadata.AuthMethods)
	return &discovered{
		provider: found,
		tokens:   newIssuer(p.config.Issuer, p.config.ClientID, metadata.Keys, p.now, p.log),
		oauth: oauth2.Config{
			ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, Endpoint: endpoint,
			RedirectURL: p.config.RedirectURL, Scopes: p.scopes(),
		},
	}, nil
}

// authStyle is how we say at the token endpoint who we are. It must not be found out by trying: a code may be used up by
// the first try.
func authStyle(secret string, methods []string) oauth2.AuthStyle {
	switch {
	case secret == "":
		return oauth2.AuthStyleInParams // the client id alone
	case slices.Contains(methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	case slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	default: // it says nothing that helps: first as it must take it then, in the header
		return oauth2.AuthStyleAutoDetect
	}
}

func (p *provider) scopes() []string {
	scopes := []string{oidc.ScopeOpenID, oidc.ScopeEmail}
	for _, more := range p.config.Scopes {
		if !slices.Contains(scopes, more) {
			scopes = append(scopes, more)
		}
	}
	return scopes
}

// withClient makes the OpenID and OAuth libraries use our client, with its timeout.
func withClient(ctx context.Context) context.Context { return oidc.ClientContext(ctx, providerClient) }

// prove exchanges the answer's code for tokens and returns the e-mail they prove.
func (p *provider) prove(ctx context.Context, a attempt, answer OIDCAnswer) (string, error) {
	switch {
	case answer.Error != "":
		return "", badAnswer(ErrSignInDenied)
	case answer.Code == "":
		return "", badAnswer(errors.New("the provider sent no code"))
	case answer.Issuer != "" && answer.Issuer != p.config.Issuer:
		return "", badAnswer(errors.New("another provider answered"))
	}
	found, err := p.discover(ctx)
	if err != nil {
		return "", companyAway(err)
	}
	ctx = withClient(ctx)
	tokens, err := found.oauth.Exchange(ctx, answer.Code, oauth2.VerifierOption(a.Verifier))
	var refused *oauth2.RetrieveError
	if err != nil && !errors.As(err, &refused) {
		return "", companyAway(fmt.Errorf("exchange code: %w", err))
	}
	if err != nil { // its text may hold the answer's body
		return "", badAnswer(fmt.Errorf("exchange code: status %d, %q", refused.Response.StatusCode, refused.ErrorCode))
	}
	claims, err := found.verified(ctx, a, tokens, p.config.TrustEmail)
	if errors.Is(err, errNoKeys) {
		return "", companyAway(err)
	}
	if err != nil {
		return "", badAnswer(err)
	}
	email, ok := canonicalEmail(claims.Email)
	unsaid := claims.EmailVerified == nil && p.config.TrustEmail
	if !ok || !unsaid && !isTrue(claims.EmailVerified) {
		return "", badAnswer(ErrAddressNotAllowed)
	}
	return email, nil
}

// verified demands an ID token for this very attempt. Where it does not hold the e-mail, or whether that is verified, as some
// providers leave it out, the user info endpoint is asked.
func (d *discovered) verified(ctx context.Context, a attempt, tokens *oauth2.Token, trust bool) (issuerClaims, error) {
	raw, _ := tokens.Extra("id_token").(string)
	token, claims, err := d.tokens.verify(ctx, raw)
	switch {
	case err != nil:
		return claims, fmt.Errorf("id token: %w", err)
	case a.Nonce == "" || subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1:
		return claims, errors.New("id token: made for another sign-in")
	case claims.Authorized != "" && claims.Authorized != d.oauth.ClientID || claims.Authorized == "" && len(token.Audience) > 1:
		return claims, errors.New("id token: made for another client")
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(tokens.AccessToken); err != nil {
			return claims, fmt.Errorf("id token: %w", err)
		}
	}
	if claims.Email != "" && claims.EmailVerified != nil || !safeURL(d.provider.UserInfoEndpoint()) {
		return claims, nil
	}
	said, err := d.userInfo(ctx, token.Subject, tokens)
	switch {
	case err == nil:
		claims.adopt(said)
	case claims.Email == "" || !trust: // else the address is taken without its word
		return claims, fmt.Errorf("user info: %w", err)
	}
	return claims, nil
}

func (d *discovered) userInfo(ctx context.Context, subject string, tokens *oauth2.Token) (said issuerClaims, err error) {
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return said, err
	}
	if info.Subject != subject {
		return said, errors.New("of another user")
	}
	return said, info.Claims(&said)
}

// adopt takes from the user info what an ID token lacks. What one says of an address holds for the same address only.
func (c *issuerClaims) adopt(said issuerClaims) {
	if c.Email == "" {
		c.Email, c.EmailVerified = said.Email, said.EmailVerified
		return
	}
	mine, _ := canonicalEmail(c.Email)
	theirs, ok := canonicalEmail(said.Email)
	if ok && mine == theirs {
		c.EmailVerified = said.EmailVerified
	}
}
