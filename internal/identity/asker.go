package identity

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// BrowserCookieTTL is how long a browser that has signed in is known.
const BrowserCookieTTL = 180 * day

const nonceSize = 43 // characters of 32 random bytes in base64url

// Asker is who asks for a code. The code is good for this asker alone, and so is what is counted
// against it: a stranger can neither guess at the code somebody else was mailed nor use up its tries.
type Asker struct {
	network string // where the request came from, see Network
	name    string // under which its codes are kept
	tag     string // of the address that this browser has signed in with; empty: none that is proven
}

// Program is a client without cookies: all of them in one network are one asker.
func Program(clientIP string) Asker {
	network := Network(clientIP)
	return Asker{network: network, name: "program " + network}
}

// Browser is the browser that holds cookie. made is the cookie to give it when it holds none that is
// good: a nonce. After a sign-in it gets another one, which also proves the address it signed in with.
func (s *Service) Browser(audience Audience, clientIP, cookie string) (asker Asker, made string) {
	nonce, proof, proven := strings.Cut(cookie, ".")
	if len(nonce) != nonceSize {
		nonce, proven = newNonce(), false
		made = nonce
	}
	asker = Asker{network: Network(clientIP), name: "browser " + encoded(digest(nonce))}
	if tag, mac, ok := strings.Cut(proof, "."); proven && ok {
		for _, key := range s.keys {
			if hmac.Equal([]byte(mac), []byte(key.browserMAC(audience, nonce, tag))) {
				asker.tag = tag
			}
		}
	}
	return asker, made
}

// Key is under which the requests of an asker are limited before it is known for which address: its
// network, or, of a browser that has signed in before, itself. So a flood from a network does not keep
// those out whom it has let in before.
func (a Asker) Key() string {
	if a.tag != "" {
		return a.name
	}
	return a.network
}

// knows tells whether the asker is a browser that has signed in with this address before.
func (s *Service) knows(a Asker, email string) bool {
	for _, key := range s.keys {
		if a.tag != "" && hmac.Equal([]byte(a.tag), []byte(key.addressTag(email))) {
			return true
		}
	}
	return false
}

// provenBrowser is the cookie of a browser that has signed in with email. The nonce is a new one: one
// that was planted in the browser from elsewhere ends here.
func (s *Service) provenBrowser(audience Audience, email string) string {
	nonce, key := newNonce(), s.keys[0]
	tag := key.addressTag(email)
	return strings.Join([]string{nonce, tag, key.browserMAC(audience, nonce, tag)}, ".")
}

func (k signingKey) addressTag(email string) string {
	return encoded(k.mac("address of a browser", email)[:16])
}

func (k signingKey) browserMAC(audience Audience, nonce, tag string) string {
	return encoded(k.mac("known browser", string(audience), nonce, tag))
}

// mac binds parts, none of which holds a NUL, under the key.
func (k signingKey) mac(parts ...string) []byte {
	mac := hmac.New(sha256.New, k.secret)
	_, _ = mac.Write([]byte(strings.Join(parts, "\x00")))
	return mac.Sum(nil)
}

func newNonce() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return encoded(raw)
}

func digest(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

func encoded(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
