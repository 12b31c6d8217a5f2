package contract

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"callgate/internal/openapi"
)

func newChecker(t *testing.T) *Checker {
	t.Helper()
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryOperationIsNamedExplainedAndAnswered(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range openapi.Operations(openapi.Tree()) {
		if op.ID == "" || seen[op.ID] || op.Tag == "" || op.Node["summary"] == nil {
			t.Errorf("%s %s: id %q, tag %q", op.Method, op.Path, op.ID, op.Tag)
		}
		seen[op.ID] = true
		if !strings.HasPrefix(op.Path, "/api/") {
			continue
		}
		responses := op.Node["responses"].(map[string]any)
		if responses["500"] == nil {
			t.Errorf("%s has no 500", op.ID)
		}
		if strings.HasPrefix(op.Path, "/api/admin/") && !strings.HasPrefix(op.Path, "/api/admin/auth/") && responses["403"] == nil {
			t.Errorf("%s has no 403", op.ID)
		}
		for _, p := range op.Parameters {
			if p["in"] == "path" && !strings.Contains(op.Path, "{"+p["name"].(string)+"}") {
				t.Errorf("%s has no place for %v", op.ID, p["name"])
			}
		}
	}
}

// An answer's schema that let unknown fields pass would let a leak pass.
func TestEverySchemaOfAnAnswerIsClosed(t *testing.T) {
	tree := openapi.Tree()
	visited := map[string]bool{}
	var walk func(where string, node any, composed bool)
	walk = func(where string, node any, composed bool) {
		schema, ok := node.(map[string]any)
		if !ok {
			return
		}
		if reference, ok := schema["$ref"].(string); ok {
			if !composed && visited[reference] {
				return
			}
			visited[reference] = true
			walk(reference, openapi.Resolve(tree, schema), composed)
			return
		}
		properties, isObject := schema["properties"].(map[string]any)
		_, parts := schema["allOf"].([]any)
		closed := schema["additionalProperties"] != nil || schema["unevaluatedProperties"] == false
		if isObject && schema["type"] == "object" && !closed && !composed {
			t.Errorf("%s is open", where)
		}
		for name, property := range properties {
			walk(where+"/"+name, property, false)
		}
		walk(where+"/items", schema["items"], false)
		for _, kind := range []string{"allOf", "oneOf"} {
			list, _ := schema[kind].([]any)
			for _, part := range list {
				walk(where+"/"+kind, part, kind == "allOf" && parts)
			}
		}
	}
	for _, op := range openapi.Operations(tree) {
		for status, node := range op.Node["responses"].(map[string]any) {
			content, _ := openapi.Resolve(tree, node)["content"].(map[string]any)
			if media, ok := content["application/json"].(map[string]any); ok {
				walk(op.ID+" "+status, media["schema"], false)
			}
		}
	}
}

func TestEveryExampleFollowsItsSchema(t *testing.T) {
	c := newChecker(t)
	examples := 0
	check := func(pointer string, node any) {
		pointer, holder := openapi.Follow(c.tree, pointer, node)
		content, _ := holder["content"].(map[string]any)
		for kind, media := range content {
			example, ok := media.(map[string]any)["example"]
			if kind == "application/json" && !ok {
				t.Errorf("%s has no example", pointer)
				continue
			}
			if !ok {
				continue
			}
			examples++
			if err := c.validate(pointer+"/content/"+openapi.Escape(kind)+"/schema", example); err != nil {
				t.Errorf("%s: %v", pointer, err)
			}
		}
	}
	for _, op := range c.operations {
		check(op.Pointer+"/requestBody", op.Node["requestBody"])
		for status, node := range op.Node["responses"].(map[string]any) {
			check(op.Pointer+"/responses/"+status, node)
		}
		for _, p := range op.Parameters {
			if p["in"] == "path" && p["example"] == nil {
				t.Errorf("%s: no example of %s", op.ID, p["name"])
			}
		}
	}
	if examples < 100 {
		t.Fatalf("only %d examples were found", examples)
	}
}

func TestWhatTheDocumentDoesNotSayIsRefused(t *testing.T) {
	c := newChecker(t)
	me := `{"code":0,"msg":"ok","data":{"id":"0198b5c1-6a50-7c3e-9b1f-2f6d1c0a7e55","email":"ada@example.com"}}`
	headers := http.Header{"X-Request-Id": {"6f1c1a1e-9a50-4f8e-8f5a-1b2c3d4e5f60"}, "Cache-Control": {"no-store"}, "Content-Type": {"application/json"}}
	without := func(name string) http.Header {
		h := headers.Clone()
		h.Del(name)
		return h
	}
	for name, test := range map[string]struct {
		method, path string
		status       int
		header       http.Header
		sent, body   string
		fine         bool
	}{
		"as documented":        {"GET", "/api/auth/me", 200, headers, "", me, true},
		"HEAD like GET":        {"HEAD", "/api/auth/me", 200, headers, "", "", true},
		"another field":        {"GET", "/api/auth/me", 200, headers, "", strings.Replace(me, `"id"`, `"key":"x","id"`, 1), false},
		"a field missing":      {"GET", "/api/auth/me", 200, headers, "", strings.Replace(me, `"email"`, `"mail"`, 1), false},
		"a field beside data":  {"GET", "/api/auth/me", 200, headers, "", strings.Replace(me, `"code"`, `"x":1,"code"`, 1), false},
		"another format":       {"GET", "/api/auth/me", 200, headers, "", strings.Replace(me, "0198b5c1-6a50", "0198b5c1", 1), false},
		"another status":       {"GET", "/api/auth/me", 418, headers, "", me, false},
		"no request id":        {"GET", "/api/auth/me", 200, without("X-Request-Id"), "", me, false},
		"may be cached":        {"GET", "/api/auth/me", 200, without("Cache-Control"), "", me, false},
		"not JSON":             {"GET", "/api/auth/me", 200, headers, "", "<html>", false},
		"another type":         {"GET", "/api/auth/me", 200, without("Content-Type"), "", me, false},
		"a code of another":    {"GET", "/api/auth/me", 401, headers, "", `{"code":40301,"msg":"x","data":null,"requestId":"6f1c1a1e-9a50-4f8e-8f5a-1b2c3d4e5f60"}`, false},
		"undocumented path":    {"GET", "/api/nothing", 200, headers, "", me, false},
		"undocumented method":  {"POST", "/api/auth/me", 200, headers, "", me, false},
		"body must be refused": {"POST", "/api/auth/code", 200, headers, `{"email":7}`, `{"code":0,"msg":"ok","data":null}`, false},
		"body may be taken":    {"POST", "/api/auth/code", 200, headers, `{"email":"a@b.c","more":1}`, `{"code":0,"msg":"ok","data":null}`, true},
		"none of ours":         {"GET", "/assets/x.js", 200, nil, "", "x", true},
	} {
		before := len(c.Violations())
		err := c.Check(Exchange{test.method, &url.URL{Path: test.path}, []byte(test.sent), test.status, test.header, []byte(test.body)})
		if (err == nil) != test.fine || len(c.Violations()) == before != test.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLiteralPathsWinOverPlaceholders(t *testing.T) {
	c := newChecker(t)
	for path, id := range map[string]string{
		"/api/statistics/applications/overview": "getOverview",
		"/api/statistics/applications/x":        "getApplicationStatistics",
		"/api/statistics/applications/x/calls":  "listCalls",
		"/gateway/v1/chat/completions":          "forwardGet",
		"/gateway/v1/models":                    "listModels",
		"/gateway/v1/models/chat":               "getModel",
		"/gateway/v1/calls/x":                   "getOwnCall",
		"/gateway/v1/usage":                     "getOwnUsage",
		"/via/chat/v1/models":                   "forwardViaGet",
	} {
		if op, _ := c.find("GET", path); op == nil || op.ID != id {
			t.Errorf("%s is %+v", path, op)
		}
	}
}
