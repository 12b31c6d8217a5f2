package secret

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func key(fill byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, 32))
}

func ring(t *testing.T, list string) *Keyring {
	t.Helper()
	k, err := ParseKeyring(list)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestSealedValueOpensOnlyInItsContext(t *testing.T) {
	k := ring(t, "a:"+key(1))
	sealed := k.Seal([]byte("sk-upstream"), UpstreamKeyContext("gpt"))
	if bytes.Contains(sealed, []byte("sk-upstream")) {
		t.Fatal("sealed value shows the plain text")
	}
	plain, err := k.Open(sealed, UpstreamKeyContext("gpt"))
	if err != nil || string(plain) != "sk-upstream" {
		t.Fatalf("open: %q, %v", plain, err)
	}
	if _, err := k.Open(sealed, UpstreamKeyContext("other")); !errors.Is(err, ErrSealed) {
		t.Fatalf("opened in another row: %v", err)
	}
}

func TestEveryDamagedByteOfASealedValueIsNoticed(t *testing.T) {
	k := ring(t, "a:"+key(1))
	sealed := k.Seal([]byte("value"), "c")
	for i := range sealed {
		damaged := bytes.Clone(sealed)
		damaged[i] ^= 0x40
		if _, err := k.Open(damaged, "c"); !errors.Is(err, ErrSealed) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
		if _, err := k.Open(sealed[:i], "c"); !errors.Is(err, ErrSealed) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestOlderKeysStillOpenAndAreStale(t *testing.T) {
	sealed := ring(t, "old:"+key(1)).Seal([]byte("value"), "c")
	rotated := ring(t, "new:"+key(2)+",old:"+key(1))
	if plain, err := rotated.Open(sealed, "c"); err != nil || string(plain) != "value" {
		t.Fatalf("open under the old key: %q, %v", plain, err)
	}
	if !rotated.Stale(sealed) || rotated.Stale(rotated.Seal([]byte("value"), "c")) {
		t.Fatal("staleness is wrong")
	}
}

func TestKeyringFaultsNeverShowKeys(t *testing.T) {
	for _, list := range []string{"", "noid", "a:c2hvcnQ=", "a:" + key(1) + ",a:" + key(2), "b ad:" + key(1)} {
		_, err := ParseKeyring(list)
		if err == nil {
			t.Fatalf("%q accepted", list)
		}
		if strings.Contains(err.Error(), key(1)) || strings.Contains(err.Error(), "c2hvcnQ") {
			t.Fatalf("the error shows a key: %v", err)
		}
	}
}

func TestMintedKeysAreWellFormedUnderTheirPepperOnly(t *testing.T) {
	pepper, other := Pepper("0123456789abcdef0123456789abcdef"), Pepper("another-pepper-another-pepper-00")
	seen := map[string]bool{}
	for range 1000 {
		k := pepper.Mint()
		if seen[k] || len(k) != keyLength || !pepper.WellFormed(k) || other.WellFormed(k) {
			t.Fatalf("minted key %q is wrong", k)
		}
		seen[k] = true
		changed := []byte(k)
		changed[10] ^= 1
		if pepper.WellFormed(string(changed)) {
			t.Fatalf("changed key %q accepted", changed)
		}
	}
}

func TestMaskShowsFourDigitsAtEachEnd(t *testing.T) {
	k := Pepper("p").Mint()
	if got := Mask(k); got != k[:7]+"…"+k[len(k)-4:] {
		t.Fatalf("mask %q", got)
	}
	if strings.Contains(Mask("short"), "short") {
		t.Fatal("mask shows a short key")
	}
}

func TestAManagementTokenIsNoAccessKey(t *testing.T) {
	pepper, other := Pepper("0123456789abcdef0123456789abcdef"), Pepper("another-pepper-another-pepper-00")
	token, key := pepper.MintToken(), pepper.Mint()
	for text, want := range map[string]bool{
		token: true, key: false, other.MintToken(): false, token + "a": false, token[:len(token)-1]: false, tokenPrefix: false, "": false,
		tokenPrefix + key[len(prefix):]: false, // the checksum covers the beginning
	} {
		if got := pepper.WellFormedToken(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !BeginsLikeToken(token) || BeginsLikeToken(key) || pepper.WellFormed(token) || BeginsLikeAccessKey([]byte(token)) {
		t.Errorf("%q and %q are taken for each other", token, key)
	}
	for text, want := range map[string]bool{token: true, key: true, token[:20]: false, token + "a": false, token[:52] + "-": false, "sk-" + key[3:]: false} {
		if LooksLikeOurs([]byte(text)) != want {
			t.Errorf("%q looks like ours: %v", text, !want)
		}
	}
	if pepper.Lookup(token) == other.Lookup(token) {
		t.Error("two peppers hash a token alike")
	}
	if got := MaskToken(token); got != token[:8]+"…"+token[len(token)-4:] || MaskToken("short") != "cgm-…" {
		t.Errorf("mask %q", got)
	}
}

// TestAnEndUserIsToldFromAnotherAndFromNothingElse: the same id gives the same, under one pepper only.
func TestAnEndUserIsToldFromAnotherAndFromNothingElse(t *testing.T) {
	p, q := Pepper(strings.Repeat("p", 32)), Pepper(strings.Repeat("q", 32))
	one := p.EndUser("ada@example.com")
	if one != p.EndUser("ada@example.com") || one == p.EndUser("eve@example.com") || one == q.EndUser("ada@example.com") || len(one) != 32 || strings.Contains(one, "ada") {
		t.Errorf("%q", one)
	}
}
