package demo

import (
	"net/http"
	"strconv"
	"strings"
)

// failAs answers the status that a model is named after.
func failAs(w http.ResponseWriter, r *http.Request, text string) {
	status, err := strconv.Atoi(text)
	if err != nil || status < 300 || status > 599 {
		fail(w, r, http.StatusBadRequest, "model_not_found", "The model `demo-error-"+text+"` does not exist.")
		return
	}
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	fail(w, r, status, "demo_error_"+text, "This model always answers "+text+".")
}

// fail answers an error as the provider words it whose path was asked. The code is OpenAI's alone.
func fail(w http.ResponseWriter, r *http.Request, status int, code, text string) {
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/v1/messages"):
		w.Header().Set("Request-Id", "req_demo")
		writeJSON(w, status, map[string]any{
			"type": "error", "error": map[string]any{"type": kindOf(status, anthropicKinds, "api_error"), "message": text}, "request_id": "req_demo",
		})
	case strings.HasPrefix(path, "/v1beta/"):
		var answer any = map[string]any{"error": map[string]any{"code": status, "message": text, "status": kindOf(status, googleKinds, "UNKNOWN")}}
		if strings.HasSuffix(path, ":streamGenerateContent") && r.URL.Query().Get("alt") != "sse" {
			answer = []any{answer}
		}
		writeJSON(w, status, answer)
	case strings.HasPrefix(path, "/v2/"):
		writeJSON(w, status, map[string]any{"id": "demo", "message": text})
	default:
		writeJSON(w, status, map[string]any{"error": map[string]any{"message": text, "type": kindOf(status, openAIKinds, "server_error"), "param": nil, "code": code}})
	}
}

func kindOf(status int, kinds map[int]string, other string) string {
	if kind := kinds[status]; kind != "" {
		return kind
	}
	return other
}

// Names of errors in the providers' references.
var (
	openAIKinds = map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "invalid_request_error",
		422: "invalid_request_error", 429: "rate_limit_error",
	}
	anthropicKinds = map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}
	googleKinds = map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED",
		429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}
)
