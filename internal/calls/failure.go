package calls

import (
	"fmt"
	"mime"
	"strings"
)

// maxBody is the size in bytes up to which a request body is kept, raw and after redaction.
const maxBody = 16_384

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

// Redact makes the failure's detail of what is known of the call, which is forgotten. It fails only
// by a fault of its own: then the detail says no more than why the call failed.
func (r *Record) Redact() (err error) {
	in := r.Unredacted
	if in == nil {
		return nil
	}
	r.Unredacted = nil
	defer func() {
		if p := recover(); p != nil { // an input nobody thought of must not cost the record
			r.Failure = &Failure{Message: cut(in.Message, maxMessage), BodyNote: NotFullyRead}
			err = fmt.Errorf("panic in the redaction: %v", p)
		}
	}()
	r.Failure = NewFailure(*in)
	return nil
}

// NewFailure makes the detail that is kept of a failed call: redacted and bounded as openapi.yaml
// says of getCall. It never fails: what cannot be kept leaves a note.
func NewFailure(in FailureInput) *Failure {
	r := redactors.Get().(*redactor)
	defer r.release()
	r.exact.reset(in.Secrets, in.Hosts)
	f := &Failure{
		Message: r.message(in),
		Method:  cut(r.text(in.Method), 32),
		Path:    bound(r.path(in.Path), maxString),
		Query:   r.query(in.RawQuery),
	}
	f.RequestBody, f.BodyNote = r.body(in)
	return f
}

// body returns the redacted request body, or the first reason that holds for keeping none.
func (r *redactor) body(in FailureInput) ([]byte, BodyNote) {
	switch {
	case !in.FullyRead:
		return nil, NotFullyRead
	case in.BodyBytes > maxBody:
		return nil, TooLarge
	case in.BodyBytes == 0:
		return nil, Empty
	case !mayBeJSON(in.ContentType):
		return nil, NotJSON
	}
	kept, err := r.document(in.Body)
	if err != nil {
		return nil, InvalidJSON
	}
	return kept, ""
}

// mayBeJSON tells whether a Content-Type announces JSON. Without one the body itself decides.
func mayBeJSON(contentType string) bool {
	if strings.TrimSpace(contentType) == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		// A broken parameter says nothing against the type itself.
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		media = strings.TrimSpace(media)
	}
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// message returns our own sentence, or the error message inside a JSON answer of the upstream, whatever it is
// called, or nothing when there is none: a non-JSON answer yields only its status.
func (r *redactor) message(in FailureInput) string {
	if in.Message != "" {
		return cut(r.text(in.Message), maxMessage)
	}
	if len(in.UpstreamBody) == 0 {
		return ""
	}
	return cut(r.text(errorMessage(inflate(in.UpstreamBody, in.UpstreamEncoding))), maxMessage)
}
