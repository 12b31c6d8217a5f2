package gateway

import (
	"net/http"
	"strings"

	"callgate/internal/http1"
)

// origins are those whose pages may call the gateway, each with what answers to it say beside; nil: none may. The
// gateway takes no cookie, so an origin is let in by what its page knows, the Access Key, and never by whose browser it is.
type origins map[string]string

// anyOrigin stands for every origin.
const anyOrigin = "*"

// newOrigins makes them of a list of configured ones.
func newOrigins(list []string) origins {
	if len(list) == 0 {
		return nil
	}
	all := make(origins, len(list))
	for _, origin := range list {
		// Without credentials of the browser's a star means every header, those of the upstream too: Retry-After, RateLimit, its
		// request id.
		said := "Access-Control-Allow-Origin: " + origin + "\r\nAccess-Control-Expose-Headers: *\r\n"
		if origin != anyOrigin {
			said += "Vary: Origin\r\n"
		}
		all[origin] = said
	}
	return all
}

// says is what an answer to a request from an origin says beside; nothing to one that may not call.
func (o origins) says(origin []byte) string {
	if len(origin) == 0 || o == nil {
		return ""
	}
	if said, ok := o[string(origin)]; ok {
		return said
	}
	return o[anyOrigin]
}

// Of a preflight (Fetch standard, "CORS-preflight request").
const (
	headerRequestedMethod  = "access-control-request-method"
	headerRequestedHeaders = "access-control-request-headers"
)

// preflightAge is how long a browser may remember the answer, in seconds: browsers take no more than this.
const preflightAge = "7200"

// isPreflight tells whether a browser asks whether a page may call. With no origin configured the gateway answers none, and
// OPTIONS is a method as any other.
func (g *Gateway) isPreflight(x *http1.Exchange, head *requestHead) bool {
	return g.origins != nil && len(head.origin) > 0 && string(x.Method()) == http.MethodOptions && valueOf(&x.Request, headerRequestedMethod) != nil
}

// valueOf is the value of a field, nil where there is none.
func valueOf(r *http1.Request, name string) []byte {
	for _, f := range r.Fields() {
		if http1.EqualFold(r.Name(f), name) {
			return r.Value(f)
		}
	}
	return nil
}

// preflight answers it: it carries no key and is nobody's call. An origin that may not call is not told that it may.
func (g *Gateway) preflight(x *http1.Exchange, said string) (again bool) {
	out := []byte("HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n")
	if said != "" {
		out = append(out, said...)
		out = append(append(append(out, "Access-Control-Allow-Methods: "...), strings.Join(methods[:], ", ")...), "\r\n"...)
		if wanted := valueOf(&x.Request, headerRequestedHeaders); len(wanted) > 0 { // a star would not stand for Authorization
			out = append(append(append(out, "Access-Control-Allow-Headers: "...), wanted...), "\r\n"...)
		}
		out = append(out, "Access-Control-Max-Age: "+preflightAge+"\r\n"...)
	}
	whole := g.passOver(x) // the head is gone with it
	again = whole && !x.Last()
	out = append(appendConnection(out, again, x.Old), "\r\n"...)
	_, err := x.Conn.Write(out)
	if err == nil && !whole {
		x.Linger()
	}
	return again && err == nil
}
