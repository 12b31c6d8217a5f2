package identity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

// CompanyTokens names an issuer whose access tokens open the console for the developer of their
// e-mail. All three are needed. Such a token has no session here: it ends by its own expiry.
type CompanyTokens struct {
	JWKSURL  string // where the issuer publishes its keys: https, or http on loopback
	Issuer   string // iss claim, to the letter
	Audience string // must be in the aud claim
}

func (c CompanyTokens) validate() error {
	if c == (CompanyTokens{}) {
		return nil
	}
	if c.Issuer == "" || c.Audience == "" || !safeURL(c.JWKSURL) {
		return errors.New("company tokens need an https key set URL, an issuer and an audience")
	}
	return nil
}

// safeURL tells whether what is fetched there cannot be changed on its way.
func safeURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

const (
	maxIssuerToken = 8192        // bytes; tokens of others carry more claims than ours
	clockLeeway    = time.Minute // the clocks of an issuer and ours may differ by
)

// issuer verifies the tokens of somebody else.
type issuer struct {
	keys     *keySet
	verifier *oidc.IDTokenVerifier
	now      func() time.Time
}

func newIssuer(name, audience, keysURL string, now func() time.Time, log *slog.Logger) *issuer {
	keys := &keySet{url: keysURL, now: now, log: log}
	algorithms := make([]string, len(issuerAlgorithms))
	for i, algorithm := range issuerAlgorithms {
		algorithms[i] = string(algorithm)
	}
	return &issuer{keys: keys, now: now, verifier: oidc.NewVerifier(name, keys, &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: algorithms,
		SkipExpiryCheck: true, // times are checked below, with one leeway for all of them
	})}
}

// signedByIssuer tells whether the header names an algorithm that only others use.
func signedByIssuer(token string) bool {
	header, _, _ := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(header)
	var named struct {
		Algorithm jose.SignatureAlgorithm `json:"alg"`
	}
	return err == nil && json.Unmarshal(raw, &named) == nil && slices.Contains(issuerAlgorithms, named.Algorithm)
}

// issuerClaims are the claims of others that we read.
type issuerClaims struct {
	NotBefore     *float64 `json:"nbf"`
	Email         string   `json:"email"`
	EmailVerified any      `json:"email_verified"` // some issuers send it as text
	Authorized    string   `json:"azp"`
}

// verify demands the issuer's signature, its name, our audience and a time between nbf and exp.
// Without any keys the error is errNoKeys.
func (i *issuer) verify(ctx context.Context, raw string) (*oidc.IDToken, issuerClaims, error) {
	var c issuerClaims
	if len(raw) > maxIssuerToken {
		return nil, c, errors.New("the token is too long")
	}
	if _, err := i.keys.current(ctx); err != nil { // the verifier does not pass this error on
		return nil, c, err
	}
	token, err := i.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, c, err
	}
	if err := token.Claims(&c); err != nil {
		return nil, c, fmt.Errorf("claims: %w", err)
	}
	now := i.now()
	switch {
	case token.Subject == "":
		return nil, c, errors.New("the token has no subject")
	case !now.Before(token.Expiry.Add(clockLeeway)): // the zero time when there is no exp
		return nil, c, errors.New("the token has expired")
	case token.IssuedAt.After(now.Add(clockLeeway)):
		return nil, c, errors.New("the token was issued in the future")
	case c.NotBefore != nil && *c.NotBefore > float64(now.Add(clockLeeway).Unix()):
		return nil, c, errors.New("the token is not valid yet")
	}
	return token, c, nil
}

// verifyCompanyToken lets in the developer of the token's e-mail, who is made at the first time.
func (s *Service) verifyCompanyToken(ctx context.Context, audience Audience, bearer string) (Principal, error) {
	_, claims, err := s.company.verify(ctx, bearer)
	if errors.Is(err, errNoKeys) {
		return Principal{}, companyAway(err)
	}
	if err != nil {
		return Principal{}, badToken(err)
	}
	email, ok := canonicalEmail(claims.Email)
	if !ok || claims.EmailVerified != nil && !isTrue(claims.EmailVerified) || !s.mayLogIn(Developer, email) {
		return Principal{}, badToken(errors.New("the token's e-mail is absent, unverified or of a domain that may not sign in"))
	}
	if audience == Admin {
		return Principal{}, notAdministrator()
	}
	id, err := s.userByEmail(ctx, email)
	if err != nil {
		return Principal{}, err
	}
	return Principal{UserID: id, Email: email, Audience: Developer}, nil
}

// isTrue reads a claim that should be a boolean.
func isTrue(claim any) bool { return claim == true || claim == "true" }

// userByEmail only reads when the user exists, as it does on every request but the first.
func (s *Service) userByEmail(ctx context.Context, email string) (id uuid.UUID, err error) {
	err = s.pool.QueryRow(ctx, `SELECT id FROM users WHERE email = $1`, email).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return userOf(ctx, s.pool, email, s.now())
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("read user: %w", err)
	}
	return id, nil
}

func companyAway(cause error) error {
	return &fault.Error{Kind: fault.Unavailable, Message: "the company login cannot be reached; try again shortly", RetryAfter: providerTimeout, Cause: cause}
}

// ownPage is next when it leads to a page of ours, else "/". A second slash or a backslash names
// another host, and browsers drop control characters between the two.
func ownPage(next string) string {
	odd := func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || len(next) > maxNext || strings.ContainsFunc(next, odd) {
		return "/"
	}
	return next
}
