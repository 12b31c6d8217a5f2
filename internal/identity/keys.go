package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"github.com/golang-jwt/jwt/v5"
)

// signingKey is one JWT secret and the kid by which tokens name it.
type signingKey struct {
	id     string
	secret []byte
}

// signingKeys puts the secret that signs first; the former ones only verify what they have signed.
func signingKeys(c Config) []signingKey {
	keys := []signingKey{{keyID(c.JWTSecret), c.JWTSecret}}
	for _, former := range c.FormerJWTSecrets {
		keys = append(keys, signingKey{keyID(former), former})
	}
	return keys
}

// keyID is short and tells nothing of the secret that a token signed with it does not tell as well.
func keyID(secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte("jwt key id"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:8])
}

var errUnknownKey = errors.New("the token names a key that is not ours")

// verificationKey is the secret that a token of ours names. A token without a kid comes from before
// there were any, and may be of each.
func (s *Service) verificationKey(token *jwt.Token) (any, error) {
	named, there := token.Header["kid"]
	if !there {
		all := jwt.VerificationKeySet{}
		for _, key := range s.keys {
			all.Keys = append(all.Keys, key.secret)
		}
		return all, nil
	}
	for _, key := range s.keys {
		if named == key.id {
			return key.secret, nil
		}
	}
	return nil, errUnknownKey
}

// signClaims signs with the first secret.
func (s *Service) signClaims(claims jwt.Claims) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims)
	token.Header["kid"] = s.keys[0].id
	return token.SignedString(s.keys[0].secret)
}
