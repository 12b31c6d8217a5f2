package secret

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

// FuzzSealedValues opens any bytes: only what was sealed opens, and only in its own context.
func FuzzSealedValues(f *testing.F) {
	ring, err := ParseKeyring("k1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		f.Fatal(err)
	}
	sealed := ring.Seal([]byte("plain"), "here")
	f.Add(sealed, "here")
	f.Add(sealed, "there")
	f.Add(sealed[:len(sealed)-1], "here")
	f.Add([]byte{format, 255, 'k'}, "")
	f.Add([]byte{format, 2, 'k', '1'}, "")
	f.Fuzz(func(t *testing.T, value []byte, context string) {
		_ = ring.Stale(value)
		plain, err := ring.Open(value, context)
		if err == nil && (string(plain) != "plain" || context != "here") {
			t.Fatalf("%x opened as %q in %q", value, plain, context)
		}
	})
}

// FuzzAccessKeys judges any text: a key that was not minted is not well-formed.
func FuzzAccessKeys(f *testing.F) {
	pepper := Pepper("a pepper of thirty-two bytes long")
	body := prefix + strings.Repeat("a", randomLength)
	minted := body + pepper.checksum(body)
	f.Add(minted)
	f.Add(minted[:len(minted)-1] + "é")
	f.Add(prefix + strings.Repeat("\x00", keyLength-len(prefix)))
	f.Fuzz(func(t *testing.T, key string) {
		if pepper.WellFormed(key) && (len(key) != keyLength || !strings.HasSuffix(key, pepper.checksum(key[:keyLength-checksumLength]))) {
			t.Fatalf("%q passes for a key", key)
		}
		if pepper.WellFormed(key) && strings.Contains(Mask(key), key[7:len(key)-4]) {
			t.Fatalf("the mask %s shows the key", Mask(key))
		}
	})
}

// FuzzKeyrings reads any list of keys: what is refused is refused without repeating a key.
func FuzzKeyrings(f *testing.F) {
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	f.Add("a:" + key)
	f.Add("a:" + key + ",b:" + key)
	f.Add("a:" + key + ",a:" + key)
	f.Add("a b:" + key)
	f.Add("a:" + key[1:])
	f.Fuzz(func(t *testing.T, list string) {
		ring, err := ParseKeyring(list)
		if err != nil {
			for part := range strings.SplitSeq(list, ":") {
				if len(part) > 40 && strings.Contains(err.Error(), part) {
					t.Fatalf("the error repeats %q: %v", part, err)
				}
			}
			return
		}
		if plain, err := ring.Open(ring.Seal([]byte("x"), "c"), "c"); err != nil || string(plain) != "x" {
			t.Fatalf("%q opens %q, %v", list, plain, err)
		}
	})
}
