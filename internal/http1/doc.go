// Package http1 is HTTP/1.1 on either side of a connection: a listener and a server, heads, bodies, chunks and buffers
// (RFC 9112). It knows nothing of what is served with it. Its hard decision is to be strict: whatever two
// servers could read in two ways is refused, on the caller's side and on the upstream's, because a proxy
// that guesses lets one request hide in another.
package http1
