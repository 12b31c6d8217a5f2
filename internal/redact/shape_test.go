package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

const (
	lowers    = "abcdefghijklmnopqrstuvwxyz"
	hexDigits = "0123456789abcdef"
	alphanums = letters + "0123456789"
)

// ofNoList are keys of providers whose keys begin like nothing else.
var ofNoList = map[string]string{
	"Mistral":       "Wq7Zt0bVn3RkY5pXc8JmLs2HdGfTa6Ue",
	"Cohere":        "k3Zp9QxVt7LwB2mYc5RdNf8HsJ4gTa6UeKv1Xo0P",
	"Azure":         "9f4c27d1b80e4a63a5c1f02e7d9b6384",
	"Azure, longer": "3Fq8Lm2Xw9Zr5Ty7Kp4Bn6Vc1Hd0Gs8Ja3Qe5Wu7Io9RxTy2Mk4PzLv6NbXJQQJ99BDACYeBjFXJ3w3AAABACOG",
	"ElevenLabs":    "b7e19a03cd5f48e2960b7d13fa84c256",
	"Deepgram":      "5d02c9e8a17b46f3b0d94e6157c8a23f90be61d7",
	"Ark":           "8c1f7e52-4b9a-4d3e-a6f0-25d71b9c83e4",
	"AWS secret":    "hV7nQ2+kTz9/LpXw4RbYc8JmSd1GfAa6UeKv0Xo3",
	"Together, old": "61b0f7a2c9d84e35b7f01ac6d2938e54f7c06b1ad9e23578c40fb61e8d2a9370",
}

// said are the ways in which texts speak of a key.
var said = []string{
	"Incorrect API key provided: %s. You can find your API key at https://example.com/keys.",
	"Invalid token '%s'", "the access token %s has expired", "API key %s is not valid", "%s is not a valid API key",
	"You passed the key `%s` as api-key, which is wrong", "x-api-key header: %s", "secret %s does not match",
	"密钥 %s 无效", "令牌%s 已过期", "提供的 API Key（%s）不正确",
}

func TestKeysOfNoListAreHiddenWhereTextSpeaksOfOne(t *testing.T) {
	for provider, key := range ofNoList {
		for _, format := range said {
			if weak := strings.Contains(format, "the key"); weak && len(strings.Trim(key, hexDigits+"-")) == 0 {
				continue // "the key …" may be of a cache or a table, and hexadecimal digits a hash
			}
			text := fmt.Sprintf(format, key)
			if got := newRedactor().text(text); strings.Contains(got, key) || strings.Contains(got, key[8:]) || !strings.Contains(got, redacted) {
				t.Errorf("%s: %q became %q", provider, text, got)
			}
		}
	}
	for name, shown := range map[string]string{
		"Zhipu, by itself":       "2f8c91d4e07b4a35b6c1d20e9f7a8354.Kd8ZxQ3mVb7TnWp5",
		"Telegram":               "https://api.telegram.org/bot7123456789:AAE-x3Zp9QxVt7LwB2mYc5RdNf8HsJ4gTa6/sendMessage",
		"Mistral, by itself":     "use " + ofNoList["Mistral"] + " here",
		"a field named in a key": `{"myKey":"` + ofNoList["Cohere"] + `"}`,
	} {
		if got := newRedactor().text(shown); !strings.Contains(got, redacted) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if f := failure(request(`{"some_key":"` + ofNoList["Mistral"][:20] + `","plain":"` + ofNoList["Mistral"][:20] + `"}`)); string(f.RequestBody) !=
		`{"some_key":"[REDACTED]","plain":"`+ofNoList["Mistral"][:20]+`"}` {
		t.Errorf("by the name of a field: %s", f.RequestBody)
	}
}

// drawn is a random word of an alphabet.
func drawn(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

func TestHowManyUnknownKeysAreFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 37))
	const tries = 2000
	for _, c := range []struct {
		alphabet string
		length   int
		least    int // of a hundred
	}{
		{alphanums, 20, 80}, {alphanums, 32, 95}, {alphanums, 40, 97}, {alphanums, 64, 99},
		{hexDigits, 32, 98}, {hexDigits, 64, 99}, {lowers + "0123456789", 32, 94}, {alphanums + "-_", 40, 95}, {alphanums + "+/", 40, 95},
	} {
		found := 0
		for range tries {
			key := drawn(r, c.alphabet, c.length)
			if got := newRedactor().text(fmt.Sprintf(said[r.IntN(5)], key)); !strings.Contains(got, strings.Trim(key, "-_+/")) {
				found++
			}
		}
		t.Logf("%d characters of %d: %d of %d", c.length, len(c.alphabet), found, tries)
		if found*100 < c.least*tries {
			t.Errorf("%d characters of %q: only %d of %d are found", c.length, c.alphabet, found, tries)
		}
	}
}

// TestOrdinaryTextIsKept counts what is hidden of texts that hold no key.
func TestOrdinaryTextIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 37))
	image := func() string {
		raw := make([]byte, 6_000)
		for i := range raw {
			raw[i] = byte(r.Uint32()) //nolint:gosec // a byte
		}
		return base64.StdEncoding.EncodeToString(raw)
	}
	sum := func() string { return base64.StdEncoding.EncodeToString([]byte(drawn(r, alphanums, 32))) }
	for _, c := range []struct {
		name string
		make func() string
		most int // of a thousand that may be touched
	}{
		{"UUIDs", func() string { return "The request " + uuid.NewString() + " of user " + uuid.NewString() + " failed." }, 0},
		{"hashes of commits", func() string {
			return "Reverts " + drawn(r, hexDigits, 40) + ", see commit " + drawn(r, hexDigits, 40) + " and " + drawn(r, hexDigits, 12)
		}, 0},
		{"digests", func() string {
			return "image@sha256:" + drawn(r, hexDigits, 64) + " md5 " + drawn(r, hexDigits, 32) + ` {"etag":"` + drawn(r, hexDigits, 32) + `"}`
		}, 0},
		{"sums of modules", func() string {
			return "golang-jwt/jwt/v5 v5.3.1 h1:" + sum() + "\n\"integrity\": \"sha512-" + sum() + "\""
		}, 0},
		{"token counts", func() string {
			return fmt.Sprintf("Limit 30000 tokens per min. Requested %d tokens (request id: req_%s, max_tokens 8192, model gpt-4o-mini-2024-07-18).", r.IntN(1e6), drawn(r, hexDigits, 32))
		}, 0},
		{"identifiers of answers", func() string {
			return `{"id":"chatcmpl-` + drawn(r, alphanums, 29) + `","call_id":"call_` + drawn(r, alphanums, 24) + `","previous_response_id":"resp_` + drawn(r, hexDigits, 48) + `","request_id":"` + drawn(r, alphanums, 20) + `"}`
		}, 0},
		{"models and versions", func() string {
			return "Use claude-3-5-sonnet-20241022, meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8 or anthropic.claude-sonnet-4-5-20250929-v1:0; the key us.amazon.nova-pro-v1 is older. Token kinds: utf8BOMToken, parseUtf8StringWithPosition2."
		}, 0},
		{"words like beginnings", func() string {
			return "sk-learn-based-classification-of-risk-averse-people, a key-value-store-with-many-features, pa-thological fw_function_with_a_long_name, dapibus, lorem fc-cluster-name-of-production; the al-gorithm-of-choice_and_more_words_of_it_here"
		}, 0},
		{"images", func() string { return "data:image/png;base64," + image() }, 12},
		{"images in lines", func() string {
			text, lines := image(), ""
			for len(text) > 76 {
				lines, text = lines+text[:76]+"\n", text[76:]
			}
			return lines + text
		}, 12},
		{"dumps", func() string { return hex.EncodeToString([]byte(image()[:1000])) }, 0},
		{"a nonce beside an image", func() string { return `{"image_url":"https://cdn.example/` + drawn(r, alphanums, 22) + `.png?v=3"}` }, 0},
	} {
		touched, example := 0, ""
		for range 1000 {
			text := c.make()
			if got := newRedactor().text(text); got != text {
				touched++
				at := strings.Index(got, redacted)
				example = got[max(at-60, 0):min(at+60, len(got))]
			}
		}
		t.Logf("%s: %d of 1000", c.name, touched)
		if touched > c.most {
			t.Errorf("%s: %d of 1000 are touched, such as %q", c.name, touched, example)
		}
	}
}

// TestThisRepositoryIsKept counts what the shapes and beginnings of keys find in some megabytes of prose
// and code.
func TestThisRepositoryIsKept(t *testing.T) {
	sizes, found := 0, 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == "node_modules" || name == "testdata" || name == "dist" || strings.HasPrefix(name, ".") && name != ".." {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(name) {
		case ".go", ".ts", ".tsx", ".css", ".md", ".sql", ".sum":
		default:
			return nil
		}
		if strings.Contains(name, "_test.") || strings.Contains(name, ".test.") || strings.Contains(name, ".spec.") || strings.Contains(path, "internal/bench") || strings.Contains(path, "internal/embedded") || name == "schema.d.ts" {
			return nil // they hold keys
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sizes += len(raw)
		for i, line := range strings.SplitAfter(string(raw), "\n") {
			sc := &scanner{}
			sc.reset(line)
			sc.findShapes("")
			for _, key := range sc.shaped {
				found++
				t.Logf("%s:%d: %q", path, i+1, line[key.start:key.end])
			}
			for at := range line {
				for _, k := range prefixesBy[line[at]] {
					if strings.HasPrefix(line[at:], k.prefix) && len(line) > at+len(k.prefix) && sc.prefixedEnd(at, &k) > 0 {
						found++
						t.Logf("%s:%d: %q", path, i+1, line[at:])
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d in %d bytes", found, sizes)
	if sizes < 1<<20 || found*100_000 > sizes {
		t.Errorf("%d keys are seen in %d bytes that have none: more than one in 100,000", found, sizes)
	}
}

// anyText draws a text of what the redaction looks at.
func anyText(t *rapid.T) string {
	text := ""
	for range rapid.IntRange(1, 8).Draw(t, "pieces") {
		text += rapid.OneOf(rapid.SampledFrom(words), rapid.SampledFrom(said), rapid.String(),
			rapid.StringMatching(`[A-Za-z0-9]{12,40}`), rapid.StringMatching(`[a-f0-9-]{16,40}`), rapid.SampledFrom([]string{" ", ": ", "\n", `", "`, "=", "/", ""})).Draw(t, "piece")
	}
	return text
}

func TestWhatIsRedactedStaysAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := newRedactor().text(anyText(t))
		if again := newRedactor().text(once); again != once {
			t.Fatalf("%q became %q", once, again)
		}
	})
}

func TestNoKeyOfTheListIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(keyPrefixes).Draw(t, "kind")
		rest := rapid.StringMatching(`[A-Za-z0-9]{20}[0-9][A-Za-z0-9]{30}`).Draw(t, "rest")
		key := k.prefix + rest[:max(k.least, longRun+5)]
		text := rapid.SampledFrom([]string{"", "use ", `{"a":"`, "https://h/?x=", "(", "\n"}).Draw(t, "before") + key + rapid.SampledFrom([]string{"", " now", `"}`, "&y=1", ").", "\n"}).Draw(t, "after")
		for place, shown := range shownOf(text, nil, nil) {
			if place != "query, twice" && place != "URL in a value" && strings.Contains(shown, key[len(key)-12:]) {
				t.Fatalf("%s: %s shows in %s", place, key, shown)
			}
		}
	})
}
