package calls

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"mime"
	"strings"
)

// maxBody is the size in bytes up to which a request body is kept, raw and after redaction
// (spec section 8).
const maxBody = 16_384

// maxInflated bounds what an upstream's compressed error answer may grow to.
const maxInflated = 256 << 10

// FailureInput is what the gateway knows of a failed call. Nothing of it is kept by reference.
type FailureInput struct {
	Message             string // our own sentence; empty for errors the upstream answered
	Method              string
	Path                string // what stood after /gateway
	RawQuery            string
	Body                []byte // first bytes of the request body, at least min(BodyBytes, 16,384)
	BodyBytes           int64  // raw bytes read of the request body
	FullyRead           bool   // the body's end was read
	ContentType         string
	UpstreamBody        []byte // bounded raw copy of an error answer
	UpstreamContentType string
	UpstreamEncoding    string   // Content-Encoding of UpstreamBody
	Secrets             []string // exact values never to be shown
}

// NewFailure makes the detail that is kept of a failed call: redacted and bounded as api.md says
// (spec section 4.1, rules 9 and 11 to 13). It never fails: what cannot be kept leaves a note.
func NewFailure(in FailureInput) *Failure {
	r := newRedactor(in.Secrets)
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

// message returns our own sentence, or the error message inside a JSON answer of the upstream, or
// nothing when there is none: a non-JSON answer yields only its status (spec section 4.1, rule 13).
func (r *redactor) message(in FailureInput) string {
	if in.Message != "" {
		return cut(r.text(in.Message), maxMessage)
	}
	if len(in.UpstreamBody) == 0 || !mayBeJSON(in.UpstreamContentType) {
		return ""
	}
	var answer any
	if json.Unmarshal(inflate(in.UpstreamBody, in.UpstreamEncoding), &answer) != nil {
		return ""
	}
	return cut(r.text(errorMessage(answer, 0)), maxMessage)
}

// messageFields are the names providers give the readable part of an error, best first.
var messageFields = []string{"message", "error_description", "error_message", "error_msg", "msg", "detail", "details", "title", "Message"}

// errorMessage finds the readable sentence in a provider's error answer.
func errorMessage(v any, depth int) string {
	if depth > 4 {
		return ""
	}
	switch v := v.(type) {
	case string:
		if depth > 0 {
			return strings.TrimSpace(v)
		}
	case []any:
		if len(v) > 0 {
			return errorMessage(v[0], depth+1)
		}
	case map[string]any:
		for _, name := range []string{"error", "errors", "Error"} {
			if found := errorMessage(v[name], depth+1); found != "" {
				return found
			}
		}
		for _, name := range messageFields {
			if found := errorMessage(v[name], depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}

// inflate undoes a Content-Encoding, up to maxInflated bytes; what it cannot undo comes out empty.
func inflate(body []byte, encoding string) []byte {
	var source io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body
	case "gzip", "x-gzip":
		source, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		// The field's two readings of "deflate": zlib as the standard says, or bare.
		if source, err = zlib.NewReader(bytes.NewReader(body)); err != nil {
			source, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(io.LimitReader(source, maxInflated+1))
	if err != nil || len(plain) > maxInflated {
		return nil
	}
	return plain
}
