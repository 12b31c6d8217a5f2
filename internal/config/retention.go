package config

import (
	"cmp"
	"fmt"

	"github.com/caarlos0/env/v11"

	"callgate/internal/retention"
)

// LoadKeptStores is LoadStores with how long calls are kept, for commands to which it matters.
func LoadKeptStores(environ []string) (Config, error) {
	c, err := LoadStores(environ)
	var kept struct {
		Statistics int `env:"STATISTICS_RETENTION_DAYS" envDefault:"399"`
		Calls      int `env:"CALL_RETENTION_DAYS" envDefault:"0"`
		Failures   int `env:"FAILURE_RETENTION_DAYS" envDefault:"30"`
	}
	if parsed := env.ParseWithOptions(&kept, env.Options{Environment: env.ToMap(environ)}); parsed != nil {
		return c, with(err, []string{"STATISTICS_RETENTION_DAYS, CALL_RETENTION_DAYS and FAILURE_RETENTION_DAYS must be numbers of days"})
	}
	c.StatisticsRetention, c.CallRetention, c.FailureRetention = kept.Statistics, kept.Calls, kept.Failures
	var faults []string
	c.Retention().Faults(func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) })
	return c, with(err, faults)
}

// Retention is how long calls are kept.
func (c *Config) Retention() retention.Days {
	return retention.Days{Statistics: c.StatisticsRetention, Calls: cmp.Or(c.CallRetention, c.StatisticsRetention), Failures: c.FailureRetention}
}
