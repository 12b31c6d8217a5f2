package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"callgate/internal/calls"
)

// planted are credentials that must be recognised wherever they stand.
var planted = map[string]string{
	"our Access Key": "cg-" + strings.Repeat("Ab12", 12) + "Z", "our management token": "cgm-" + strings.Repeat("Ab12", 12) + "Z",
	"OpenAI":         "sk-abcdefghijklmnop1234",
	"OpenAI project": "sk-proj-Ab_12-cd34efgh5678ij",
	"DeepSeek":       "sk-0123456789abcdef0123456789abcdef",
	"JWT":            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.c2lnbmF0dXJl-_x",
	"AWS":            "AKIAIOSFODNN7EXAMPLE",
	"AWS session":    "ASIAIOSFODNN7EXAMPLE",
	"Alibaba":        "LTAI5tABCDEFGHIJ1234abcd",
	"Google":         "AIzaSyA-1234567890abcdefghijklmnopqrstu",
	"GitHub":         "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
	"GitHub fine":    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
	"GitLab":         "glpat-abcdefghij_klmnop12",
	"Slack":          "xoxb-123456789012-abcdefABCDEF",
	"Hugging Face":   "hf_abcdefghijklmnopqrstuvwx",
	"Groq":           "gsk_abcdefghijklmnop1234",
	"Google, newer":  "AQ.Ab8RN6Kx3Zp9QxVt7LwB2mYc5RdNf8HsJ4gTa6UeKv1Xo0P",
	"Bedrock":        "ABSKQmVkcm9ja0FQSUtleS1hYmNkLWF0LTEyMzQ1Njc4OTAxMjpFeGFtcGxlU2VjcmV0MTIzNDU2Nzg5MA==",
	"Bedrock, short": "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29tLz9BY3Rpb249Q2FsbFdpdGhCZWFyZXJUb2tlbjEyMw==",
	"Baidu":          "bce-v3/ALTAK-Kx3Zp9QxVt7LwB2mYc5Rd/8f3a91c27be04d5690a1b2c3d4e5f60718293a4b",
	"Volcengine":     "AKLTYzA5ZjE3Mjg0YjVkNDZlMTk4NzA2NTQzMjEwZmVkY2I",
	"Zhipu":          "2f8c91d4e07b4a35b6c1d20e9f7a8354.Kd8ZxQ3mVb7TnWp5",
	"Fireworks":      "fw_3Zp9QxVt7LwB2mYc5RdNf8Hs",
	"Together":       "tgp_v1_Kx3Zp9QxVt7LwB2mYc5RdNf8HsJ4gTa6_UeKv1Xo0P",
	"Jina":           "jina_0f1e2d3c4b5a69788796a5b4c3d2e1f0Kx3Zp9QxVt7LwB2mYc5RdNf8HsJ4",
	"Voyage":         "pa-Kx3Zp9QxVt7LwB2mYc5RdNf8HsJ4gTa6UeKv1Xo0P_q",
	"Tavily":         "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",
	"Databricks":     "dapi0f1e2d3c4b5a69788796a5b4c3d2e1f0",
	"PyPI":           "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw",
	"Telegram":       "7123456789:AAE-x3Zp9QxVt7LwB2mYc5RdNf8HsJ4gTa6",
	"Mailgun":        "key-0f1e2d3c4b5a69788796a5b4c3d2e1f0",
	"Cerebras":       "csk-x3p9qvt7lwb2myc5rdnf8hsj4gta6uekv1xo0px3p9qvt7lw",
	"Pinecone":       "pcsk_Kx3Zp9_QxVt7LwB2mYc5RdNf8HsJ4gTa6UeKv1Xo0P",
	"PEM":            "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
	"unfinished PEM": "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA",
}

func TestRecognisableKeysAreHiddenInEveryPlace(t *testing.T) {
	for name, key := range planted {
		quoted, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		escaped := strings.ReplaceAll(string(quoted), "-", `\u002d`)
		inner, err := json.Marshal(fmt.Sprintf(`{"text":%s}`, quoted))
		if err != nil {
			t.Fatal(err)
		}
		percent := strings.NewReplacer("\n", "%0A", " ", "%20", "-", "%2D").Replace(key)
		for place, in := range map[string]calls.FailureInput{
			"value":          request(fmt.Sprintf(`{"a":{"b":[%s]}}`, quoted)),
			"escaped":        request(fmt.Sprintf(`[%s]`, escaped)),
			"name of field":  request(fmt.Sprintf(`{%s:1}`, quoted)),
			"JSON in text":   request(string(inner)),
			"after a word":   request(fmt.Sprintf(`{"a":"my key is %s"}`, quoted[1:len(quoted)-1])),
			"query":          {RawQuery: "a=" + percent},
			"query's name":   {RawQuery: percent + "=a"},
			"path":           {Path: "/v1/" + key},
			"encoded path":   {Path: "/v1/" + percent},
			"message":        {Message: "the upstream said " + key},
			"upstream error": {UpstreamBody: []byte(fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s"}}`, quoted[1:len(quoted)-1]))},
		} {
			if shown := show(failure(in)); leaks(shown, key) {
				t.Errorf("%s shows in %s: %s", name, place, shown)
			}
		}
	}
}

// leaks tells whether any long part of key can be read.
func leaks(shown, key string) bool {
	for _, part := range strings.FieldsFunc(key, func(c rune) bool { return c == '\n' || c == ' ' }) {
		if len(part) > 12 && strings.Contains(shown, part[len(part)-12:]) && !strings.HasSuffix(part, "-----") {
			return true
		}
	}
	return false
}

func show(f *calls.Failure) string {
	return strings.Join([]string{f.Message, f.Method, f.Path, string(f.RequestBody), string(f.Query)}, "\n")
}

func TestCredentialsByTheirNameAreHidden(t *testing.T) {
	for _, name := range []string{
		"authorization", "Authorization", "api_key", "apiKey", "API-KEY", "x-api-key", "OPENAI_API_KEY", "access_key", "secret", "client_secret",
		"secretAccessKey", "password", "Passwd", "db_password", "token", "access_token", "refreshToken", "id-token", "X-Auth-Token", "cookie",
		"Set-Cookie", "private_key", "credential", "credentials", "passphrase", "signature", "ak", "sk", "密码", "pin", "PIN", "otp",
	} {
		for _, body := range []string{
			fmt.Sprintf(`{%q:"hunter2-canary"}`, name),
			fmt.Sprintf(`{"a":[{"b":{%q:{"deep":["hunter2-canary"]}}}]}`, name),
			fmt.Sprintf(`{"headers":[{"name":%q,"value":"hunter2-canary"}]}`, name),
			fmt.Sprintf(`{"arguments":"{\"%s\":\"hunter2-canary\"}"}`, name),
			fmt.Sprintf(`{"text":"%s=hunter2-canary&x=1"}`, name),
			fmt.Sprintf(`{"text":"%s: hunter2-canary"}`, name),
			fmt.Sprintf(`{"headers":[[%q,"hunter2-canary"],["a","b"]]}`, name),
			fmt.Sprintf(`[%q,"hunter2-canary"]`, name),
			fmt.Sprintf(`{"rawHeaders":["Host","x",%q,"hunter2-canary","Accept","b"]}`, name),
			fmt.Sprintf(`{"Name":%q,"Value":"hunter2-canary"}`, name),
			fmt.Sprintf(`{"text":"[[\"%s\", \"hunter2-canary\"]]"}`, name),
			fmt.Sprintf(`{"text":"('%s', 'hunter2-canary')"}`, name),
			fmt.Sprintf(`{"text":"{\"a\":[\"%s\",\"hunter2-canary\"]}"}`, name),
		} {
			f := failure(request(body))
			if bytes.Contains(f.RequestBody, []byte("hunter2-canary")) || !bytes.Contains(f.RequestBody, []byte(redacted)) {
				t.Errorf("%s became %s", body, f.RequestBody)
			}
		}
		if f := failure(calls.FailureInput{RawQuery: "x=1&" + name + "=hunter2-canary"}); strings.Contains(string(f.Query), "hunter2") {
			t.Errorf("query of %s became %s", name, f.Query)
		}
	}
	for _, body := range []string{
		`{"required":["token","name"]}`, `{"enum":["password","secret"],"x":["user","name"]}`, `["token","password","name"]`, `{"headers":["Accept","token"]}`,
		`{"text":"\"required\": [\"token\", \"name\"], pin = 13, spin=1234, f(\"token\", x, \"y\")"}`,
	} {
		if f := failure(request(body)); string(f.RequestBody) != body {
			t.Errorf("%s became %s", body, f.RequestBody)
		}
	}
	for _, name := range []string{"spin", "pinned", "max_tokens", "maxTokens", "prompt_tokens", "completion_tokens", "tokens", "token_count", "eos_token", "tokenizer", "monkey", "keyboard", "author", "passage"} {
		if f := failure(request(fmt.Sprintf(`{%q:100}`, name))); !strings.Contains(string(f.RequestBody), ":100") {
			t.Errorf("%s became %s", name, f.RequestBody)
		}
	}
}

func TestCredentialsInsideTextAreHidden(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("user:hunter2-canary"))
	for text, want := range map[string]string{
		"Authorization: Bearer abc.def":                          "Authorization: [REDACTED]",
		"send Bearer abc now":                                    "send Bearer [REDACTED] now",
		"send bearer\tabc":                                       "send bearer\t[REDACTED]",
		"send Basic " + basic:                                    "send Basic [REDACTED]",
		"postgres://user:pa:ss@db:5432/x":                        "postgres://[REDACTED]@db:5432/x",
		"https://token@host/a?b=c@d":                             "https://[REDACTED]@host/a?b=c@d",
		"see https://host/a@b":                                   "see https://host/a@b",
		"host=db password=p4ss user=x":                           "host=db password=[REDACTED] user=x",
		`export API_KEY="two words" x`:                           `export API_KEY="[REDACTED]" x`,
		"https://h/?x=1&key_id=7&api_key=abc&y=2":                "https://h/?x=1&key_id=7&api_key=[REDACTED]&y=2",
		"Cookie: a=b; c=d\nHost: x":                              "Cookie: [REDACTED]\nHost: x",
		"keysk-0123456789abcdef0123 glued":                       "key[REDACTED] glued",
		"two: sk-aaaaaaaaaaaaaaaa1 sk-bbbbbbbbbbbbbbbb2":         "two: [REDACTED] [REDACTED]",
		"1==2, a => b, x := y; \"quoted\": \"text\"; \\\\\" = :": "1==2, a => b, x := y; \"quoted\": \"text\"; \\\\\" = :",
		`bad header "name":"password","value":"opaque" sent`:     `bad header "name":"password","value":"[REDACTED]" sent`,
		`{"value":"a"},{"value":"opaque","key":"api_key"}`:       `{"value":"a"},{"value":"[REDACTED]","key":"api_key"}`,
		`{"name":"colour","value":"red"}`:                        `{"name":"colour","value":"red"}`,
		"x-auth: a\nX-Auth-Token: Bearer opaque more":            "x-auth: a\nX-Auth-Token: [REDACTED] more",
		`{\"text\":\"line\\nbearer opaque\"}`:                    `{\"text\":\"line\\nbearer [REDACTED]`,
		"the secretary's password=opaque":                        "the secretary's password=[REDACTED]",
		"":                                                       "",
	} {
		got := newRedactor().text(text)
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if again := newRedactor().text(got); again != got {
			t.Errorf("%q redacted again became %q", got, again)
		}
	}
}

func TestExactSecretsNeverShow(t *testing.T) {
	secret := "plain-upstream-key"
	in := request(`{"a":"x` + secret + `y","` + secret + `":1,"n":424242424242,"u":"\u0070lain-upstream-key"}`)
	in.Secrets = []string{secret, "", "424242424242", "internal.host:8443"}
	in.Path, in.RawQuery, in.Message = "/"+secret, secret+"="+secret+"&b=424242424242", "dial internal.host:8443: refused, "+secret
	if shown := show(failure(in)); strings.Contains(shown, secret) || strings.Contains(shown, "4242") || strings.Contains(shown, "internal.host") {
		t.Errorf("shown: %s", shown)
	}
}

// anyJSON draws a JSON document, with key planted in some of its strings.
func anyJSON(t *rapid.T, key string, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return rapid.String().Draw(t, "text")
	case 1:
		return rapid.SampledFrom([]string{"", " ", "key: ", `{"a":"`, "https://", "?x="}).Draw(t, "before") + key + rapid.SampledFrom([]string{"", " ", `"}`, ",", "\n"}).Draw(t, "after")
	case 2:
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "number")
	case 3:
		return rapid.Bool().Draw(t, "bool")
	case 4:
		items := make([]any, rapid.IntRange(0, 5).Draw(t, "items"))
		for i := range items {
			items[i] = anyJSON(t, key, depth-1)
		}
		return items
	default:
		object := map[string]any{}
		for range rapid.IntRange(0, 5).Draw(t, "fields") {
			object[rapid.SampledFrom([]string{"a", "b", "messages", key, "content"}).Draw(t, "name")] = anyJSON(t, key, depth-1)
		}
		return object
	}
}

func TestNoPlantedKeySurvivesInAnyDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := "sk-" + rapid.StringMatching(`[A-Za-z0-9]{20,40}`).Draw(t, "key")
		body, err := json.Marshal(anyJSON(t, key, 10))
		if err != nil {
			t.Fatal(err)
		}
		in := request(string(body))
		in.RawQuery = rapid.String().Draw(t, "query")
		f := failure(in)
		if leaks(show(f), key) {
			t.Fatalf("%s shows %s", f.RequestBody, key)
		}
		if f.BodyNote == "" && (!json.Valid(f.RequestBody) || len(f.RequestBody) > maxBody) || !json.Valid(f.Query) {
			t.Fatalf("kept %s, query %s", f.RequestBody, f.Query)
		}
	})
}

func TestHostileTextIsRedactedInLinearTime(t *testing.T) {
	for _, unit := range []string{"eyJ", "eyJa.", "xsk-", "xsk-_", "sk-", "a=", "\"token\":\\", "://", "://a@", "-----BEGIN ", "bearer ", "basic ", "=", "cg-x", "AKIA"} {
		text := strings.Repeat(unit, 512<<10/len(unit))
		began := time.Now()
		newRedactor().text(text)
		if took := time.Since(began); took > 3*time.Second { // quadratic would take a minute
			t.Errorf("%q repeated took %s", unit, took)
		}
	}
	began := time.Now()
	var names strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&names, "%x&a=1&", i)
	}
	if failure(calls.FailureInput{RawQuery: names.String()}); time.Since(began) > 3*time.Second {
		t.Errorf("a long query took %s", time.Since(began))
	}
}

// newRedactor knows no key of a call.
func newRedactor() *redactor {
	r := &redactor{}
	r.exact.reset(nil, nil)
	return r
}
