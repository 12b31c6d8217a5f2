package identity

import (
	"context"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"callgate/internal/fault"
	"callgate/internal/secret"
)

// Token is a signed JWT and the moment it stops being accepted.
type Token struct {
	Value     string
	ExpiresAt time.Time
}

// maxToken bounds what is parsed, in bytes; our own tokens are far smaller.
const maxToken = 4096

type claims struct {
	SessionID string `json:"sid"`
	Email     string `json:"email"`
	jwt.RegisteredClaims
}

// newParser pins the algorithm and demands issuer and expiry. The audience is judged afterwards:
// a developer's token in the back office gets another answer than a bad one.
func newParser(c Config) *jwt.Parser {
	return jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(c.Issuer),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(c.Now),
	)
}

// sign makes a token for the session's principal that does not outlive the session.
func (s *Service) sign(who Principal, sessionExpires time.Time) (Token, error) {
	now := s.now()
	expires := now.Add(s.config.TokenTTL)
	if sessionExpires.Before(expires) {
		expires = sessionExpires
	}
	expires = expires.Truncate(time.Second) // exp has whole seconds
	value, err := s.signClaims(jwt.MapClaims{
		"sub": subject(who), "aud": string(who.Audience), "iss": s.config.Issuer,
		"iat": now.Unix(), "exp": expires.Unix(),
		"sid": who.SessionID.String(), "email": who.Email,
	})
	return Token{Value: value, ExpiresAt: expires}, err
}

// subject is the sub claim: the id of a user, the e-mail of an administrator.
func subject(who Principal) string {
	if who.Audience == Admin {
		return who.Email
	}
	return who.UserID.String()
}

// VerifyToken tells who a Bearer token speaks for: signed by us, unexpired, made for audience, of a
// session that still lives, and, for an administrator, of an address that ADMIN_EMAILS still lists.
// A token of the company's issuer, where one is configured, speaks for the developer of its e-mail, and
// a management token for its owner, within the principal's Access, which the caller has to judge. Faults:
// Unauthenticated without a token, NotAdministrator for a developer's token where an administrator's is
// wanted, Unavailable when the company's keys cannot be had, else BadCredential.
func (s *Service) VerifyToken(ctx context.Context, audience Audience, bearer string) (Principal, error) {
	if bearer == "" {
		return Principal{}, fault.New(fault.Unauthenticated, "sign in first: the token is missing")
	}
	if secret.BeginsLikeToken(bearer) {
		return s.verifyManagementToken(ctx, audience, bearer)
	}
	if s.company != nil && signedByIssuer(bearer) {
		return s.verifyCompanyToken(ctx, audience, bearer)
	}
	if len(bearer) > maxToken {
		return Principal{}, badToken(nil)
	}
	var c claims
	_, err := s.parser.ParseWithClaims(bearer, &c, s.verificationKey)
	if err != nil {
		return Principal{}, badToken(err)
	}
	id, err := uuid.Parse(c.SessionID)
	if err != nil || len(c.Audience) != 1 {
		return Principal{}, badToken(err)
	}
	live, found, err := s.sessionByID(ctx, id)
	if err != nil {
		return Principal{}, err
	}
	if !found || Audience(c.Audience[0]) != live.who.Audience || c.Subject != subject(live.who) {
		return Principal{}, badToken(nil)
	}
	return s.admit(ctx, audience, live)
}

func badToken(cause error) error {
	return fault.Wrap(fault.BadCredential, cause, "the token is invalid or has expired; sign in again")
}
