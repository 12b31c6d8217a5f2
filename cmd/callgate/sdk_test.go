package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// TestStockOpenAIClientWorks uses the official client with nothing but a base URL, the Access Key
// and the default query parameter, against the demo upstream of callgate dev.
func TestStockOpenAIClientWorks(t *testing.T) {
	p := startDev(t, map[string]string{})
	dev := p.developer("sdk@example.com")
	app, key := dev.application("SDK", "demo-chat")
	ai := openai.NewClient(option.WithBaseURL(p.base+"/gateway/v1"), option.WithAPIKey(key), option.WithQuery("model", "demo-chat"), option.WithMaxRetries(0))
	question := openai.ChatCompletionNewParams{
		Model:    "demo",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello there")},
	}

	answer, err := ai.Chat.Completions.New(t.Context(), question)
	if err != nil || len(answer.Choices) == 0 || answer.Choices[0].Message.Content == "" {
		t.Fatalf("not streaming: %+v, %v", answer, err)
	}

	stream := ai.Chat.Completions.NewStreaming(t.Context(), question)
	var text strings.Builder
	chunks := 0
	for stream.Next() {
		chunks++
		if choices := stream.Current().Choices; len(choices) > 0 {
			text.WriteString(choices[0].Delta.Content)
		}
	}
	if err := stream.Err(); err != nil || chunks < 2 || text.String() != answer.Choices[0].Message.Content {
		t.Fatalf("streaming: %d chunks, %q, %v", chunks, text.String(), err)
	}

	stranger := openai.NewClient(option.WithBaseURL(p.base+"/gateway/v1"), option.WithAPIKey("cg-wrong"), option.WithQuery("model", "demo-chat"), option.WithMaxRetries(0))
	_, err = stranger.Chat.Completions.New(t.Context(), question)
	if refused := (*openai.Error)(nil); !errors.As(err, &refused) || refused.StatusCode != 401 || refused.Code != "invalid_api_key" {
		t.Fatalf("a wrong key raises %v", err)
	}

	dev.checkStatistics(app, []expected{
		{name: "plain", model: "demo-chat", status: 200, success: true, endedBy: "complete"},
		{name: "streaming", model: "demo-chat", status: 200, success: true, streamed: true, endedBy: "complete"},
	}, 1)
}
