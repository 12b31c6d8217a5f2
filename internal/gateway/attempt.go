package gateway

import (
	"bytes"
	"errors"
	"time"

	"callgate/internal/access"
	"callgate/internal/http1"
)

// attempt is one try of a call at an upstream. The next one, if there is any, is another value: nothing of this one
// is left in it (failover.go).
type attempt struct {
	upstream *access.Upstream // the named one chosen; nil: the capability's own
	endpoint *endpoint        // of upstream; nil: the capability's own
	target   *target          // nil until the call may go there
	secret   []byte           // the upstream key
	probe    int64            // the claim to be the call that tries an upstream whose breaker is open; 0: it has none

	out       *[]byte   // what is written next begins here: the head for the upstream, then the caller's
	headBytes int       // of the head for the upstream in out
	parts     headParts // of it

	unconnected bool // no connection was found
	response    http1.Response
	answer      http1.Body
	first       http1.Piece   // of the answer, that came with its head
	firstByte   time.Duration // since the start of the call; negative until the upstream answered
	status      int           // the upstream's; 0 until it answered
}

// errKey says that an upstream's key cannot be used.
var errKey = errors.New("the upstream key cannot be used")

// resolve finds out where the chosen upstream is, and unseals its key.
func (c *call) resolve(u *access.Upstream) (t *target, secret []byte, err error) {
	base, id := c.capability.UpstreamBaseURL, ""
	if u == nil {
		secret, err = c.gateway.config.OpenKey(c.capability)
	} else {
		base, id = u.BaseURL, u.ID
		secret, err = c.gateway.config.OpenUpstreamKey(u)
	}
	if err == nil && bytes.ContainsAny(secret, "\r\n\x00") {
		err = errors.New("the upstream key cannot stand in a header")
	}
	if err != nil {
		c.gateway.sparse.keys.Say(func(held int64) {
			c.gateway.logger.Error("upstream key cannot be used", "call", c.id, "capability", c.capability.ID, "upstream", id, "error", err, "held", held)
		})
		return nil, nil, errKey
	}
	if t, err = c.gateway.upstreams.target(base); err != nil {
		c.gateway.sparse.targets.Say(func(held int64) {
			c.gateway.logger.Warn("upstream may not be called", "call", c.id, "capability", c.capability.ID, "upstream", id, "cause", logged(err), "held", held)
		})
	}
	return t, secret, err
}

// upstreamID is the chosen upstream's, empty for the capability's own.
func (c *call) upstreamID() string {
	if c.upstream == nil {
		return ""
	}
	return c.upstream.ID
}

// auth is how the chosen upstream is sent its key.
func (c *call) auth() string {
	if c.upstream == nil {
		return c.capability.UpstreamAuth
	}
	return c.upstream.Auth
}
