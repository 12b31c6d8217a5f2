package boot

import (
	"context"
	"crypto/tls"
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

// openRedis makes the client REDIS_URL asks for: redis:// a single server,
// redis+sentinel://host:port/db?master_name=… sentinels, redis+cluster:// a cluster; rediss, before a
// plus too, is the same by TLS. It does not connect.
func openRedis(text string, watch watchTLS) (redis.UniversalClient, error) {
	client, err := newRedis(text, watch)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", hideURL(err, text))
	}
	return client, nil
}

func newRedis(text string, watch watchTLS) (redis.UniversalClient, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	plain, kind, _ := strings.Cut(scheme, "+")
	plain += "://" + rest
	switch kind {
	case "sentinel":
		options, err := redis.ParseFailoverURL(plain)
		if err != nil {
			return nil, err
		}
		options.ContextTimeoutEnabled, options.MaxRetries = true, noRetries
		underOwnNames(options.TLSConfig)
		watch.redis(options.TLSConfig)
		return redis.NewFailoverClient(options), nil
	case "cluster":
		options, err := redis.ParseClusterURL(plain)
		if err != nil {
			return nil, err
		}
		options.ContextTimeoutEnabled, options.MaxRetries = true, noRetries
		underOwnNames(options.TLSConfig)
		watch.redis(options.TLSConfig)
		return redis.NewClusterClient(options), nil
	}
	options, err := redis.ParseURL(text)
	if err != nil {
		return nil, err
	}
	options.ContextTimeoutEnabled, options.MaxRetries = true, noRetries
	watch.redis(options.TLSConfig)
	return redis.NewClient(options), nil
}

// underOwnNames has every server prove the address it is dialled at. The parsers would have all of
// them prove the first one's, which a master behind sentinels, or a cluster's second node, has not.
func underOwnNames(c *tls.Config) {
	if c != nil {
		c.ServerName, c.MinVersion = "", tls.VersionTLS12
	}
}

// redis is watch of Redis' configuration, where somebody watches.
func (watch watchTLS) redis(config *tls.Config) {
	if watch != nil {
		watch("redis", config)
	}
}

// hideURL keeps a URL's password out of a parser's message.
func hideURL(err error, text string) error {
	if strings.Contains(err.Error(), "://") || strings.Contains(err.Error(), text) {
		return fmt.Errorf("not a valid URL")
	}
	return err
}
