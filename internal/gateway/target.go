package gateway

import (
	"bytes"
	"errors"
	"net/url"

	"callgate/internal/secret"
)

// The gateway has two roots. What stands after the first goes to the upstream. After
// the second stands a capability first, for programs that take a base URL and nothing else: a root of
// its own, so that no upstream's path is ever taken for one.
const (
	root    = "/gateway"
	rootVia = "/via"
)

// address is a request target in its parts, each as it was sent.
type address struct {
	path  []byte // of the upstream
	query []byte // without its question mark
	via   bool   // the path names the capability
	named []byte // the segment that does
}

// splitTarget cuts a request target as it stood in the request line into its parts. ok is false when
// it is not the gateway's.
func splitTarget(uri []byte) (a address, ok bool) {
	if len(uri) > 0 && uri[0] != '/' { // absolute form, as sent to proxies: scheme://authority/path
		if i := bytes.Index(uri, []byte("://")); i >= 0 {
			uri = uri[i+3:]
			if i = bytes.IndexByte(uri, '/'); i < 0 {
				return address{}, false
			}
			uri = uri[i:]
		}
	}
	a.path, a.query, _ = bytes.Cut(uri, []byte("?"))
	if a.path, a.via = bytes.CutPrefix(a.path, []byte(rootVia)); !a.via {
		a.path, ok = bytes.CutPrefix(a.path, []byte(root))
	}
	switch {
	case !a.via && !ok, len(a.path) > 0 && a.path[0] != '/':
		return address{}, false
	case a.via && len(a.path) > 0:
		a.named, a.path = a.path[1:], nil
		if end := bytes.IndexByte(a.named, '/'); end >= 0 {
			a.named, a.path = a.named[:end], a.named[end:]
		}
	}
	return a, true
}

// model is the identifier that the path of a target under the second root names, decoded once. It goes
// nowhere from here: what it names is found in the catalog or not.
func (a *address) model() string { return string(decode(a.named, false)) }

// asked is the query that says everything a target asks for, with the capability that the path names:
// the same call, written for the first root.
func (a *address) asked() string {
	if !a.via {
		return string(a.query)
	}
	query := "model=" + url.QueryEscape(a.model())
	if len(a.query) > 0 {
		query += "&" + string(a.query)
	}
	return query
}

// splitModel takes the model pairs out of a raw query, and those that tell an Access Key, if the caller's
// is given. rest is the query without them, every other byte as it was; count is how many model pairs there
// were and model the decoded value of the first. A name is compared decoded: a pair spelled mod%65l would
// otherwise reach the upstream as a second opinion on which model is meant.
func splitModel(query, key []byte) (rest []byte, model string, count int) {
	first := true
	for len(query) > 0 {
		pair, after, more := bytes.Cut(query, []byte("&"))
		name, value, _ := bytes.Cut(pair, []byte("="))
		if isModel(name) {
			if count == 0 {
				model = string(unescape(value))
			}
			count++
		} else if len(key) == 0 || !tells(pair, key) {
			if !first {
				rest = append(rest, '&')
			}
			rest = append(rest, pair...)
			first = false
		}
		if query = after; more && len(query) == 0 && !first {
			rest = append(rest, '&') // a trailing separator
		}
	}
	return rest, model, count
}

// tells says whether a pair of a query repeats the caller's Access Key, or has another one, or a management token, where
// Google's clients put theirs. Upstreams are strangers to all of them.
func tells(pair, key []byte) bool {
	plain := unescape(pair)
	if bytes.Contains(pair, key) || bytes.Contains(plain, key) {
		return true
	}
	value, named := bytes.CutPrefix(plain, []byte("key="))
	return named && secret.LooksLikeOurs(value)
}

func isModel(name []byte) bool {
	if bytes.IndexByte(name, '%') < 0 {
		return string(name) == "model"
	}
	return string(unescape(name)) == "model"
}

// unescape decodes a query component, in which a plus is a space.
func unescape(text []byte) []byte { return decode(text, true) }

// decode undoes percent-encoding. A malformed escape stays as it is, like in the servers that are
// lenient: it cannot become the name of a capability either way.
func decode(text []byte, query bool) []byte {
	if bytes.IndexByte(text, '%') < 0 && (!query || bytes.IndexByte(text, '+') < 0) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if b, ok := escaped(text, i); ok {
			out = append(out, b)
			i += 2
		} else if query && text[i] == '+' {
			out = append(out, ' ')
		} else {
			out = append(out, text[i])
		}
	}
	return out
}

// escaped decodes the escape at text[i:], if one stands there.
func escaped(text []byte, i int) (byte, bool) {
	if text[i] != '%' || i+2 >= len(text) {
		return 0, false
	}
	high, low := unhex(text[i+1]), unhex(text[i+2])
	return high<<4 | low, high < 16 && low < 16
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}

var (
	errDotSegment = errors.New("the path must not contain a dot segment")
	errPathByte   = errors.New("the path must not contain a backslash, a control character or a malformed escape")
)

// maxDecoding is how many times over a path may be percent-encoded before it is refused.
const maxDecoding = 4

// checkPath refuses a path that could leave the base path at the upstream, or at anything behind it
// that decodes once more than its neighbour.
func checkPath(path []byte) error {
	for layer := range maxDecoding {
		if err := checkSegments(path); err != nil {
			return err
		}
		decoded, changed, err := decodePath(path, layer)
		if err != nil {
			return err
		}
		if !changed {
			return nil
		}
		path = decoded
	}
	return errPathByte
}

func checkSegments(path []byte) error {
	for len(path) > 0 {
		segment, rest, _ := bytes.Cut(path, []byte("/"))
		path = rest
		// Some servers drop path parameters before they resolve dots: "..;x" is ".." to them.
		segment, _, _ = bytes.Cut(segment, []byte(";"))
		if string(segment) == "." || string(segment) == ".." {
			return errDotSegment
		}
	}
	return nil
}

// decodePath undoes one layer of percent-encoding. A byte that ends lines, separates segments on
// some systems or begins an overlong UTF-8 sequence is refused in any layer.
func decodePath(path []byte, layer int) (decoded []byte, changed bool, err error) {
	for i := 0; i < len(path); i++ {
		c := path[i]
		b, ok := escaped(path, i)
		if c == '%' && !ok && layer == 0 { // in a deeper layer it may stand for itself
			return nil, false, errPathByte
		}
		if ok {
			if !changed {
				decoded, changed = append(make([]byte, 0, len(path)), path[:i]...), true
			}
			c = b
			i += 2
		}
		if c < ' ' || c == 0x7f || c == '\\' || c == 0xc0 || c == 0xc1 || c == '#' && !ok {
			return nil, false, errPathByte
		}
		if changed {
			decoded = append(decoded, c)
		}
	}
	return decoded, changed, nil
}
