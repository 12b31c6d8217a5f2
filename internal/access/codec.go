package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"net/netip"

	"callgate/internal/secret"
)

// reading is a grant and the time Postgres told when it was read there, in microseconds since 1970:
// not later than the snapshot the grant comes from.
type reading struct {
	grant  *Grant
	readAt int64
}

const (
	encodingVersion  = 2
	tagLength        = 16
	maxEncodedID     = 256    // bytes of a capability id; openapi.yaml allows 64
	maxEncodedGrants = 10_000 // capabilities of one grant; openapi.yaml allows 500
	maxEncodedCIDRs  = 1000   // networks of one key; openapi.yaml allows 50
	maxEncodedCIDR   = 17     // bytes of an address and the length of its prefix
)

// A value in Redis is
// version | application (16) | owner (16) | active | version, readAt, number of capabilities
// (uvarints) | length and bytes of each capability | key (16) | its expiry, number of networks
// (uvarints) | length and bytes of each network | tag (16).
// The tag is an HMAC under the pepper over look-up hash and value: who can write to Redis still
// cannot make a grant or move one to another key, and damage is a miss.
func encodeGrant(pepper secret.Pepper, lookup [sha256.Size]byte, r reading) []byte {
	out := make([]byte, 0, 100+24*len(r.grant.capabilities)+18*len(r.grant.allowed))
	out = append(out, encodingVersion)
	out = append(out, r.grant.ApplicationID[:]...)
	out = append(out, r.grant.OwnerID[:]...)
	if r.grant.Active {
		out = append(out, 1)
	} else {
		out = append(out, 0)
	}
	out = binary.AppendUvarint(out, uint64(r.grant.Version))
	out = binary.AppendUvarint(out, uint64(r.readAt))
	out = binary.AppendUvarint(out, uint64(len(r.grant.capabilities)))
	for _, id := range r.grant.capabilities {
		out = binary.AppendUvarint(out, uint64(len(id)))
		out = append(out, id...)
	}
	out = append(out, r.grant.KeyID[:]...)
	out = binary.AppendUvarint(out, uint64(r.grant.expires))
	out = binary.AppendUvarint(out, uint64(len(r.grant.allowed)))
	for _, network := range r.grant.allowed {
		text, _ := network.MarshalBinary() // never fails (net/netip)
		out = append(binary.AppendUvarint(out, uint64(len(text))), text...)
	}
	return append(out, grantTag(pepper, lookup, out)...)
}

// grantTag cannot be mistaken for a look-up hash of a key: those begin with cg-.
func grantTag(pepper secret.Pepper, lookup [sha256.Size]byte, value []byte) []byte {
	sum := pepper.Lookup("grant\x00" + string(lookup[:]) + string(value))
	return sum[:tagLength]
}

// decodeGrant reads what encodeGrant made for the same key; anything else is not ok.
func decodeGrant(pepper secret.Pepper, lookup [sha256.Size]byte, value []byte) (r reading, ok bool) {
	if len(value) < tagLength+34 || value[0] != encodingVersion {
		return reading{}, false
	}
	body, tag := value[:len(value)-tagLength], value[len(value)-tagLength:]
	if subtle.ConstantTimeCompare(tag, grantTag(pepper, lookup, body)) != 1 {
		return reading{}, false
	}
	grant := &Grant{Active: body[33] == 1}
	copy(grant.ApplicationID[:], body[1:17])
	copy(grant.OwnerID[:], body[17:33])
	in := decoder{rest: body[34:]}
	grant.Version = int64(in.number(1<<63 - 1))
	r = reading{grant: grant, readAt: int64(in.number(1<<63 - 1))}
	grant.capabilities = make([]string, in.number(maxEncodedGrants))
	for i := range grant.capabilities {
		grant.capabilities[i] = in.text(maxEncodedID)
	}
	in.key(grant)
	return r, !in.failed && len(in.rest) == 0
}

// key reads what the grant has of the key that was shown.
func (d *decoder) key(grant *Grant) {
	if len(d.rest) < len(grant.KeyID) {
		d.failed, d.rest = true, nil
		return
	}
	d.rest = d.rest[copy(grant.KeyID[:], d.rest):]
	grant.expires = int64(d.number(1<<63 - 1))
	if n := d.number(maxEncodedCIDRs); n > 0 {
		grant.allowed = make([]netip.Prefix, n)
	}
	for i := range grant.allowed {
		err := grant.allowed[i].UnmarshalBinary([]byte(d.text(maxEncodedCIDR)))
		d.failed = d.failed || err != nil || !grant.allowed[i].IsValid()
	}
}

// decoder reads a value from its front and remembers whether anything did not fit.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) number(limit uint64) uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > limit {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) text(limit uint64) string {
	length := d.number(limit)
	if uint64(len(d.rest)) < length {
		d.failed, d.rest = true, nil
		return ""
	}
	text := string(d.rest[:length])
	d.rest = d.rest[length:]
	return text
}
