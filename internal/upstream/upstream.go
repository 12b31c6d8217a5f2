// Package upstream says which addresses the platform may call with its keys. The rule is applied
// twice, to the text an administrator saves and to the address a connection is really made to:
// a name that is harmless when saved may resolve to the metadata service when it is dialled.
package upstream

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// MaxURLLength bounds an upstream base URL, in bytes.
const MaxURLLength = 2048

// ErrForbiddenAddress says that an address is not a public one and private ones are not allowed.
var ErrForbiddenAddress = errors.New("address is not public")

// ParseBaseURL reads an upstream base URL: http or https, a host, an optional
// port and path, nothing else. Literal addresses that are not public are refused unless allowPrivate;
// numeric spellings of an IPv4 address other than dotted decimal are always refused. The result has
// no trailing slash. The errors are sentences fit for an administrator and never repeat the text.
func ParseBaseURL(text string, allowPrivate bool) (*url.URL, error) {
	if len(text) > MaxURLLength {
		return nil, fmt.Errorf("the URL is longer than %d bytes", MaxURLLength)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }); i >= 0 {
		return nil, fmt.Errorf("the URL has a space, a control character, a backslash or a non-ASCII character at byte %d", i)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("this is not a URL") // url.Error would repeat the text, with a password in it
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the URL must begin with http:// or https://")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	case u.User != nil:
		return nil, errors.New("the URL must not contain a user name or password")
	case strings.ContainsAny(text, "?#"):
		return nil, errors.New("the URL must not contain a query or a fragment")
	}
	if err := checkPort(u); err != nil {
		return nil, err
	}
	if err := checkHost(strings.ToLower(u.Hostname()), allowPrivate); err != nil {
		return nil, err
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." || strings.Contains(segment, `\`) {
			return nil, errors.New("the path must not contain a dot segment or a backslash")
		}
	}
	u.Host = strings.ToLower(u.Host)
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/")
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// SameOrigin tells whether two base URLs have the same scheme, host and port; the case of letters and
// a port that is the scheme's own make no difference. What is no base URL has no origin.
func SameOrigin(a, b string) bool {
	one, ok := origin(a)
	other, also := origin(b)
	return ok && also && one == other
}

// Origin is the scheme, host and port of a base URL, as https://api.example.com:8443, or "" of what is none.
func Origin(baseURL string) string {
	u, err := ParseBaseURL(baseURL, true)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

func origin(text string) (string, bool) {
	u, err := ParseBaseURL(text, true)
	if err != nil {
		return "", false
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.String() // an IPv6 address has many spellings
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n, err := strconv.Atoi(port) // 0443 is 443
	return fmt.Sprintf("%s://%s %d", u.Scheme, host, n), err == nil
}

func checkPort(u *url.URL) error {
	port := u.Port()
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return errors.New("the port is empty")
		}
		return nil
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return errors.New("the port is not between 1 and 65535")
	}
	return nil
}

func checkHost(host string, allowPrivate bool) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return errors.New("an address with a zone is not allowed")
		}
		if !allowPrivate {
			return checkPublic(addr)
		}
		return nil
	}
	name := strings.TrimSuffix(host, ".")
	if len(name) > 253 {
		return errors.New("the host name is longer than 253 characters")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !validLabel(label) {
			return errors.New("the host name is not valid (letters, digits, - and _ between dots)")
		}
	}
	// Resolvers read 127.1, 0x7f000001, 2130706433 and 0177.0.0.1 as addresses, each in its own way.
	if numeric(labels[len(labels)-1]) {
		return errors.New("write an IPv4 address in dotted decimal")
	}
	if last := labels[len(labels)-1]; last == "localhost" && !allowPrivate {
		return fmt.Errorf("localhost: %w", ErrForbiddenAddress)
	}
	return nil
}

func validLabel(label string) bool {
	if label == "" || len(label) > 63 {
		return false
	}
	for _, c := range []byte(label) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
