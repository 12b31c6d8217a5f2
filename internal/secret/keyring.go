package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrSealed says that a sealed value cannot be opened: unknown key id, other context, or damage.
var ErrSealed = errors.New("sealed value cannot be opened")

// format is the first byte of every sealed value: version 1 is
// format | len(key id) | key id | 12-byte nonce | AES-256-GCM ciphertext and tag.
const format = 1

var keyID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// Keyring holds the encryption keys: the first one seals, all of them open.
type Keyring struct {
	newest string
	aeads  map[string]cipher.AEAD

	fingerprints map[string]string
}

// ParseKeyring reads ENCRYPTION_KEYS: "id:base64,id:base64,…", every key 32 bytes. The error never
// shows key material.
func ParseKeyring(list string) (*Keyring, error) {
	ring := &Keyring{aeads: map[string]cipher.AEAD{}, fingerprints: map[string]string{}}
	for i, item := range strings.Split(list, ",") {
		id, encoded, ok := strings.Cut(strings.TrimSpace(item), ":")
		if !ok || !keyID.MatchString(id) {
			return nil, fmt.Errorf("key %d is not id:base64 with an id of 1-32 letters, digits, _ or -", i+1)
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("key %q is not 32 bytes in base64 (make one: openssl rand -base64 32)", id)
		}
		if _, taken := ring.aeads[id]; taken {
			return nil, fmt.Errorf("key id %q is given twice", id)
		}
		if ring.aeads[id], err = newAEAD(key); err != nil {
			return nil, fmt.Errorf("key %q: %w", id, err)
		}
		ring.fingerprints[id] = fingerprint("an encryption key", key)
		if i == 0 {
			ring.newest = id
		}
	}
	return ring, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Seal encrypts plain under the newest key. context names table, row and column, so that a sealed
// value cannot be moved to another place.
func (k *Keyring) Seal(plain []byte, context string) []byte {
	aead := k.aeads[k.newest]
	sealed := make([]byte, 0, 2+len(k.newest)+aead.NonceSize()+len(plain)+aead.Overhead())
	sealed = append(sealed, k.prefix()...)
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails (crypto/rand)
	sealed = append(sealed, nonce...)
	return aead.Seal(sealed, nonce, plain, []byte(context))
}

// prefix is how every value under the newest key begins.
func (k *Keyring) prefix() []byte {
	return append([]byte{format, byte(len(k.newest))}, k.newest...)
}

// Open decrypts what Seal made in the same context; the error is ErrSealed.
func (k *Keyring) Open(sealed []byte, context string) ([]byte, error) {
	id, rest, err := split(sealed)
	if err != nil {
		return nil, err
	}
	aead, ok := k.aeads[string(id)]
	if !ok {
		return nil, fmt.Errorf("%w: encryption key %q is not configured", ErrSealed, id)
	}
	if len(rest) < aead.NonceSize() {
		return nil, fmt.Errorf("%w: too short", ErrSealed)
	}
	// Done for every call: context and plain text share one allocation.
	buffer := append(make([]byte, 0, len(context)+len(rest)), context...)
	plain, err := aead.Open(buffer[len(buffer):], rest[:aead.NonceSize()], rest[aead.NonceSize():], buffer)
	if err != nil {
		return nil, fmt.Errorf("%w: wrong context or damaged", ErrSealed)
	}
	return plain, nil
}

// Stale tells whether a sealed value should be sealed again: it is under another key than the newest.
func (k *Keyring) Stale(sealed []byte) bool {
	id, _, err := split(sealed)
	return err != nil || string(id) != k.newest
}

func split(sealed []byte) (id, rest []byte, err error) {
	if len(sealed) < 2 || sealed[0] != format || len(sealed) < 2+int(sealed[1]) {
		return nil, nil, fmt.Errorf("%w: unknown format", ErrSealed)
	}
	end := 2 + int(sealed[1])
	return sealed[2:end], sealed[end:], nil
}

// UpstreamKeyContext is the sealing context of a capability's upstream key.
func UpstreamKeyContext(capabilityID string) string {
	return UpstreamKeys.context(capabilityID)
}

// SharedUpstreamKeyContext is the sealing context of a named upstream's key.
func SharedUpstreamKeyContext(upstreamID string) string {
	return SharedUpstreamKeys.context(upstreamID)
}

// FormerUpstreamKeyContext is the sealing context of the key that a named upstream had before.
func FormerUpstreamKeyContext(upstreamID string) string {
	return FormerUpstreamKeys.context(upstreamID)
}

// AccessKeyContext is the sealing context of an application's first key, its Access Key.
func AccessKeyContext(applicationID string) string {
	return AccessKeys.context(applicationID)
}

// AdditionalKeyContext is the sealing context of another key of an application.
func AdditionalKeyContext(keyID string) string {
	return AdditionalKeys.context(keyID)
}

// AlertURLContext is the sealing context of the URL of an alert's channel.
func AlertURLContext(channelID string) string { return AlertURLs.context(channelID) }

// AlertSecretContext is the sealing context of the secret of an alert's channel.
func AlertSecretContext(channelID string) string { return AlertSecrets.context(channelID) }

// FormerAlertSecretContext is the sealing context of the secret that a channel had before.
func FormerAlertSecretContext(channelID string) string { return FormerAlertSecrets.context(channelID) }
