// Package redact decides what may be kept of a failed call: its request and its message, without credentials, and no
// more of them than openapi.yaml says of getCall. Its input is written by strangers: it may cost a constant per byte
// and no more, and what cannot be made sense of is not kept.
package redact

import (
	"fmt"
	"mime"
	"strings"

	"callgate/internal/calls"
	"callgate/internal/decompress"
)

// maxBody is the size in bytes up to which a request body is kept, raw and after redaction.
const maxBody = 16_384

// Record makes the detail of a failed call of what is known of it (r.Unredacted), which is forgotten. It fails only
// by a fault of its own: then the detail says no more than why the call failed.
func Record(r *calls.Record) (err error) {
	in := r.Unredacted
	if in == nil {
		return nil
	}
	r.Unredacted = nil
	defer func() {
		if p := recover(); p != nil { // an input nobody thought of must not cost the record
			r.Failure = &calls.Failure{Message: cut(in.Message, maxMessage), BodyNote: calls.NotFullyRead}
			err = fmt.Errorf("panic in the redaction: %v", p)
		}
	}()
	r.Failure = failure(*in)
	return nil
}

// failure is the detail that is kept of a failed call. What cannot be kept leaves a note.
func failure(in calls.FailureInput) *calls.Failure {
	r := redactors.Get().(*redactor)
	defer r.release()
	r.exact.reset(in.Secrets, in.Hosts)
	f := &calls.Failure{
		Message: r.message(in),
		Method:  cut(r.text(in.Method), 32),
		Path:    bound(r.path(in.Path), maxString),
		Query:   r.query(in.RawQuery),
	}
	f.RequestBody, f.BodyNote = r.body(in)
	return f
}

// body returns the redacted request body, or the first reason that holds for keeping none.
func (r *redactor) body(in calls.FailureInput) ([]byte, calls.BodyNote) {
	switch {
	case !in.FullyRead:
		return nil, calls.NotFullyRead
	case in.BodyBytes > maxBody:
		return nil, calls.TooLarge
	case in.BodyBytes == 0:
		return nil, calls.Empty
	case !mayBeJSON(in.ContentType):
		return nil, calls.NotJSON
	}
	kept, err := r.document(in.Body)
	if err != nil {
		return nil, calls.InvalidJSON
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
func (r *redactor) message(in calls.FailureInput) string {
	if in.Message != "" {
		return cut(r.text(in.Message), maxMessage)
	}
	if len(in.UpstreamBody) == 0 {
		return ""
	}
	return cut(r.text(errorMessage(decompress.Whole(in.UpstreamBody, in.UpstreamEncoding))), maxMessage)
}
