package redact

import (
	"strings"
	"testing"

	"callgate/internal/calls"
)

// goldenErrors are error answers as providers send them, and the words that are kept of them.
var goldenErrors = []struct{ name, body, want string }{
	{"OpenAI", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, "You exceeded your current quota"},
	{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, "Overloaded"},
	{"Anthropic, events", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", "Overloaded"},
	{"Google", `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"x","reason":"API_KEY_INVALID"}]}}`, "API key not valid."},
	{"Vertex", `[{"error":{"code":429,"message":"Resource exhausted.","status":"RESOURCE_EXHAUSTED"}}]`, "Resource exhausted."},
	{"Vertex, indented", "[{\n  \"error\": {\n    \"code\": 404,\n    \"message\": \"Publisher model was not found.\"\n  }\n}\n]", "Publisher model was not found."},
	{"Bedrock", `{"message":"Too many tokens, please wait before trying again."}`, "Too many tokens, please wait before trying again."},
	{"AWS JSON 1.1", `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"User is not authorized to perform: bedrock:InvokeModel"}`, "User is not authorized to perform: bedrock:InvokeModel"},
	{"DashScope", `{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"fb53c4ec"}`, "Invalid API-key provided."},
	{"DashScope, events", "id:1\nevent:error\n:HTTP_STATUS/400\ndata:{\"code\":\"InvalidParameter\",\"message\":\"url error\",\"request_id\":\"1\"}\n\n", "url error"},
	{"Tencent", `{"Response":{"Error":{"Code":"AuthFailure.SecretIdNotFound","Message":"The SecretId is not found."},"RequestId":"1"}}`, "The SecretId is not found."},
	{"MiniMax", `{"id":"1","base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret"}}`, "login fail: Please carry the API secret"},
	{"Apigee", `{"fault":{"faultstring":"Invalid ApiKey","detail":{"errorcode":"oauth.v2.InvalidApiKey"}}}`, "Invalid ApiKey"},
	{"Volcengine", `{"ResponseMetadata":{"RequestId":"1","Error":{"Code":"InvalidAuthorization","Message":"Invalid Authorization"}}}`, "Invalid Authorization"},
	{"iFlytek", `{"header":{"code":10005,"message":"licc failed","sid":"1"}}`, "licc failed"},
	{"Baidu", `{"error_code":110,"error_msg":"Access token invalid or no longer valid"}`, "Access token invalid or no longer valid"},
	{"Mistral", `{"object":"error","message":{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]},"code":null}`, "Field required"},
	{"FastAPI", `{"detail":[{"loc":["body"],"msg":"field required"}]}`, "field required"},
	{"NVIDIA", `{"status":401,"title":"Unauthorized","detail":"Authentication failed"}`, "Authentication failed"},
	{"Cloudflare", `{"result":null,"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"messages":[]}`, "Authentication error"},
	{"Ollama", `{"error":"model 'x' not found"}`, "model 'x' not found"},
	{"byte order mark", "\uFEFF" + `{"error":{"message":"marked"}}`, "marked"},
	{"byte order mark before events", "\uFEFFevent: error\r\ndata: {\"message\":\"marked\"}\r\n\r\n", "marked"},
	{"events, lines of the old kind", "event: error\rdata: {\"message\":\rdata: \"two lines\"}\r\r", "two lines"},
	{"an error among others", "data: {\"message\":\"hello\"}\n\nevent: error\ndata: {\"error\":\"broken\"}\n\ndata: [DONE]\n\n", "broken"},
	{"events of no name", ": ping\n\ndata: {\"id\":\"1\"}\n\ndata: {\"error\":{\"message\":\"nameless\"}}\n\ndata: [DONE]", "nameless"},
	{"an event that is not ended", `data: {"error":{"message":"cut"}}`, "cut"},
	{"an answer in an error", `{"response":"a text of the model","detail":"too long"}`, "too long"},
	{"HTML", "<html><body><h1>502 Bad Gateway</h1></body></html>", ""},
	{"text", "upstream connect error or disconnect/reset before headers", ""},
	{"text like events", "error: something: data: failed", ""},
	{"events of text", "event: error\ndata: it failed\n\n", ""},
	{"nothing", "", ""},
	{"a cut answer", `{"error":{"message":"x"`, ""},
}

func TestWordsOfProvidersAreFound(t *testing.T) {
	for _, c := range goldenErrors {
		for kind, body := range map[string]string{"as it is": c.body, "in white space": "\r\n \t" + strings.TrimPrefix(c.body, "\uFEFF") + "\n"} {
			if f := failure(calls.FailureInput{UpstreamBody: []byte(body)}); f.Message != c.want && (kind == "as it is" || !strings.Contains(c.body, "data")) {
				t.Errorf("%s, %s: %q, want %q", c.name, kind, f.Message, c.want)
			}
		}
	}
}

func FuzzErrorMessage(f *testing.F) {
	for _, c := range goldenErrors {
		f.Add([]byte(c.body))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if found := errorMessage(answer); found != strings.TrimSpace(found) {
			t.Errorf("%q", found)
		}
	})
}
