package gateway

import (
	"bytes"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"callgate/internal/http1"
)

// origin is where an answer came from. The upstream's base URL is for administrators
// only: what an answer tells of it is rewritten to the gateway's path, or does not pass.
type origin struct {
	target *target
	path   []byte // of the call, below the upstream's base URL
	model  string // capability identifier
	via    bool   // the call named it in its path
}

// mark is what names an upstream in a header's value: a name with dots by itself, any other host
// (an address, a word of an internal network) only where a URL names it.
func mark(host string) []byte {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil || !strings.Contains(name, ".") {
		return []byte("//" + host)
	}
	return []byte(name)
}

// rewrites tells whether a field may not go to the caller as it is. Then instead is what it says; a nil
// one means that it does not pass at all.
func (o *origin) rewrites(name, value []byte) (instead []byte, changed bool) {
	switch {
	case http1.EqualFold(name, "location"), http1.EqualFold(name, "content-location"):
		return o.relocated(value), true
	case http1.EqualFold(name, "link"):
		if bytes.IndexByte(value, '<') >= 0 {
			return o.relinked(value), true
		}
	}
	if bytes.Contains(value, o.target.mark) {
		return o.relocated(value), true
	}
	return nil, false
}

// relocated is a URL of the upstream as the gateway's callers can use it, nil when it is none under
// the base URL. The capability goes along: without it the gateway would refuse the call.
func (o *origin) relocated(value []byte) []byte {
	reference, err := url.Parse(string(value))
	if err != nil || len(value) == 0 {
		return nil
	}
	asked, err := url.Parse(o.target.scheme + "://" + o.target.host + o.target.path + string(o.path))
	if err != nil {
		return nil
	}
	full := asked.ResolveReference(reference)
	path, under := strings.CutPrefix(full.EscapedPath(), o.target.path)
	if !under || path != "" && path[0] != '/' || full.Opaque != "" || !sameHost(full, asked) || checkPath([]byte(path)) != nil {
		return nil
	}
	query, _, _ := splitModel([]byte(full.RawQuery), nil)
	out := append(o.base(path), query...)
	if len(query) == 0 {
		out = out[:len(out)-1] // what would lead to it
	}
	if fragment := full.EscapedFragment(); fragment != "" {
		out = append(append(out, '#'), fragment...)
	}
	return out
}

// base is the gateway's address of a path of the upstream, under the root by which the call came, and
// the character after which a query follows.
func (o *origin) base(path string) []byte {
	if o.via {
		return []byte(rootVia + "/" + url.PathEscape(o.model) + path + "?")
	}
	return []byte(root + path + "?model=" + url.QueryEscape(o.model) + "&")
}

// sameHost compares hosts and ports. The scheme may be another: an upstream behind a proxy of its
// own does not know how it was called.
func sameHost(a, b *url.URL) bool {
	if a.Scheme != "http" && a.Scheme != "https" || !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	port := func(u *url.URL) string {
		if u.Port() == "" || u.Port() == "80" || u.Port() == "443" {
			return "default"
		}
		return u.Port()
	}
	return port(a) == port(b)
}

// relinked rewrites every target of a Link header, nil when one is not the upstream's.
func (o *origin) relinked(value []byte) []byte {
	var out []byte
	for {
		before, after, found := bytes.Cut(value, []byte("<"))
		out = append(out, before...)
		if !found {
			return out
		}
		link, rest, closed := bytes.Cut(after, []byte(">"))
		to := o.relocated(link)
		if !closed || to == nil {
			return nil
		}
		out = append(append(append(out, '<'), to...), '>')
		value = rest
	}
}
