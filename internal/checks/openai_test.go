package checks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"callgate/internal/openapi"
	"callgate/internal/openapi/contract"
)

// TestStockOpenAIClientWorks uses the official client with nothing but a base URL, the Access Key
// and the default query parameter, against the demo upstream of callgate dev.
func TestStockOpenAIClientWorks(t *testing.T) {
	documented, err := contract.New()
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.Transport = documented.Transport(http.DefaultTransport) // which fails answers outside the contract
	d := startDev(t)
	client := func(key string) openai.Client {
		return openai.NewClient(option.WithBaseURL(d.base+"/gateway/v1"), option.WithAPIKey(key), option.WithQuery("model", "demo-chat"), option.WithMaxRetries(0))
	}
	ai := client(d.accessKey)
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

	stranger := client("cg-wrong")
	_, err = stranger.Chat.Completions.New(t.Context(), question)
	if refused := (*openai.Error)(nil); !errors.As(err, &refused) || refused.StatusCode != 401 || refused.Code != "invalid_api_key" {
		t.Fatalf("a wrong key raises %v", err)
	}

	eventually(t, time.Minute, "both calls are in the statistics, as they went, and nothing else", func() error { return twoSuccesses(t.Context(), d) })
}

// twoSuccesses compares the statistics of the demo developer's only application with a plain call
// and a streaming one.
func twoSuccesses(ctx context.Context, d dev) error {
	list, err := ask[openapi.ApplicationUsagePage](ctx, d, "/api/statistics/applications")
	if err != nil {
		return err
	}
	if len(list.Items) != 1 {
		return fmt.Errorf("applications: %+v", list.Items)
	}
	path := "/api/statistics/applications/" + list.Items[0].ID.String()
	page, err := ask[openapi.CallPage](ctx, d, path+"/calls")
	if err != nil {
		return err
	}
	if page.Total != 2 || len(page.Items) != 2 {
		return fmt.Errorf("calls: %+v", page)
	}
	for i, call := range page.Items { // newest first
		if call.Model != "demo-chat" || call.StatusCode != 200 || !call.Success || call.Streamed != (i == 0) || call.EndedBy != "complete" {
			return fmt.Errorf("call %d is recorded as %+v", i, call)
		}
	}
	one, err := ask[openapi.ApplicationStatistics](ctx, d, path)
	if err != nil {
		return err
	}
	if one.Summary.Calls != 2 || one.Summary.Successes != 2 || one.Summary.Failures != 0 || one.Missed != 0 ||
		len(one.Models) != 1 || one.Models[0].Model != "demo-chat" || one.Models[0].Calls != 2 {
		return fmt.Errorf("statistics: %+v", one)
	}
	return nil
}
