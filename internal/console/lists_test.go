package console

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/uuid"

	"callgate/internal/alerts"
	"callgate/internal/application"
	"callgate/internal/catalog"
	"callgate/internal/fault"
)

// TestAListThatIsTooLongIsRefusedForItsLengthAlone goes over every list that a body may hold: nothing is copied, sorted or
// compared of one that is longer than it may be. The packages it asks have no store here, so none is asked either.
func TestAListThatIsTooLongIsRefusedForItsLengthAlone(t *testing.T) {
	const items, most = 200_000, 32 << 10 // bytes of work that may be allocated: a copy of such a list takes megabytes
	names := make([]string, items)
	for i := range names {
		names[i] = fmt.Sprintf("%d !", items-i) // neither in order nor an identifier, method, path or address
	}
	ctx, owner := t.Context(), uuid.New()
	name := "name"
	applications, capabilities, rules := application.New(nil, nil, nil), catalog.New(nil, nil, false), alerts.New(nil, nil, false, nil)
	members, channels := make([]catalog.Member, items), make([]alerts.ChannelDraft, items)
	capability := func(s catalog.Settings) func() error {
		return func() error { _, err := capabilities.Update(ctx, "admin", "c", s); return err }
	}
	for what, of := range map[string]struct {
		field, says string
		ask         func() error
	}{
		"bindings of a new application": {"capabilityIds", "must name at most 500 capabilities", func() error {
			_, _, err := applications.Create(ctx, owner, application.Draft{Name: name, CapabilityIDs: names})
			return err
		}},
		"bindings": {"capabilityIds", "must name at most 500 capabilities", func() error {
			_, err := applications.Update(ctx, owner, owner, application.Patch{CapabilityIDs: &names})
			return err
		}},
		"addresses of a new key": {"allowedCidrs", "must be at most 50", func() error {
			_, _, err := applications.CreateKey(ctx, owner, owner, "dev", application.KeyEdit{Name: &name, AllowedCIDRs: &names})
			return err
		}},
		"addresses of a key": {"allowedCidrs", "must be at most 50", func() error {
			_, err := applications.UpdateKey(ctx, owner, owner, owner, "dev", application.KeyEdit{AllowedCIDRs: &names})
			return err
		}},
		"channels": {"channels", "must be 1 to 5", func() error {
			_, err := rules.Create(ctx, alerts.Who{Owner: owner}, alerts.Draft{Name: name, Kind: alerts.DayClosed, TargetType: alerts.Account, Channels: channels})
			return err
		}},
		"upstreams of a capability": {"upstreams", "must name at most 10", capability(catalog.Settings{Upstreams: &members})},
		"methods":                   {"allowedMethods", "must be at most 8", capability(catalog.Settings{AllowedMethods: &names})},
		"paths":                     {"allowedPaths", "must be at most 50", capability(catalog.Settings{AllowedPaths: &names})},
		"order of groups": {"ids", "must name at most 10000", func() error {
			_, err := capabilities.OrderGroups(ctx, "admin", names)
			return err
		}},
		"order of capabilities": {"ids", "must name at most 10000", func() error {
			_, err := capabilities.Order(ctx, "admin", "g", names)
			return err
		}},
	} {
		given := names
		names = slices.Clone(given)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := of.ask()
		runtime.ReadMemStats(&after)
		var f *fault.Error
		if !errors.As(err, &f) || f.Fields[of.field] != of.says {
			t.Errorf("%s: %v, want %s: %s", what, err, of.field, of.says)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > most {
			t.Errorf("%s: refusing %d items took %d KiB", what, items, taken>>10)
		}
		if !slices.Equal(names, given) {
			t.Errorf("%s: the list was changed", what)
		}
		names = given
	}
}
