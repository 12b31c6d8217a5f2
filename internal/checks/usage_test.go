package checks

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"callgate/internal/meter"
)

// differences are what a client says was used where we say something else, and why that is right. lines=1: it has one alone.
var differences = map[string]struct{ theirs, why string }{
	"openai-chat-update, openai":            {"cache_write=512 cached_input=1280 input=2006 input_audio=100 output=300 output_audio=40 reasoning=128", toldBefore},
	"openai-responses-cancel, openai":       {"cache_write=300 cache_write_12h=100 cache_write_30m=200 cached_input=200 input=1400 output=60 reasoning=30 web_searches=2 lines=2", toldBefore},
	"gemini-cache-update, google":           {"input=43130", toldBefore},
	"gemini-openai, openai":                 {"output=198", thoughtsInTotal},
	"gemini-openai-stream, openai":          {"output=198", thoughtsInTotal},
	"xai-chat, openai":                      {"output=2", reasoningBeside},
	"xai-chat-stream, openai":               {"output=26", reasoningBeside},
	"moonshot-reasoning, openai":            {"output=6000", reasoningIsMore},
	"moonshot-reasoning, AI SDK":            {"output=6000", reasoningIsMore},
	"moonshot-stream, openai":               {"cached_input= input= output=", "openai 7.59.0 knows usage at the root; Moonshot has it in the choice that finishes, too (@ai-sdk/moonshotai 3.0.60)"},
	"anthropic-zeros-stream, anthropic":     {"cached_input= input=", zerosLater},
	"anthropic-zeros-stream, AI SDK":        {"cached_input= input=", zerosLater},
	"anthropic-compaction, AI SDK":          {"cached_input= input=2740 lines=1", compactedFromCache},
	"anthropic-compaction-stream, AI SDK":   {"cached_input= input=2740 lines=1", compactedFromCache},
	"anthropic-fallback-stream, AI SDK":     {"model=claude-sonnet-5", "the model that declined; the one behind to and in fallback_message answered (@anthropic-ai/sdk 1.14.0, BetaFallbackBlock)"},
	"interactions, AI SDK":                  {"input=22", toolUseLeftOut},
	"interactions-stream, AI SDK":           {"input=22", toolUseLeftOut},
	"openai-responses-tools, AI SDK":        {"lines=1", imageToolLeftOut},
	"openai-responses-tools-stream, AI SDK": {"lines=1", imageToolLeftOut},
}

const (
	toldBefore         = "an answer given again: what it used was counted when it was given first"
	thoughtsInTotal    = "the total of 623 is 20 + 603: Gemini's OpenAI path has thoughts in the total alone (recorded, AI SDK of 2026-08-22)"
	reasoningBeside    = "the totals of 334 and 513 are 12 + 2 + 320 and 291 + 26 + 196: xAI has reasoning beside completion_tokens (recorded, AI SDK of 2026-08-22)"
	reasoningIsMore    = "the total of 6952 is 951 + 6001, which is the reasoning; completion_tokens is one short of it (recorded, pull request 18614 of vercel/ai)"
	zerosLater         = "the client takes the last number that it is told, as Anthropic's are cumulative; zeros after 1800 are another backend's"
	compactedFromCache = "@ai-sdk/anthropic 4.0.105 adds what compactions read anew, not what they read from the cache, and has one model an answer; the top level has neither (@anthropic-ai/sdk 1.14.0, BetaIterationsUsage)"
	toolUseLeftOut     = "@ai-sdk/google 4.0.121 leaves total_tool_use_tokens out; the total of 1983 is 22 + 198 + 590 + 1173"
	imageToolLeftOut   = "@ai-sdk/openai 4.0.118 has one model an answer; tool_usage stands beside usage (openai 7.59.0, ResponseToolUsage)"
)

// unasked are answers that no client reads.
var unasked = map[string]string{
	"bedrock-invoke-headers": "@aws-sdk/client-bedrock-runtime 3.1164.0 hands over the body and its type, and no header",
	"gemini-array":           "@google/genai 3.3.0 asks for events",
	"openai-speech-stream":   "openai 7.59.0 hands over bytes",
	"openai-zeros-stream":    "no provider's: backends that speak OpenAI's",
}

// TestStockClientsSayWhatWeSayWasUsed: each golden answer of their providers is read by us, and by the clients.
func TestStockClientsSayWhatWeSayWasUsed(t *testing.T) {
	answers := goldenAnswers(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.URL.Path[1:], "/")
		answer, known := answers[name]
		if !known {
			t.Errorf("asked for %s", r.URL.Path)
			return
		}
		maps.Copy(w.Header(), answer.header)
		_, _ = w.Write(answer.body)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // seconds, where nothing else runs
	defer cancel()
	script := exec.CommandContext(ctx, "node", "usage.mjs")
	script.Dir = "clients"
	script.Env = append(os.Environ(), "BASE="+server.URL)
	var stderr bytes.Buffer
	script.Stderr = &stderr
	out, err := script.Output()
	if err != nil {
		t.Fatalf("%v (make test installs what it needs)\n%s%s", err, out, stderr.String())
	}
	different, said := map[string]bool{}, map[string]map[string]bool{}
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); {
		var got struct {
			Client, Answer, Error string
			Lines                 []map[string]any
		}
		if err := lines.Decode(&got); err != nil {
			t.Fatal(err)
		}
		name := got.Answer + ", " + got.Client
		if got.Error != "" {
			t.Errorf("%s: %s", name, got.Error)
			continue
		}
		if said[got.Answer] == nil {
			said[got.Answer] = map[string]bool{}
		}
		ours := usageOf(answers[got.Answer])
		var theirs []string
		for i, their := range got.Lines {
			for _, key := range slices.Sorted(maps.Keys(their)) {
				said[got.Answer][key] = true
				if i < len(ours) && shownFigure(ours[i][key]) != shownFigure(their[key]) {
					theirs = append(theirs, key+"="+shownFigure(their[key]))
				}
			}
		}
		if len(got.Lines) != len(ours) {
			theirs = append(theirs, fmt.Sprintf("lines=%d", len(got.Lines)))
		}
		want := differences[name]
		different[name] = len(theirs) > 0
		if text := strings.Join(theirs, " "); text != want.theirs {
			t.Errorf("%s: %q instead of %q; ours: %v", name, text, want.theirs, ours)
		}
	}
	for name := range differences {
		if !different[name] {
			t.Errorf("%s is no difference", name)
		}
	}
	for name, answer := range answers {
		if _, isUnasked := unasked[name]; isUnasked == (said[name] != nil) {
			t.Errorf("%s: asked for %v", name, !isUnasked)
		} else if !isUnasked {
			for _, line := range usageOf(answer) {
				for key, value := range line {
					if shownFigure(value) != "" && !said[name][key] {
						t.Errorf("%s: no client is compared in its %s", name, key)
					}
				}
			}
		}
	}
}

// shownFigure is a number or a name; none is as good as 0.
func shownFigure(v any) string {
	if text := fmt.Sprint(v); v != nil && text != "0" {
		return text
	}
	return ""
}

type goldenAnswer struct {
	path   string
	header http.Header
	body   []byte
}

// goldenAnswers are the meter's of the providers that have clients here. What stands in a file is told in its own test.
func goldenAnswers(t *testing.T) map[string]goldenAnswer {
	t.Helper()
	all := map[string]goldenAnswer{}
	for _, provider := range []string{"anthropic", "azure", "bedrock", "cohere", "deepseek", "gemini", "groq", "interactions", "mistral", "moonshot", "ollama", "openai", "vertex", "xai"} {
		files, err := filepath.Glob("../meter/testdata/" + provider + "*.txt")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", provider, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, body, _ := strings.Cut(string(text), "\n\n")
			answer := goldenAnswer{header: http.Header{}, body: []byte(body)}
			for line := range strings.SplitSeq(head, "\n") {
				switch name, value, _ := strings.Cut(line, ": "); name {
				case "path":
					answer.path = value
				case "type":
					answer.header.Set("Content-Type", value)
				case "header":
					name, value, _ := strings.Cut(value, ": ")
					answer.header.Set(name, value)
				case "frames":
					answer.body = amazonFrames(t, body)
				}
			}
			all[strings.TrimSuffix(filepath.Base(file), ".txt")] = answer
		}
	}
	return all
}

// amazonFrames are lines, each the type of an event and its payload, as Amazon's own library sends them.
func amazonFrames(t *testing.T, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := eventstream.NewEncoder()
	for line := range strings.Lines(body) {
		kind, payload, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "chunk" {
			payload = fmt.Sprintf(`{"bytes":%q}`, base64.StdEncoding.EncodeToString([]byte(payload)))
		}
		message := eventstream.Message{Payload: []byte(payload)}
		for name, value := range map[string]string{":event-type": kind, ":content-type": "application/json", ":message-type": "event"} {
			message.Headers.Set(name, eventstream.StringValue(value))
		}
		if err := encoder.Encode(&b, message); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// usageOf are the lines that we read of an answer.
func usageOf(a goldenAnswer) (lines []map[string]any) {
	head := meter.Head{ContentType: []byte(a.header.Get("Content-Type")), Path: []byte(a.path)}
	for name, values := range a.header {
		head.Count([]byte(name), []byte(values[0]))
	}
	var r meter.Reader
	r.Begin(head, func(int64) bool { return true })
	r.Write(a.body)
	for _, l := range r.End(true).Lines {
		line := map[string]any{"model": l.Model, "tier": l.Tier}
		for m := range meter.Meter(meter.NumMeters) {
			if n, known := l.Count(m); known {
				line[m.String()] = n
			}
		}
		lines = append(lines, line)
	}
	if lines == nil {
		lines = []map[string]any{{}} // of nothing
	}
	return lines
}
