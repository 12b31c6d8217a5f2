package calls

// FailureInput is what the gateway knows of a failed call, its secrets included. Whoever hands it over
// in a record must not touch it afterwards; nothing of it is kept once the detail is made.
type FailureInput struct {
	Message          string // our own sentence; empty for errors the upstream answered
	Method           string
	Path             string // what stood after /gateway
	RawQuery         string
	Body             []byte // first bytes of the request body, at least min(BodyBytes, 16,384)
	BodyBytes        int64  // raw bytes read of the request body
	FullyRead        bool   // the body's end was read
	ContentType      string
	UpstreamBody     []byte   // bounded raw copy of an error answer
	UpstreamEncoding string   // Content-Encoding of UpstreamBody
	Secrets          []string // exact values never to be shown
	Hosts            []string // of upstreams, names without a port or addresses: never to be shown in any spelling
}

// Size is the memory an input takes, in bytes.
func (in *FailureInput) Size() int {
	n := len(in.Message) + len(in.Method) + len(in.Path) + len(in.RawQuery) + cap(in.Body) + len(in.ContentType) + cap(in.UpstreamBody)
	for _, secrets := range [...][]string{in.Secrets, in.Hosts} {
		for _, secret := range secrets {
			n += len(secret)
		}
	}
	return n
}
