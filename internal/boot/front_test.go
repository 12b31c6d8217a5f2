package boot

import (
	"testing"

	"callgate/internal/config"
)

func TestConnectionsLeaveDescriptorsForUpstreamsAndStores(t *testing.T) {
	for _, test := range []struct {
		asked int
		role  config.Role
		files uint64
		most  int
		short bool
	}{
		{0, config.All, 4_096, 1_792, false},
		{0, config.Gateway, 1 << 20, 65_536, false},
		{0, config.Console, 4_096, 3_584, false},
		{0, config.Gateway, 256, 96, false},
		{100, config.Gateway, 4_096, 100, false},
		{65_536, config.Gateway, 4_096, 3_584, true},
		{100_000, config.Gateway, 1<<64 - 1, 100_000, false},
	} {
		most, short := connectionCap(config.Config{MaxConns: test.asked, Role: test.role}, test.files)
		if most != test.most || short != test.short {
			t.Errorf("MAX_CONNS=%d, %s, %d files: %d %v", test.asked, test.role, test.files, most, short)
		}
	}
}
