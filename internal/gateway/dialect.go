package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// dialect is whose clients call a path, and so in whose shape they look for the sentence of an error. Those of Google and Ollama
// show no sentence of another shape; all others read OpenAI's, or what stands beside it.
type dialect uint8

const (
	openAI dialect = iota
	google
	ollama
)

// dialects are told by how a path ends. Google's clients write a verb behind the model, Ollama's have few paths.
var dialects = []struct {
	end string
	of  dialect
}{
	{":generateContent", google}, {":streamGenerateContent", google}, {":countTokens", google}, {":embedContent", google},
	{":batchEmbedContents", google}, {":batchGenerateContent", google}, {":predict", google}, {":predictLongRunning", google},
	{"/api/chat", ollama}, {"/api/generate", ollama}, {"/api/embed", ollama}, {"/api/embeddings", ollama},
	{"/api/tags", ollama}, {"/api/show", ollama}, {"/api/ps", ollama},
}

func dialectOf(path []byte) dialect {
	for _, d := range dialects {
		if bytes.HasSuffix(path, []byte(d.end)) {
			return d.of
		}
	}
	return openAI
}

// body is the refusal as JSON.
func (r refusal) body(to dialect) []byte {
	var said any
	switch to {
	case google:
		said = r.asGoogle()
	case ollama:
		said = map[string]string{"error": r.message}
	default:
		said = r.asOpenAI()
	}
	text, _ := json.Marshal(said) // of strings and a number: it cannot fail
	return text
}

// asOpenAI has, beside OpenAI's error, the type and message that Anthropic's clients, and those that read no error object, look for
// at the top.
func (r refusal) asOpenAI() any {
	type fault struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Code    string  `json:"code"`
		Param   *string `json:"param"`
	}
	return struct {
		Error   fault  `json:"error"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}{fault{Message: r.message, Type: r.kind, Code: r.code}, "error", r.message}
}

// googleStatus are the names of statuses in Google's errors (google.rpc.Code).
var googleStatus = map[int]string{
	http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND",
	http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL", http.StatusBadGateway: "UNAVAILABLE",
	http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED", http.StatusRequestTimeout: "DEADLINE_EXCEEDED",
}

// asGoogle is Google's JSON form of an error, whose code is a number; ours is the reason in its details.
func (r refusal) asGoogle() any {
	type info struct {
		Type   string `json:"@type"`
		Reason string `json:"reason"`
		Domain string `json:"domain"`
	}
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []any  `json:"details"`
	}
	type retry struct {
		Type  string `json:"@type"`
		Delay string `json:"retryDelay"`
	}
	status, named := googleStatus[r.status]
	if !named {
		status = "INVALID_ARGUMENT"
	}
	details := []any{info{"type.googleapis.com/google.rpc.ErrorInfo", r.code, "callgate"}}
	if r.wait > 0 { // Gemini CLI, which reads no header of ours, asks again for minutes where it finds no long delay here
		seconds := int64((r.wait + time.Second - 1) / time.Second)
		details = append(details, retry{"type.googleapis.com/google.rpc.RetryInfo", strconv.FormatInt(seconds, 10) + "s"})
	}
	return struct {
		Error fault `json:"error"`
	}{fault{r.status, r.message, status, details}}
}
