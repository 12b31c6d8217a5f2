package report

import (
	"time"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/limits"
	"callgate/internal/openapi"
)

// LimitSpan is what a limit counts over: the window of what slides, or when counting begins anew.
func LimitSpan(name string, now time.Time) (windowMs *int64, resetsAt *string) {
	switch name {
	case limits.RequestsPerMinute, limits.TokensPerMinute:
		return new(time.Minute.Milliseconds()), nil
	case limits.CallsPerDay, limits.TokensPerDay:
		return nil, new(beijing.Format(beijing.DayOf(now).End()))
	}
	return nil, nil
}

// left is what is left of a limit; nil where what is used is not known.
func left(limit int64, used *int64) *int64 {
	if used == nil {
		return nil
	}
	return new(max(0, limit-*used))
}

// OwnUsage tells the holder of a key what limits hold, and what is used of them.
func OwnUsage(key uuid.UUID, uses []limits.Use, now time.Time) openapi.OwnUsage {
	usage := openapi.OwnUsage{KeyID: key, Limits: make([]openapi.OwnLimitUsage, 0, len(uses))}
	for _, use := range uses {
		one := openapi.OwnLimitUsage{Name: use.Name, Scope: string(use.Scope), Source: string(use.Source),
			Limit: use.Limit, Used: use.Used, Left: left(use.Limit, use.Used)}
		one.WindowMs, one.ResetsAt = LimitSpan(use.Name, now)
		usage.Limits = append(usage.Limits, one)
	}
	return usage
}

// KeyUsage tells what a key uses of its own limits.
func KeyUsage(own limits.Limits, used limits.Usage, now time.Time) []openapi.KeyLimitUsage {
	usage := []openapi.KeyLimitUsage{}
	for name, limit := range own.Each {
		one := openapi.KeyLimitUsage{Name: name, Limit: limit, Used: used.Of(name)}
		one.Left = left(limit, one.Used)
		one.WindowMs, one.ResetsAt = LimitSpan(name, now)
		usage = append(usage, one)
	}
	return usage
}
