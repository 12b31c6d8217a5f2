package gateway

import (
	"bytes"
	"errors"
)

// prefix is where the gateway is mounted; what stands after it goes to the upstream.
const prefix = "/gateway"

// splitTarget cuts a request target as it stood in the request line into the path after the prefix
// and the raw query without its question mark. ok is false when it is not the gateway's.
func splitTarget(uri []byte) (path, query []byte, ok bool) {
	if len(uri) > 0 && uri[0] != '/' { // absolute form, as sent to proxies: scheme://authority/path
		if i := bytes.Index(uri, []byte("://")); i >= 0 {
			uri = uri[i+3:]
			if i = bytes.IndexByte(uri, '/'); i < 0 {
				return nil, nil, false
			}
			uri = uri[i:]
		}
	}
	path, query, _ = bytes.Cut(uri, []byte("?"))
	path, ok = bytes.CutPrefix(path, []byte(prefix))
	if !ok || len(path) > 0 && path[0] != '/' {
		return nil, nil, false
	}
	return path, query, true
}

// splitModel takes the model pairs out of a raw query, and those that repeat the secret, if one is
// given. rest is the query without them, every other byte as it was; count is how many model pairs
// there were and model the decoded value of the first. A name is compared decoded: a pair spelled mod%65l would otherwise reach the upstream as a second
// opinion on which model is meant.
func splitModel(query, secret []byte) (rest []byte, model string, count int) {
	first := true
	for len(query) > 0 {
		pair, after, more := bytes.Cut(query, []byte("&"))
		name, value, _ := bytes.Cut(pair, []byte("="))
		if isModel(name) {
			if count == 0 {
				model = string(unescape(value))
			}
			count++
		} else if len(secret) == 0 || !bytes.Contains(pair, secret) && !bytes.Contains(unescape(pair), secret) {
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

func isModel(name []byte) bool {
	if bytes.IndexByte(name, '%') < 0 {
		return string(name) == "model"
	}
	return string(unescape(name)) == "model"
}

// unescape decodes a query component. A malformed escape stays as it is, like in the servers that
// are lenient: it cannot become the name of a capability either way.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '%') < 0 && bytes.IndexByte(text, '+') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if b, ok := escaped(text, i); ok {
			out = append(out, b)
			i += 2
		} else if text[i] == '+' {
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
// that decodes once more than its neighbour (design section 4).
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
