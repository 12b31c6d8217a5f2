package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"
)

const (
	providerTimeout = 5 * time.Second  // of one request to an issuer or provider
	keysFresh       = 10 * time.Minute // then they are fetched again
	keysKept        = time.Hour        // how long known keys are used while the issuer is away
	keysRetry       = 30 * time.Second // between two fetches, whatever tokens name
	maxKeys         = 1 << 20          // bytes of a key set
)

// issuerAlgorithms are the ones tokens of others may be signed with. None is symmetric, so a public
// key is never taken for a secret.
var issuerAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

var (
	errNoKeys    = errors.New("the issuer's keys cannot be had")
	errNotSigned = errors.New("no key of the issuer has signed the token")
)

// keySet is the public keys of an issuer (RFC 7517), kept in memory. They are fetched again every 10
// minutes, so that a key that was withdrawn stops within that time, and when a token names a key
// that is not among them, so that a new key works at once; but never twice within 30 s, so that
// made-up key ids cost the issuer nothing. It is an oidc.KeySet.
type keySet struct {
	url string
	now func() time.Time
	log *slog.Logger

	flight singleflight.Group

	mu        sync.Mutex // guards what follows
	keys      []jose.JSONWebKey
	fetchedAt time.Time
	triedAt   time.Time
}

var providerClient = &http.Client{Timeout: providerTimeout}

// VerifySignature returns the payload of a token that one of the keys has signed.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, issuerAlgorithms)
	if err != nil {
		return nil, fmt.Errorf("parse token: %w", err)
	}
	keys, err := k.current(ctx)
	if err != nil {
		return nil, err
	}
	if payload, ok := verifiedBy(keys, signed); ok {
		return payload, nil
	}
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	keys, _ = k.known()
	if payload, ok := verifiedBy(keys, signed); ok {
		return payload, nil
	}
	return nil, errNotSigned
}

// verifiedBy tries the keys the token may be signed with: of its id, when it names one, and of the
// very type its algorithm wants.
func verifiedBy(keys []jose.JSONWebKey, signed *jose.JSONWebSignature) ([]byte, bool) {
	header := signed.Signatures[0].Protected
	for _, key := range keys {
		if header.KeyID != "" && header.KeyID != key.KeyID || !suits(key, header.Algorithm) {
			continue
		}
		if payload, err := signed.Verify(key.Key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

func suits(key jose.JSONWebKey, algorithm string) bool {
	if key.Use != "" && key.Use != "sig" || key.Algorithm != "" && key.Algorithm != algorithm {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return algorithm == string(jose.RS256) && public.Size() >= 2048/8
	case *ecdsa.PublicKey:
		return algorithm == string(jose.ES256) && public.Curve == elliptic.P256()
	}
	return false
}

// current returns keys that may be used, fetched anew when they are no longer fresh.
func (k *keySet) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	keys, age := k.known()
	if keys != nil && age < keysFresh {
		return keys, nil
	}
	if err := k.refresh(ctx); err != nil {
		return nil, err
	}
	if keys, age = k.known(); keys == nil || age >= keysKept {
		return nil, errNoKeys
	}
	return keys, nil
}

func (k *keySet) known() (keys []jose.JSONWebKey, age time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys, k.now().Sub(k.fetchedAt)
}

// refresh waits for a fetch, of which there is one at a time. That a fetch failed is not its error:
// what is known then decides.
func (k *keySet) refresh(ctx context.Context) error {
	done := k.flight.DoChan("", func() (any, error) { k.fetch(); return nil, nil })
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errNoKeys, ctx.Err())
	}
}

func (k *keySet) fetch() {
	k.mu.Lock()
	early := !k.triedAt.IsZero() && k.now().Sub(k.triedAt) < keysRetry
	k.mu.Unlock()
	if early {
		return
	}
	keys, err := fetchKeys(k.url)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.triedAt = k.now()
	if err != nil {
		k.log.Warn("the issuer's keys could not be fetched", "url", k.url, "error", err, "known", len(k.keys))
		return
	}
	k.keys, k.fetchedAt = keys, k.triedAt
}

func fetchKeys(url string) ([]jose.JSONWebKey, error) {
	response, err := providerClient.Get(url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	return readKeys(io.LimitReader(response.Body, maxKeys))
}

// readKeys skips keys of kinds it does not know: an issuer may publish more than we use.
func readKeys(from io.Reader) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(from).Decode(&set); err != nil {
		return nil, fmt.Errorf("decode key set: %w", err)
	}
	keys := make([]jose.JSONWebKey, 0, len(set.Keys))
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
