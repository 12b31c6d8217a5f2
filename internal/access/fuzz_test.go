package access

import (
	"crypto/sha256"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/secret"
)

// FuzzGrants reads any value from Redis, with and without a tag that is right: only one with it is
// taken, and it is written as it was read.
func FuzzGrants(f *testing.F) {
	pepper := secret.Pepper("a pepper of thirty-two bytes long")
	lookup := sha256.Sum256([]byte("key"))
	grant := NewGrant(uuid.New(), uuid.New(), true, 3, "a", "b").OfKey(uuid.New(), time.UnixMilli(5), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32"))
	whole := encodeGrant(pepper, lookup, reading{grant, 17})
	f.Add(whole)
	f.Add(whole[:len(whole)-tagLength])
	f.Add(append([]byte{encodingVersion}, make([]byte, 40)...))
	f.Fuzz(func(t *testing.T, value []byte) {
		tagged := append(append([]byte{}, value...), grantTag(pepper, lookup, value)...)
		got, ok := decodeGrant(pepper, lookup, tagged)
		if !ok {
			return
		}
		again, ok := decodeGrant(pepper, lookup, encodeGrant(pepper, lookup, got))
		if !ok || !reflect.DeepEqual(got, again) {
			t.Fatalf("%x is read as %+v, and that as %+v", value, got.grant, again.grant)
		}
		if _, ok := decodeGrant(pepper, sha256.Sum256([]byte("other")), tagged); ok {
			t.Fatalf("%x is taken for another key", value)
		}
	})
}
