package contract

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"callgate/internal/openapi"
)

// Generator makes values that follow a schema of the document, for the keywords the document uses.
type Generator struct {
	Rand *rand.Rand
	// Known gives the value of a property or parameter that must name something real, ok false when
	// any will do. The items of an array are asked for as name[].
	Known func(name string) (value any, ok bool)

	tree map[string]any
}

// NewGenerator returns a generator whose values depend on random and known alone.
func (c *Checker) NewGenerator(random *rand.Rand, known func(string) (any, bool)) *Generator {
	return &Generator{random, known, c.tree}
}

// Body makes a JSON body for an operation that takes one.
func (g *Generator) Body(op openapi.Operation) any {
	content, _ := op.Body["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	return g.Value("", media["schema"])
}

// Value makes a value of a schema.
func (g *Generator) Value(name string, node any) any {
	if value, ok := g.Known(name); ok {
		return value
	}
	schema := openapi.Resolve(g.tree, node)
	if choices, ok := schema["enum"].([]any); ok {
		return choices[g.Rand.IntN(len(choices))]
	}
	switch schema["type"] {
	case "integer":
		least, most := number(schema, "minimum", -1000), number(schema, "maximum", 1000)
		if g.Rand.IntN(4) > 0 {
			most = min(most, least+20)
		}
		return least + g.Rand.Int64N(most-least+1)
	case "boolean":
		return g.Rand.IntN(2) == 0
	case "array":
		return g.array(name, schema)
	case "string":
		return g.text(schema)
	}
	return g.object(schema)
}

func (g *Generator) array(name string, schema map[string]any) []any {
	items := []any{}
	for range max(int(number(schema, "minItems", 0)), g.Rand.IntN(4)) {
		item := g.Value(name+"[]", schema["items"])
		if schema["uniqueItems"] != true || !slices.Contains(items, item) {
			items = append(items, item)
		}
	}
	return items
}

func (g *Generator) object(schema map[string]any) map[string]any {
	properties, required := map[string]any{}, map[string]bool{}
	g.collect(schema, properties, required)
	made := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) { // in a fixed order: a seed repeats a run
		if required[name] || g.Rand.IntN(2) == 0 {
			made[name] = g.Value(name, properties[name])
		}
	}
	return made
}

// collect gathers the properties of a schema and of all it is composed of; the parts describe most.
func (g *Generator) collect(schema map[string]any, properties map[string]any, required map[string]bool) {
	own, _ := schema["properties"].(map[string]any)
	maps.Copy(properties, own)
	names, _ := schema["required"].([]any)
	for _, name := range names {
		required[name.(string)] = true
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		g.collect(openapi.Resolve(g.tree, part), properties, required)
	}
}

// letters are of one byte to four, and some that markup, SQL and paths give a meaning.
var letters = []rune(`abcxyzABCXYZ0189 _-.,:;'"<>&%$/\()[]{}äß中文字Ω😀`)

const identifierLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (g *Generator) text(schema map[string]any) string {
	switch schema["format"] {
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", g.Rand.Uint32(), g.Rand.IntN(1<<16), g.Rand.IntN(1<<12), g.Rand.IntN(1<<12), g.Rand.Int64N(1<<48))
	case "date":
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, g.Rand.IntN(36_500)).Format(time.DateOnly)
	}
	if schema["pattern"] != nil {
		return g.identifier(string(identifierLetters), "._:-")
	}
	var out strings.Builder
	least := int(number(schema, "minLength", 0))
	for range least + g.Rand.IntN(20) {
		out.WriteRune(letters[g.Rand.IntN(len(letters))])
	}
	if least > 0 {
		return "n" + out.String() // not blank once trimmed
	}
	return out.String()
}

// identifier is the one pattern that requests have.
func (g *Generator) identifier(first, more string) string {
	var out strings.Builder
	out.WriteByte(first[g.Rand.IntN(len(first))])
	rest := first + more
	for range 8 + g.Rand.IntN(55) {
		out.WriteByte(rest[g.Rand.IntN(len(rest))])
	}
	return out.String()
}

func number(schema map[string]any, keyword string, absent int64) int64 {
	switch n := schema[keyword].(type) {
	case int:
		return int64(n)
	case int64:
		return n
	}
	return absent
}
