package secret

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
)

const (
	prefix         = "cg-"  // of an Access Key
	tokenPrefix    = "cgm-" // of a management token
	randomLength   = 43     // base62 digits, 256 bits
	checksumLength = 6      // base62 digits, 35 bits of an HMAC
	digitsLength   = randomLength + checksumLength
	keyLength      = len(prefix) + digitsLength
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Pepper is ACCESS_KEY_PEPPER, the key of the HMACs that look up and check Access Keys and management tokens.
type Pepper []byte

// Mint makes a new Access Key: cg-, 43 random base62 digits and a checksum of 6.
func (p Pepper) Mint() string { return p.mint(prefix) }

// MintToken makes a new management token: as an Access Key, but with cgm- at its beginning.
func (p Pepper) MintToken() string { return p.mint(tokenPrefix) }

func (p Pepper) mint(prefix string) string {
	digits := make([]byte, 0, randomLength)
	buffer := make([]byte, 64)
	for len(digits) < randomLength {
		_, _ = rand.Read(buffer) // never fails (crypto/rand)
		for _, b := range buffer {
			// 248 is the largest multiple of 62 in a byte: above it digits would be biased.
			if b < 248 && len(digits) < randomLength {
				digits = append(digits, alphabet[b%62])
			}
		}
	}
	body := prefix + string(digits)
	return body + p.checksum(body)
}

// WellFormed tells whether key could have been minted under this pepper, without asking a store.
func (p Pepper) WellFormed(key string) bool { return p.wellFormed(prefix, key) }

// WellFormedToken tells so of a management token.
func (p Pepper) WellFormedToken(token string) bool { return p.wellFormed(tokenPrefix, token) }

func (p Pepper) wellFormed(prefix, text string) bool {
	if len(text) != len(prefix)+digitsLength || !strings.HasPrefix(text, prefix) {
		return false
	}
	end := len(text) - checksumLength
	return subtle.ConstantTimeCompare([]byte(text[end:]), []byte(p.checksum(text[:end]))) == 1
}

// BeginsLikeToken tells a credential that was meant to be a management token from any other.
func BeginsLikeToken(text string) bool { return strings.HasPrefix(text, tokenPrefix) }

// BeginsLikeAccessKey tells a credential that was meant to be an Access Key from one for somebody else.
func BeginsLikeAccessKey(text []byte) bool { return bytes.HasPrefix(text, []byte(prefix)) }

// LooksLikeOurs tells whether text is of the length and the letters of an Access Key or a management token, minted here or not.
func LooksLikeOurs(text []byte) bool {
	for _, prefix := range [...]string{prefix, tokenPrefix} {
		if digits, ok := bytes.CutPrefix(text, []byte(prefix)); ok && len(digits) == digitsLength {
			return len(bytes.Trim(digits, alphabet)) == 0
		}
	}
	return false
}

// Lookup is the HMAC-SHA256 under which a key or a management token is stored and found.
func (p Pepper) Lookup(key string) [sha256.Size]byte {
	return p.mac("lookup\x00", key)
}

// EndUser is what is kept of the id that a caller gives its user: the same for the same id, and nothing that anybody without the
// pepper could tell it from.
func (p Pepper) EndUser(id string) string {
	sum := p.mac("end user\x00", id)
	return hex.EncodeToString(sum[:16])
}

func (p Pepper) checksum(body string) string {
	mac := p.mac("checksum\x00", body)
	var sum [checksumLength]byte
	var n uint64
	for _, b := range mac[:8] {
		n = n<<8 | uint64(b)
	}
	for i := range sum {
		sum[i] = alphabet[n%62]
		n /= 62
	}
	return string(sum[:])
}

func (p Pepper) mac(purpose, text string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, p)
	_, _ = h.Write([]byte(purpose))
	_, _ = h.Write([]byte(text))
	h.Sum(sum[:0])
	return sum
}

// Mask shows the beginning and the end of an Access Key: cg-Ab12…wxyz.
func Mask(key string) string { return mask(prefix, key) }

// MaskToken shows the beginning and the end of a management token: cgm-Ab12…wxyz.
func MaskToken(token string) string { return mask(tokenPrefix, token) }

func mask(prefix, text string) string {
	if len(text) < len(prefix)+digitsLength {
		return prefix + "…"
	}
	return text[:len(prefix)+4] + "…" + text[len(text)-4:]
}
