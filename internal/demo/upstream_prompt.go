package demo

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// prompt is what the answers depend on, whichever way it was asked.
type prompt struct {
	model      string
	stream     bool
	usageAsked bool     // in a stream of OpenAI's chat
	inputs     []string // to be embedded
	packed     bool     // embeddings as base64
	spent      spent

	text string // what to answer
	gap  string // between two events of a stream
	cut  bool   // break off in the middle
}

// spent are the tokens of a call.
type spent struct{ fresh, cached, written, said, thought int }

func (s spent) input() int  { return s.fresh + s.cached + s.written }
func (s spent) output() int { return s.said + s.thought }
func (s spent) total() int  { return s.input() + s.output() }

const thinking = 5 // tokens

// tokens counts words: enough for figures that can be checked.
func tokens(text string) int { return len(strings.Fields(text)) }

// asked reads what is asked and answers it, or behaves as its model says.
func asked(read func(*http.Request, []byte) (prompt, error), answer func(http.ResponseWriter, *http.Request, prompt)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, largestBody))
		if err != nil {
			return // the caller left
		}
		p, err := read(r, body)
		if err != nil {
			fail(w, r, http.StatusBadRequest, "invalid_json", "We could not parse the JSON body of your request.")
			return
		}
		p.gap = r.URL.Query().Get("gap")
		if status, found := strings.CutPrefix(p.model, "demo-error-"); found {
			failAs(w, r, status)
			return
		}
		switch p.model {
		case "demo-slow":
			if !wait(r.Context(), slowDelay.String()) {
				return
			}
		case "demo-cut":
			p.cut = true
		}
		answer(w, r, p)
	}
}

// content is a text, or parts of which those with a text count.
type content []part

type part struct {
	Text         string          `json:"text"`
	CacheControl json.RawMessage `json:"cache_control"`
}

// UnmarshalJSON takes either; what is neither says nothing.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = content{{Text: text}}
		return nil
	}
	var parts []part
	_ = json.Unmarshal(raw, &parts)
	*c = parts
	return nil
}

func (c content) text() string {
	var texts []string
	for _, p := range c {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, " ")
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
	Parts   content `json:"parts"` // Google's
}

// told adds what the system is told, which counts as cached.
func (p *prompt) told(c content) { p.spent.cached += tokens(c.text()) }

// read adds messages. The last one of a user is what is answered, so that a caller sees its own request
// went through.
func (p *prompt) read(messages []message) {
	p.text = "Hello from the demo upstream."
	for _, m := range messages {
		said := append(m.Content, m.Parts...)
		if m.Role == "system" || m.Role == "developer" {
			p.told(said)
			continue
		}
		for _, one := range said {
			if given(one.CacheControl) {
				p.spent.written += tokens(one.Text)
			} else {
				p.spent.fresh += tokens(one.Text)
			}
		}
		if text := said.text(); text != "" && (m.Role == "user" || m.Role == "") {
			p.text = "You said: " + text
		}
	}
	p.spent.said = tokens(p.text)
}

// given tells a field that says something.
func given(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, []byte("null")) }

// readOpenAI reads a request of chat completions, responses or embeddings.
func readOpenAI(_ *http.Request, body []byte) (p prompt, err error) {
	var asked struct {
		Model         string    `json:"model"`
		Stream        bool      `json:"stream"`
		Messages      []message `json:"messages"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		ReasoningEffort json.RawMessage `json:"reasoning_effort"`
		// Responses and embeddings.
		Instructions   content         `json:"instructions"`
		Reasoning      json.RawMessage `json:"reasoning"`
		Input          json.RawMessage `json:"input"`
		EncodingFormat string          `json:"encoding_format"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return p, err
	}
	p = prompt{model: asked.Model, stream: asked.Stream, usageAsked: asked.StreamOptions.IncludeUsage, packed: asked.EncodingFormat == "base64"}
	messages := asked.Messages
	var text string
	if json.Unmarshal(asked.Input, &text) == nil {
		p.inputs = []string{text}
		messages = append(messages, message{Content: content{{Text: text}}})
	} else if json.Unmarshal(asked.Input, &p.inputs) == nil {
		for _, text := range p.inputs {
			messages = append(messages, message{Content: content{{Text: text}}})
		}
	} else {
		var items []message
		_ = json.Unmarshal(asked.Input, &items)
		messages = append(messages, items...)
	}
	p.told(asked.Instructions)
	p.read(messages)
	if given(asked.ReasoningEffort) || given(asked.Reasoning) {
		p.spent.thought = thinking
	}
	return p, nil
}

func readAnthropic(_ *http.Request, body []byte) (p prompt, err error) {
	var asked struct {
		Model    string    `json:"model"`
		Stream   bool      `json:"stream"`
		System   content   `json:"system"`
		Messages []message `json:"messages"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return p, err
	}
	p = prompt{model: asked.Model, stream: asked.Stream}
	p.told(asked.System)
	p.read(asked.Messages)
	return p, nil
}

// readGoogle reads a request whose path ends with <model>:<method>.
func readGoogle(r *http.Request, body []byte) (p prompt, err error) {
	var asked struct {
		Contents          []message `json:"contents"`
		SystemInstruction struct {
			Parts content `json:"parts"`
		} `json:"systemInstruction"`
		GenerationConfig struct {
			ThinkingConfig json.RawMessage `json:"thinkingConfig"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return p, err
	}
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	p = prompt{model: model, stream: method == "streamGenerateContent"}
	p.told(asked.SystemInstruction.Parts)
	p.read(asked.Contents)
	if given(asked.GenerationConfig.ThinkingConfig) {
		p.spent.thought = thinking
	}
	return p, nil
}
