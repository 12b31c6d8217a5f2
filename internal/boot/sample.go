//go:build embedded

package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/catalog"
	"callgate/internal/demo"
	"callgate/internal/pricing"
)

const demoGemini = "demo-gemini"

// sampleCalls are made once, so that the pages have tokens and cost to show: each provider's format, streamed and
// not, a stream that reports no usage, one that breaks off, and an error.
var sampleCalls = []struct {
	capability, path, body string
	times                  int
}{
	{demoChat, "/v1/chat/completions", `{"model":"demo","messages":[{"role":"system","content":"Answer in one sentence."},{"role":"user","content":"What is a gateway?"}]}`, 3},
	{demoChat, "/v1/chat/completions", `{"model":"demo","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Tell me a story of a river and a bridge."}]}`, 5},
	{demoChat, "/v1/chat/completions", `{"model":"demo","stream":true,"messages":[{"role":"user","content":"A stream that is not asked for its usage."}]}`, 2},
	{demoChat, "/v1/responses", `{"model":"demo","stream":true,"reasoning":{"effort":"low"},"instructions":"Be brief.","input":"Why is the sky blue?"}`, 2},
	{demoChat, "/v1/chat/completions", `{"model":"demo-error-429","messages":[{"role":"user","content":"Hello"}]}`, 1},
	{demoChat, "/v1/chat/completions", `{"model":"demo-cut","stream":true,"messages":[{"role":"user","content":"A stream that breaks off."}]}`, 1},
	{demoClaude, "/v1/messages", `{"model":"demo","max_tokens":100,"stream":true,"system":[{"type":"text","text":"You know the whole handbook by heart."}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"Which chapter is about holidays?","cache_control":{"type":"ephemeral"}}]}]}`, 4},
	{demoClaude, "/v1/messages", `{"model":"demo","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}`, 2},
	{demoGemini, "/v1beta/models/demo:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"Name three rivers."}]}]}`, 3},
	{demoGemini, "/v1beta/models/demo:generateContent", `{"contents":[{"role":"user","parts":[{"text":"Name a river."}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":100}}}`, 1},
}

// sample prices the demo capabilities and makes the sample calls.
func (n *Node) sample(ctx context.Context, upstream *demo.Upstream, d *seeded) error {
	gemini := catalog.Settings{
		ID: ptr(demoGemini), Name: ptr("Demo Gemini"), UpstreamAuth: ptr("bearer"), DefaultPath: ptr("/v1beta/models/demo:generateContent"), SortOrder: ptr(int64(3)),
		Description: ptr("Google-style generateContent of the demo upstream."),
	}
	if err := n.seedCapability(ctx, gemini, upstream); err != nil {
		return err
	}
	if !d.created {
		return nil
	}
	if _, err := n.applications.Bind(ctx, d.owner, d.application, demoGemini); err != nil {
		return err
	}
	prices, today := pricing.New(n.pool), beijing.DayOf(time.Now()).String()
	for capability, per := range map[string][2]string{demoChat: {"1.25", "10"}, demoClaude: {"3", "15"}, demoGemini: {"0.3", "2.5"}} {
		draft := pricing.Draft{CapabilityID: capability, From: today, Currency: "USD", Input: per[0], Output: per[1]}
		if _, err := prices.Put(ctx, demoActor, draft); err != nil {
			return err
		}
	}
	base := "http://" + reachable(n.config.Listen)
	if err := callable(ctx, base, d.accessKey); err != nil {
		return err
	}
	return makeCalls(ctx, base, d.accessKey)
}

// callable waits until the gateway knows of the capabilities, which it is told within moments.
func callable(ctx context.Context, base, key string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		status, listed, err := exchange(ctx, http.MethodGet, base+"/gateway/v1/models", key, "")
		if err == nil && status == http.StatusOK && strings.Contains(listed, `"`+demoGemini+`"`) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the gateway lists no capabilities (status %d): %w", status, errors.Join(ctx.Err(), err))
		case <-poll.C:
		}
	}
}

func makeCalls(ctx context.Context, base, key string) error {
	for _, call := range sampleCalls {
		for range call.times {
			if _, _, err := exchange(ctx, http.MethodPost, base+"/via/"+call.capability+call.path, key, call.body); err != nil {
				return err
			}
		}
	}
	return nil
}

// exchange sends one request; an answer that breaks off is one too.
func exchange(ctx context.Context, method, url, key, body string) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text), nil
}

// reachable is where this process reaches what it listens on.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if address, wrong := netip.ParseAddr(host); err == nil && (host == "" || wrong == nil && address.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}
