package boot

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// noRetries: PostgreSQL is the next to be asked, sooner than a second try at Redis would answer.
const noRetries = -1

func init() {
	// go-redis prints to stderr by itself during outages; access logs and counts them.
	redis.SetLogger(silent{})
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// openRedis makes the client REDIS_URL asks for: redis:// or rediss:// a single server,
// redis+sentinel://host:port/db?master_name=… sentinels, redis+cluster:// a cluster. It does not connect.
func openRedis(text string) (redis.UniversalClient, error) {
	plain := "redis" + text[max(0, strings.Index(text, "://")):]
	switch {
	case strings.HasPrefix(text, "redis+sentinel://"):
		options, err := redis.ParseFailoverURL(plain)
		if err != nil {
			return nil, fmt.Errorf("REDIS_URL: %w", hideURL(err, text))
		}
		options.ContextTimeoutEnabled, options.MaxRetries = true, noRetries
		return redis.NewFailoverClient(options), nil
	case strings.HasPrefix(text, "redis+cluster://"):
		options, err := redis.ParseClusterURL(plain)
		if err != nil {
			return nil, fmt.Errorf("REDIS_URL: %w", hideURL(err, text))
		}
		options.ContextTimeoutEnabled, options.MaxRetries = true, noRetries
		return redis.NewClusterClient(options), nil
	}
	options, err := redis.ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", hideURL(err, text))
	}
	options.ContextTimeoutEnabled, options.MaxRetries = true, noRetries
	return redis.NewClient(options), nil
}

// hideURL keeps a URL's password out of a parser's message.
func hideURL(err error, text string) error {
	if strings.Contains(err.Error(), "://") || strings.Contains(err.Error(), text) {
		return fmt.Errorf("not a valid URL")
	}
	return err
}
