package pricing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func TestWhatIsSuggestedCanBeEntered(t *testing.T) {
	models, prices := 0, 0
	for _, p := range known().Providers {
		for _, m := range p.Models {
			models++
			for _, s := range (catalogue{Providers: []provider{p}}).suggest(m.ID, "") {
				from := "2026-01-01"
				if s.From != nil {
					from = s.From.String()
				}
				if _, err := (Draft{
					CapabilityID: "chat", FromBand: &s.FromBand, From: from, Currency: s.Currency,
					Input: s.Input, Cached: s.Cached, CacheWrite: s.CacheWrite, Output: s.Output, Amounts: s.Amounts,
				}).check(); err != nil {
					t.Errorf("%s %s: %+v: %v", p.ID, m.ID, s, err)
				}
				prices++
			}
		}
	}
	if models < 1000 || known().Source.License != "MIT" || !strings.Contains(known().Source.Notice, "Copyright (c) Pydantic") {
		t.Errorf("%d models, source %+v", models, known().Source)
	}
	t.Logf("%d models of %d providers, %d prices, %+v", models, len(known().Providers), prices, known().Source.Version)
}

func TestSuggestionsAreOfTheUpstreamThenOfTheMakerExactNamesFirst(t *testing.T) {
	for _, c := range []struct{ name, baseURL, want string }{
		{"gpt-5", "https://api.openai.com/v1", "OpenAI gpt-5 exact"},
		{"gpt-5-2025-08-07", "https://gateway.internal/v1", "OpenAI gpt-5 exact"},
		{"gpt-5-mini-2099-01-01", "https://api.openai.com/v1", "OpenAI gpt-5-mini begins"},
		{"openai/gpt-5", "https://openrouter.ai/api/v1", "OpenRouter openai/gpt-5 exact"},
		{"openai/gpt-5", "https://gateway.internal", "OpenAI gpt-5 exact"},
		{"Claude-Sonnet-4-5-20250929", "https://api.anthropic.com", "Anthropic claude-sonnet-4-5 begins"},
		{"deepseek-chat", "https://api.deepseek.com", "Deepseek deepseek-chat exact"},
		{"gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta", "Google gemini-2.5-pro"},
	} {
		found := known().suggest(c.name, c.baseURL)
		if len(found) == 0 {
			t.Errorf("%s at %s: nothing, want %s", c.name, c.baseURL, c.want)
			continue
		}
		got := found[0].Provider + " " + found[0].Model + map[bool]string{true: " exact", false: " begins"}[found[0].Exact]
		if !strings.HasPrefix(got, c.want) || len(found) > maxSuggestions {
			t.Errorf("%s at %s: %s, want %s", c.name, c.baseURL, got, c.want)
		}
	}
	for _, name := range []string{"a-model-of-our-own", "g", "gpt", "gpt-5x0"} {
		if found := known().suggest(name, "https://api.openai.com"); len(found) > 0 {
			t.Errorf("%s: %+v", name, found[0])
		}
	}
}

func TestAPriceThatChangedOnADayIsSuggestedWithIt(t *testing.T) {
	var days []string
	for _, s := range known().suggest("deepseek-v4-flash", "https://api.deepseek.com") {
		if s.Provider == "Deepseek" {
			from := "nil"
			if s.From != nil {
				from = s.From.String()
			}
			days = append(days, fmt.Sprint(from, s.Input, s.Notes))
		}
	}
	if got := fmt.Sprint(days); got != "[nil0.14[hourly] 2026-08-170.22[hourly]]" {
		t.Errorf("suggested %s", got)
	}
}

// TestSuggestionsHaveAllThatTheCatalogueKnowsAndSayWhatTheyLeaveOut: times of cache writes, lengths, searches, pages, seconds,
// and notes of the rest.
func TestSuggestionsHaveAllThatTheCatalogueKnowsAndSayWhatTheyLeaveOut(t *testing.T) {
	for _, c := range []struct{ name, baseURL, want string }{
		{"claude-opus-4-8", "https://api.anthropic.com", "above 0: 5/0.5/6.25/25 map[cache_write_1h:10 web_searches:10] [standard_tier]"},
		{"gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta", "above 0: 1.25/0.125/-/10 map[] [standard_tier], above 200000: 2.5/0.25/-/15 map[] [standard_tier]"},
		{"gpt-5", "https://api.openai.com/v1", "above 0: 1.25/0.125/-/10 map[web_searches:10] [other_units standard_tier]"},
		{"whisper-1", "https://api.openai.com/v1", "above 0: 0/-/-/0 map[milliseconds:0.0001] [standard_tier]"},
		{"whisper-large-v3", "https://api.groq.com/openai/v1", "above 0: 0/-/-/0 map[milliseconds:0.000030833333] [rounded standard_tier]"},
		{"mistral-ocr-2505", "https://api.mistral.ai", "above 0: 0/-/-/0 map[pages:0.001] [other_units standard_tier]"},
		{"sonar-pro", "https://api.perplexity.ai", "above 0: 3/-/-/15 map[] [per_request]"},
	} {
		var got []string
		for _, s := range known().suggest(c.name, c.baseURL) {
			if s.Provider != known().suggest(c.name, c.baseURL)[0].Provider || s.Model != c.name {
				continue
			}
			or := func(text *string) string {
				if text == nil {
					return "-"
				}
				return *text
			}
			got = append(got, fmt.Sprintf("above %d: %s/%s/%s/%s %v %v", s.FromBand, s.Input, or(s.Cached), or(s.CacheWrite), s.Output, s.Amounts, s.Notes))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, text, c.want)
		}
	}
	hours := 0
	for _, p := range known().Providers {
		for _, m := range p.Models {
			for _, price := range m.Prices {
				if price.Amounts["cache_write_1h"] != "" {
					hours++
				}
			}
		}
	}
	if hours < 25 {
		t.Errorf("%d prices of an hour's cache writes", hours)
	}
}

func TestACapabilityIsSuggestedPricesOfItsUpstreamModel(t *testing.T) {
	w := newWorld(t)
	w.Exec(`UPDATE capabilities SET upstream_model = 'gpt-5', upstream_base_url = 'https://api.openai.com/v1' WHERE id = 'chat'`)
	ask := func(capability, model string) Suggestion {
		t.Helper()
		suggestions, source, err := w.Suggest(w.Ctx, capability, model)
		if err != nil || len(suggestions) == 0 || source.Package == "" {
			t.Fatalf("%s %s: %d, %+v, %v", capability, model, len(suggestions), source, err)
		}
		return suggestions[0]
	}
	if s := ask("chat", ""); s.Model != "gpt-5" || s.Provider != "OpenAI" || s.Currency != "USD" || !s.Exact {
		t.Errorf("%+v", s)
	}
	if s := ask("chat", "gpt-4o"); s.Model != "gpt-4o" {
		t.Errorf("%+v", s)
	}
	suggestions, _, err := w.Suggest(w.Ctx, "embed", "")
	if err != nil || len(suggestions) > 0 {
		t.Errorf("%v, %v", suggestions, err)
	}
	for _, unknown := range []string{"", "unknown", "a\x00b"} {
		_, _, err := w.Suggest(w.Ctx, unknown, "")
		databasetest.MustFail(t, err, fault.Invalid, "capability")
	}
	if prices, err := w.List(w.Ctx, ""); err != nil || len(prices) > 0 || w.holding("", beijing.Today(time.Now())) != "unpriced" {
		t.Errorf("a suggestion was applied: %v, %v", prices, err)
	}
}
