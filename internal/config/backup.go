package config

import (
	"fmt"

	"github.com/caarlos0/env/v11"
)

// LoadBackup reads only what `callgate backup` and `callgate restore` need: the stores, how long calls are kept, what
// opens stored keys, and SPOOL_DIR.
func LoadBackup(environ []string) (Config, error) {
	c, err := LoadKeptStores(environ)
	variables := env.ToMap(environ)
	var faults []string
	c.EncryptionKeys, c.AccessKeyPepper, c.SpoolDir = variables["ENCRYPTION_KEYS"], variables["ACCESS_KEY_PEPPER"], variables["SPOOL_DIR"]
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	c.keyringFaults(fault)
	c.pepperFaults(fault)
	return c, with(err, faults)
}
