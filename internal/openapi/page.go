package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Assets are the page's style and script, which stand beside it: docs.css and docs.js.
//
//go:embed docs.css docs.js
var Assets embed.FS

//go:embed docs.html
var pageText string

// Page is the document for people: readable without scripts, and with them each operation can be
// tried. It needs docs.css and docs.js below its own path, /docs, and nothing else from anywhere;
// __THEME__ in it is system, light or dark.
var Page = sync.OnceValue(renderPage)

type pageTag struct {
	Name, Description string
	Operations        []pageOperation
}

type pageOperation struct {
	Operation
	Summary, Description string
	Security             []pageScheme
	BodyExample          string
	Answers              []pageAnswer
}

type pageScheme struct {
	Name  string
	Roles []any // that are needed
}

type pageAnswer struct {
	Status, Description, Example string
	Headers                      []string
	Schema                       template.HTML
}

func renderPage() []byte {
	tree := Tree()
	byTag := map[string][]pageOperation{}
	for _, op := range Operations(tree) {
		byTag[op.Tag] = append(byTag[op.Tag], pageOperationOf(tree, op))
	}
	var tags []pageTag
	for _, node := range array(tree["tags"]) {
		name := text(object(node), "name")
		tags = append(tags, pageTag{name, text(object(node), "description"), byTag[name]})
	}
	type schema struct {
		Name string
		YAML template.HTML
	}
	var schemas []schema
	all := object(object(tree["components"])["schemas"])
	for _, name := range sortedKeys(all) {
		schemas = append(schemas, schema{name, linked(all[name])})
	}
	info := object(tree["info"])
	var page bytes.Buffer
	functions := template.FuncMap{"prose": prose, "text": text, "pretty": pretty, "linked": linked}
	err := template.Must(template.New("page").Funcs(functions).Parse(pageText)).Execute(&page, map[string]any{
		"Title": text(info, "title"), "Summary": text(info, "summary"), "Description": text(info, "description"),
		"Tags": tags, "Schemas": schemas, "Security": object(object(tree["components"])["securitySchemes"]),
	})
	if err != nil {
		panic(fmt.Sprintf("the page of openapi.yaml: %v", err)) // part of the program, made by every test
	}
	return page.Bytes()
}

func pageOperationOf(tree map[string]any, op Operation) pageOperation {
	p := pageOperation{
		Operation: op, Summary: text(op.Node, "summary"), Description: text(op.Node, "description"),
		BodyExample: exampleOf(op.Body),
	}
	security, own := op.Node["security"]
	if !own {
		security = tree["security"]
	}
	for _, choice := range array(security) {
		for _, scheme := range sortedKeys(object(choice)) {
			p.Security = append(p.Security, pageScheme{scheme, array(object(choice)[scheme])})
		}
	}
	responses := object(op.Node["responses"])
	for _, status := range sortedKeys(responses) {
		response := Resolve(tree, responses[status])
		answer := pageAnswer{
			Status: status, Description: text(response, "description"),
			Example: exampleOf(response), Headers: sortedKeys(object(response["headers"])),
		}
		if media := object(object(response["content"])["application/json"]); media != nil {
			answer.Schema = linked(media["schema"])
		}
		p.Answers = append(p.Answers, answer)
	}
	return p
}

// exampleOf gives the example of the first kind of content a body or a response has.
func exampleOf(holder map[string]any) string {
	content := object(holder["content"])
	for _, kind := range sortedKeys(content) {
		if example, ok := object(content[kind])["example"]; ok {
			return pretty(example)
		}
	}
	return ""
}

func text(node map[string]any, name string) string {
	found, _ := node[name].(string)
	return found
}

// pretty shows an example: text as it is, everything else as JSON.
func pretty(value any) string {
	if plain, ok := value.(string); ok {
		return plain
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(out.String())
}

var reference = regexp.MustCompile(`\$ref: (?:&#39;|&#34;)?#/components/schemas/(\w+)(?:&#39;|&#34;)?`)

// linked shows a schema as YAML whose references lead to the schemas they name.
func linked(schema any) template.HTML {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(schema); err != nil {
		return ""
	}
	escaped := html.EscapeString(strings.TrimSpace(out.String()))
	return template.HTML(reference.ReplaceAllString(escaped, `<a href="#schema-$1">$1</a>`)) //nolint:gosec // escaped above
}

var (
	bold = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	code = regexp.MustCompile("`([^`]+)`")
)

// prose shows the little Markdown of descriptions: paragraphs, tables, bold text and code.
func prose(markdown string) template.HTML {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(markdown), "\n\n") {
		escaped := html.EscapeString(strings.TrimSpace(paragraph))
		escaped = bold.ReplaceAllString(code.ReplaceAllString(escaped, "<code>$1</code>"), "<strong>$1</strong>")
		if !strings.HasPrefix(escaped, "|") {
			out.WriteString("<p>" + escaped + "</p>")
			continue
		}
		out.WriteString("<table>")
		cell := "th"
		for line := range strings.SplitSeq(escaped, "\n") {
			if strings.HasPrefix(line, "|---") {
				cell = "td"
				continue
			}
			out.WriteString("<tr>")
			for field := range strings.SplitSeq(strings.Trim(line, "| "), "|") {
				out.WriteString("<" + cell + ">" + strings.TrimSpace(field) + "</" + cell + ">")
			}
			out.WriteString("</tr>")
		}
		out.WriteString("</table>")
	}
	return template.HTML(out.String()) //nolint:gosec // escaped above
}
