package redact

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"callgate/internal/calls"
)

// planter makes failures with one secret hidden in them, each from a seed of its own.
type planter struct {
	*rand.Rand
	core string // of the secret: what must not be found again
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (p *planter) pick(from string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[p.IntN(len(from))]
	}
	return string(b)
}

func (p *planter) one(of ...string) string { return of[p.IntN(len(of))] }

// recognisable are the kinds of secret that give themselves away wherever they stand.
var recognisable = []func(*planter) string{
	func(p *planter) string { return "cg-" + p.core + p.pick(letters, 33) },
	func(p *planter) string { return "cgm-" + p.core + p.pick(letters, 33) },
	func(p *planter) string { return p.one("sk-", "sk-proj-", "sk-ant-api03-") + p.core },
	func(p *planter) string {
		return "eyJhbGciOiJIUzI1NiJ9.eyJ" + p.core + "." + p.pick(letters+"-_", 20)
	},
	func(p *planter) string { return p.one("AKIA", "ASIA", "LTAI", "AKID") + p.core },
	func(p *planter) string { return "AIza" + p.core + p.pick(letters+"-_", 15) },
	func(p *planter) string { return p.one("ghp_", "gho_", "ghs_", "github_pat_", "glpat-") + p.core },
	func(p *planter) string { return p.one("xoxb-", "xoxp-") + p.core },
	func(p *planter) string {
		return p.one("hf_", "gsk_", "xai-", "pplx-", "r8_", "npm_", "nvapi-") + p.core
	},
	func(p *planter) string { return p.one("Bearer ", "bearer ", "BEARER  ") + p.core },
	func(p *planter) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+p.core))
	},
	func(p *planter) string {
		return p.one("postgres", "redis", "https", "amqp") + "://" + p.one("user:", "", "a%40b:") + p.core + "@host:5432/db"
	},
	func(p *planter) string {
		kind := p.one("", "RSA ", "EC ", "OPENSSH ")
		return "-----BEGIN " + kind + "PRIVATE KEY-----\nMII" + p.core + "\n" + p.one("-----END "+kind+"PRIVATE KEY-----", "")
	},
	func(p *planter) string { return exactKey },
	func(p *planter) string { return exactHost },
}

const (
	exactKey  = "an upstream key of no known form"
	exactHost = "llm.internal.example:8443"
)

var credentialNames = []string{
	"password", "api_key", "apiKey", "X-Api-Key", "access_token", "secret", "client_secret", "Authorization", "token", "refreshToken",
	"passwd", "private_key", "Cookie", "signature", "sessionId", "DB_PASSWORD", "密码", "pwd", "x-auth-token", "secretAccessKey",
}

// plain names and texts surround the secret.
var plainNames = []string{"messages", "content", "role", "a", "input", "文", "metadata", "headers", "nested", "name", "value", "max_tokens", ""}

func (p *planter) noise() string {
	return p.one("", "hello", "some text", "12", "a: b", "{", "\"", "\\", "文字 🙂", "\n", "x=y", ", ", "https://h/p?q=1", "Bearer", "-----", "eyJ", "sk-", "the secretary")
}

// byName hides an opaque secret behind a credential's name, in one of the forms of plain text.
func (p *planter) byName() string {
	name := credentialNames[p.IntN(len(credentialNames))]
	label := p.one("name", "key", "header", "field", "Name")
	switch p.IntN(7) {
	case 0:
		return name + "=" + p.core + p.one("", "&x=1", " next")
	case 1:
		return name + ": " + p.core
	case 2:
		return fmt.Sprintf(`{"%s":%s"%s"}`, name, p.one("", " "), p.core)
	case 3:
		return fmt.Sprintf(`{"%s":"%s",%s"value":"%s"}`, label, name, p.one("", " "), p.core)
	case 4:
		return fmt.Sprintf(`{"value":"%s","type":"x","%s":"%s"}`, p.core, label, name)
	case 5:
		return fmt.Sprintf(`{'%s': '%s'}`, name, p.core)
	}
	return fmt.Sprintf(`curl -H "%s: %s" https://host`, name, p.core)
}

// text is a text with the secret in it, maybe as JSON inside JSON.
func (p *planter) text() string {
	secret := recognisable[p.IntN(len(recognisable))](p)
	if p.IntN(3) == 0 {
		secret = p.byName()
	}
	text := p.noise() + p.one("", " ", "\n", ": ") + secret + p.one("", " ", "\n", ", ", "\"", "}") + p.noise()
	for range p.IntN(4) {
		quoted, _ := json.Marshal(text)
		text = fmt.Sprintf(`{"%s":%s}`, p.one("text", "arguments", "body"), quoted)
	}
	return text
}

// document is a JSON value with the secret at some depth: in a key, a value, or behind a name.
func (p *planter) document(depth int) any {
	if depth == 0 {
		return p.text()
	}
	switch p.IntN(6) {
	case 0, 1:
		items := []any{p.noise(), p.Float64(), nil}
		items[p.IntN(3)] = p.document(depth - 1)
		return items
	case 2:
		return map[string]any{p.text(): 1, "x": p.noise()}
	case 3:
		return map[string]any{credentialNames[p.IntN(len(credentialNames))]: p.opaque(depth - 1)}
	case 4:
		return map[string]any{p.one("name", "key", "header", "field"): credentialNames[p.IntN(len(credentialNames))], "value": p.opaque(0)}
	}
	return map[string]any{plainNames[p.IntN(len(plainNames))]: p.document(depth - 1), "x": p.noise()}
}

func (p *planter) opaque(depth int) any {
	switch {
	case depth > 0 && p.IntN(3) == 0:
		return []any{1, p.opaque(depth - 1)}
	case depth > 0 && p.IntN(2) == 0:
		return map[string]any{"deep": p.opaque(depth - 1)}
	}
	return p.core
}

// escaped writes JSON with some of its characters as \u escapes.
func (p *planter) escaped(document any) string {
	raw, _ := json.Marshal(document)
	if p.IntN(2) == 0 {
		return string(raw)
	}
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '\\':
			b.Write(raw[i : i+2])
			i++
		case (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-') && inString(raw, i) && p.IntN(6) == 0:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// inString tells whether raw[i] stands in a string of the JSON document.
func inString(raw []byte, i int) (inside bool) {
	for j := 0; j < i; j++ {
		switch raw[j] {
		case '\\':
			j++
		case '"':
			inside = !inside
		}
	}
	return inside
}

// percent encodes some characters more than needed.
func (p *planter) percent(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if p.IntN(5) == 0 {
			fmt.Fprintf(&b, "%%%02X", text[i])
		} else {
			b.WriteString(url.QueryEscape(text[i : i+1]))
		}
	}
	return b.String()
}

func (p *planter) failure() calls.FailureInput {
	in := request(`{}`)
	in.Secrets = []string{exactKey, exactHost}
	switch p.IntN(8) {
	case 0:
		in.RawQuery = "a=1&" + p.percent(p.one("q", "text", "")) + "=" + p.percent(p.text())
	case 1:
		in.RawQuery = p.percent(credentialNames[p.IntN(len(credentialNames))]) + "=" + p.core + "&a=" + p.percent(p.noise())
	case 2:
		in.Path = "/v1/" + strings.ReplaceAll(p.percent(recognisable[p.IntN(len(recognisable))](p)), "+", "%20")
	case 3:
		in.UpstreamBody = p.upstreamError()
		if p.IntN(2) == 0 {
			var zipped bytes.Buffer
			z := gzip.NewWriter(&zipped)
			_, _ = z.Write(in.UpstreamBody)
			_ = z.Close()
			in.UpstreamBody, in.UpstreamEncoding = zipped.Bytes(), "gzip"
		}
	case 4:
		in.Message = p.text()
	default:
		body := p.escaped(p.document(p.IntN(10)))
		in.Body, in.BodyBytes = []byte(body), int64(len(body))
	}
	return in
}

func (p *planter) upstreamError() []byte {
	text := p.text()
	raw, _ := json.Marshal([]any{
		map[string]any{"error": map[string]any{"message": text, "type": "x"}}, map[string]any{"error": text}, map[string]any{"message": text},
		map[string]any{"detail": []any{map[string]any{"msg": text}}}, map[string]any{"errors": []any{text}}, map[string]any{"error_msg": text},
	}[p.IntN(6)])
	return raw
}

// plant makes the failure of a seed and tells what is wrong with it, if anything is.
func plant(seed uint64) error {
	p := &planter{Rand: rand.New(rand.NewPCG(seed, 12))}
	p.core = "z" + p.pick(letters+"0123456789", 22) + "7"
	in := p.failure()
	f := failure(in)
	shown := show(f)
	unquoted := strings.NewReplacer(`\\`, "", `\n`, "", `\"`, "").Replace(shown)
	for _, secret := range []string{p.core, exactKey, exactHost, base64.StdEncoding.EncodeToString([]byte("user:" + p.core))} {
		if strings.Contains(shown, secret) || strings.Contains(unquoted, secret) {
			return fmt.Errorf("seed %d: %q shows\nof %s %s %s %s %s\nin %s", seed, secret, in.Message, in.Path, in.RawQuery, in.Body, in.UpstreamBody, shown)
		}
	}
	if len(f.RequestBody) > maxBody || len(f.Query) > maxBody || utf8.RuneCountInString(f.Message) > maxMessage ||
		utf8.RuneCountInString(f.Path) > maxString+20 || f.RequestBody != nil && !json.Valid(f.RequestBody) || !json.Valid(f.Query) {
		return fmt.Errorf("seed %d: out of bounds: %s", seed, shown)
	}
	return nil
}

// TestNoSecretOfAnyKindIsKept plants a secret of one of 34 kinds in every case; REDACTION_CASES sets
// how many (make fuzz: a million).
func TestNoSecretOfAnyKindIsKept(t *testing.T) {
	cases := 20_000
	if n, err := strconv.Atoi(os.Getenv("REDACTION_CASES")); err == nil && n > 0 {
		cases = n
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	leaks := 0
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		all.Go(func() {
			for seed := worker; seed < cases; seed += workers {
				if err := plant(uint64(seed)); err != nil { //nolint:gosec // not negative
					mu.Lock()
					if leaks++; leaks <= 10 {
						t.Error(err)
					}
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d cases, %d leaks", cases, leaks)
}

func FuzzNoSecretOfAnyKindIsKept(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		if err := plant(seed); err != nil {
			t.Error(err)
		}
	})
}
