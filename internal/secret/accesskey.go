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
	prefix         = "cg-"
	randomLength   = 43 // base62 digits, 256 bits
	checksumLength = 6  // base62 digits, 35 bits of an HMAC
	keyLength      = len(prefix) + randomLength + checksumLength
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Pepper is ACCESS_KEY_PEPPER, the key of the HMACs that look up and check Access Keys.
type Pepper []byte

// Mint makes a new Access Key: cg-, 43 random base62 digits and a checksum of 6.
func (p Pepper) Mint() string {
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
func (p Pepper) WellFormed(key string) bool {
	if len(key) != keyLength || !strings.HasPrefix(key, prefix) {
		return false
	}
	body, sum := key[:keyLength-checksumLength], key[keyLength-checksumLength:]
	return subtle.ConstantTimeCompare([]byte(sum), []byte(p.checksum(body))) == 1
}

// BeginsLikeAccessKey tells a credential that was meant to be an Access Key from one for somebody else.
func BeginsLikeAccessKey(text []byte) bool { return bytes.HasPrefix(text, []byte(prefix)) }

// LooksLikeAccessKey tells whether text is of the length and the letters of an Access Key, minted here or not.
func LooksLikeAccessKey(text []byte) bool {
	if len(text) != keyLength || !BeginsLikeAccessKey(text) {
		return false
	}
	for _, c := range text[len(prefix):] {
		if strings.IndexByte(alphabet, c) < 0 {
			return false
		}
	}
	return true
}

// Lookup is the HMAC-SHA256 under which a key is stored and cached.
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
func Mask(key string) string {
	if len(key) < keyLength {
		return prefix + "…"
	}
	return key[:len(prefix)+4] + "…" + key[len(key)-4:]
}
