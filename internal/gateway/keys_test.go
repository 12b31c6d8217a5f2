package gateway

import (
	"context"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"

	"callgate/internal/access"
	"callgate/internal/calls"
	"callgate/internal/http1"
)

var shownKey = uuid.MustParse("0198a000-0000-4000-8000-000000000003")

// keyRig is a rig whose key ends at an instant and may be used from some networks only; by default calls come from
// the loopback.
func keyRig(t *testing.T, ends time.Time, networks []netip.Prefix, from func(*http1.Exchange) netip.Addr) *rig {
	t.Helper()
	active := access.NewGrant(application, owner, true, 1, "m").OfKey(shownKey, ends, networks...)
	disabled := access.NewGrant(application, owner, false, 1, "m").OfKey(shownKey, ends, networks...)
	return newRig(t, answers(okAnswer), func(c *Config) {
		c.CallerAddress = from
		c.Grant = func(_ context.Context, _ *access.Recent, key []byte) (*access.Grant, error) {
			switch string(key) {
			case goodKey:
				return active, nil
			case "cg-disabled":
				return disabled, nil
			}
			return nil, access.ErrUnknownKey
		}
	})
}

// denied demands a recorded refusal.
func (r *rig) denied(key, code string) {
	r.t.Helper()
	a := r.ask(post("/gateway/v1?model=m", key, "{}"))
	record := r.record()
	if a.StatusCode != 403 || a.Header.Get("X-Callgate-Error") != code || a.Header.Get("X-Call-Id") != record.CallID.String() {
		r.t.Errorf("%s: %d %s", code, a.StatusCode, a.body)
	}
	if record.KeyID != shownKey || record.ReasonType != calls.PermissionDenied || string(record.ReasonCode) != code || record.StatusCode != 403 ||
		record.EndedBy != calls.Denied || record.Model != "m" || record.Failure == nil {
		r.t.Errorf("%s is recorded as %+v", code, record)
	}
}

func TestAKeyIsRefusedFromItsEndOnAndTheRefusalIsItsApplications(t *testing.T) {
	ends := time.Now().Add(300 * time.Millisecond)
	r := keyRig(t, ends, nil, nil)
	conn := r.dial()
	for refused := false; !refused; {
		began := time.Now()
		_, _ = io.WriteString(conn, post("/gateway/v1?model=m", goodKey, "{}"))
		a := readAll(r, conn, 1)[0]
		record := r.record()
		if refused = a.StatusCode == 403; !refused {
			<-r.asked
		}
		if refused != !record.Start.Before(ends.Truncate(time.Millisecond)) || refused && began.Sub(ends) > time.Second {
			t.Fatalf("answered %d, %v after its end", a.StatusCode, record.Start.Sub(ends))
		}
		if record.KeyID != shownKey {
			t.Errorf("recorded as made with %s", record.KeyID)
		}
	}
	r.denied(goodKey, "key_expired")
	r.denied("cg-disabled", "key_expired") // the key comes first: who holds an ended one learns no more
}

func TestAKeyIsRefusedFromElsewhereThanItsNetworks(t *testing.T) {
	loopback, elsewhere := netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")
	r := keyRig(t, time.Time{}, []netip.Prefix{loopback, elsewhere}, nil)
	if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}", "X-Forwarded-For: 203.0.113.7", "X-Real-IP: 203.0.113.7")); a.StatusCode != 200 {
		t.Errorf("from its network: %d %s", a.StatusCode, a.body)
	}
	r.record()
	keyRig(t, time.Time{}, []netip.Prefix{elsewhere}, nil).denied(goodKey, "address_not_allowed")
	unknown := func(*http1.Exchange) netip.Addr { return netip.Addr{} }
	keyRig(t, time.Time{}, []netip.Prefix{loopback}, unknown).denied(goodKey, "address_not_allowed")
	proxied := func(*http1.Exchange) netip.Addr { return netip.MustParseAddr("192.0.2.7") }
	r = keyRig(t, time.Time{}, []netip.Prefix{elsewhere}, proxied)
	if a := r.ask(post("/gateway/v1?model=m", goodKey, "{}")); a.StatusCode != 200 {
		t.Errorf("from its network, through a proxy: %d %s", a.StatusCode, a.body)
	}
	r.record()
}
