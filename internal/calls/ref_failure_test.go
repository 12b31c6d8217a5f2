package calls

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"strings"
)

// refFailure is NewFailure as it was first written: plain, and slow on hostile input. What it makes
// of an input is what the redaction has to make of it.
func refFailure(in FailureInput) *Failure {
	r := refNewRedactor(in.Secrets)
	f := &Failure{
		Message: r.message(in),
		Method:  refCut(r.text(in.Method), 32),
		Path:    refBound(r.path(in.Path), maxString),
		Query:   r.query(in.RawQuery),
	}
	f.RequestBody, f.BodyNote = r.body(in)
	return f
}

func (r *refRedactor) body(in FailureInput) ([]byte, BodyNote) {
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

func (r *refRedactor) message(in FailureInput) string {
	if in.Message != "" {
		return refCut(r.text(in.Message), maxMessage)
	}
	if len(in.UpstreamBody) == 0 || !mayBeJSON(in.UpstreamContentType) {
		return ""
	}
	var answer any
	if json.Unmarshal(refInflate(in.UpstreamBody, in.UpstreamEncoding), &answer) != nil {
		return ""
	}
	return refCut(r.text(refErrorMessage(answer, 0)), maxMessage)
}

var refMessageFields = []string{"message", "error_description", "error_message", "error_msg", "msg", "detail", "details", "title", "Message"}

func refErrorMessage(v any, depth int) string {
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
			return refErrorMessage(v[0], depth+1)
		}
	case map[string]any:
		for _, name := range []string{"error", "errors", "Error"} {
			if found := refErrorMessage(v[name], depth+1); found != "" {
				return found
			}
		}
		for _, name := range refMessageFields {
			if found := refErrorMessage(v[name], depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}

func refInflate(body []byte, encoding string) []byte {
	var source io.Reader
	var err error
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body
	case "gzip", "x-gzip":
		source, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		if source, err = zlib.NewReader(bytes.NewReader(body)); err != nil {
			source, err = flate.NewReader(bytes.NewReader(body)), nil
		}
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	const most = 256 << 10
	plain, err := io.ReadAll(io.LimitReader(source, most+1))
	if err != nil || len(plain) > most {
		return nil
	}
	return plain
}
