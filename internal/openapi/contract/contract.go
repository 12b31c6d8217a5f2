// Package contract holds real requests and answers against the OpenAPI document, for tests. An
// answer that the document does not describe (its status, a header, a field) is an error, and so is
// a body that was taken although the document forbids it.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"callgate/internal/openapi"
)

// Exchange is one request and its answer.
type Exchange struct {
	Method      string
	URL         *url.URL
	RequestBody []byte
	Status      int
	Header      http.Header
	Body        []byte // nil when it was not read: then only status and headers are held against the document
}

// Checker holds exchanges against the document and remembers which operations it has seen. It may be
// used by several goroutines.
type Checker struct {
	tree       map[string]any
	operations []openapi.Operation
	compiler   *jsonschema.Compiler

	mu         sync.Mutex
	schemas    map[string]*jsonschema.Schema
	seen       map[string]int // answers with 2xx or 3xx, by operation id
	violations []string
}

const resource = "callgate:openapi"

// New reads the document; an invalid schema in it is an error.
func New() (*Checker, error) {
	raw, err := json.Marshal(openapi.Tree())
	if err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw)) // with exact numbers
	if err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	c := &Checker{
		tree:     openapi.Tree(),
		compiler: jsonschema.NewCompiler(),
		schemas:  map[string]*jsonschema.Schema{},
		seen:     map[string]int{},
	}
	c.operations = openapi.Operations(c.tree)
	c.compiler.AssertFormat()
	if err := c.compiler.AddResource(resource, document); err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	return c, c.compileAll()
}

func (c *Checker) compileAll() error {
	components := c.tree["components"].(map[string]any)
	for name := range components["schemas"].(map[string]any) {
		if _, err := c.schema("/components/schemas/" + openapi.Escape(name)); err != nil {
			return err
		}
	}
	return nil
}

// Check holds one exchange against the document; paths it knows nothing of are let through. The
// violation is remembered too.
func (c *Checker) Check(e Exchange) error {
	err := c.check(e)
	if err != nil {
		err = fmt.Errorf("outside the contract: %s %s: %d: %w\n%.2000s", e.Method, e.URL.Path, e.Status, err, e.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.violations = append(c.violations, err.Error())
	}
	return err
}

// Violations lists what Check has refused so far.
func (c *Checker) Violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.violations)
}

// Seen says how often an operation was answered as intended (2xx or 3xx).
func (c *Checker) Seen(operationID string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[operationID]
}

// Operations lists the documented operations below a path prefix.
func (c *Checker) Operations(prefix string) []openapi.Operation {
	return slices.DeleteFunc(slices.Clone(c.operations), func(op openapi.Operation) bool { return !strings.HasPrefix(op.Path, prefix) })
}

func (c *Checker) check(e Exchange) error {
	op, knownPath := c.find(e.Method, e.URL.EscapedPath())
	switch {
	case op != nil:
		return c.checkAnswer(op, e)
	case knownPath && strings.HasPrefix(e.URL.Path, "/api/"):
		if e.Status != http.StatusMethodNotAllowed {
			return fmt.Errorf("an undocumented method must be answered with 405")
		}
		return c.checkResponse("/components/responses/MethodNotAllowed", e)
	case strings.HasPrefix(e.URL.Path, "/api/"):
		if e.Status == http.StatusMethodNotAllowed { // a path whose placeholder is malformed
			return c.checkResponse("/components/responses/MethodNotAllowed", e)
		}
		if e.Status != http.StatusNotFound {
			return fmt.Errorf("an undocumented path must be answered with 404")
		}
		return c.checkResponse("/components/responses/NotFound", e)
	}
	return nil
}

func (c *Checker) checkAnswer(op *openapi.Operation, e Exchange) error {
	responses, _ := op.Node["responses"].(map[string]any)
	status := strconv.Itoa(e.Status)
	_, fallback := responses["default"]
	if _, documented := responses[status]; !documented && !fallback {
		return fmt.Errorf("operation %s has no status %s", op.ID, status)
	} else if !documented {
		status = "default"
	}
	pointer, _ := openapi.Follow(c.tree, op.Pointer+"/responses/"+status, responses[status])
	err := c.checkResponse(pointer, e)
	if err != nil && fallback && status != "default" { // the upstream's own answer with this status
		pointer, _ = openapi.Follow(c.tree, op.Pointer+"/responses/default", responses["default"])
		err = c.checkResponse(pointer, e)
	}
	if err != nil || e.Status >= 400 {
		return err
	}
	c.mu.Lock()
	c.seen[op.ID]++
	c.mu.Unlock()
	return c.checkRequest(op, e)
}

// checkResponse holds headers and body against the response object at pointer.
func (c *Checker) checkResponse(pointer string, e Exchange) error {
	_, response := openapi.Follow(c.tree, pointer, map[string]any{"$ref": "#" + pointer})
	headers, _ := response["headers"].(map[string]any)
	for name := range headers {
		if err := c.checkHeader(pointer+"/headers/"+name, name, headers[name], e.Header); err != nil {
			return err
		}
	}
	content, _ := response["content"].(map[string]any)
	if len(content) == 0 || content["*/*"] != nil || e.Method == http.MethodHead {
		return nil
	}
	kind, _, err := mime.ParseMediaType(e.Header.Get("Content-Type"))
	if err != nil || content[kind] == nil {
		return fmt.Errorf("content type %q is not documented", e.Header.Get("Content-Type"))
	}
	if kind != "application/json" || e.Body == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(e.Body))
	if err != nil {
		return fmt.Errorf("body is not JSON: %w", err)
	}
	return c.validate(pointer+"/content/application~1json/schema", value)
}

func (c *Checker) checkHeader(pointer, name string, node any, got http.Header) error {
	pointer, header := openapi.Follow(c.tree, pointer, node)
	values := got.Values(name)
	if required, _ := header["required"].(bool); len(values) == 0 && required {
		return fmt.Errorf("header %s is missing", name)
	}
	for _, value := range values {
		if err := c.validate(pointer+"/schema", value); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	return nil
}

// checkRequest looks at a request that was answered as intended: it must have been a documented one.
func (c *Checker) checkRequest(op *openapi.Operation, e Exchange) error {
	for _, p := range op.Parameters {
		if p["in"] == "query" && p["required"] == true && !e.URL.Query().Has(p["name"].(string)) {
			return fmt.Errorf("answered without the query parameter %s", p["name"])
		}
	}
	content, _ := op.Body["content"].(map[string]any)
	if content["application/json"] == nil || op.Body["required"] != true && absent(e.RequestBody) {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(e.RequestBody))
	if err != nil {
		return fmt.Errorf("answered although the body is not JSON: %w", err)
	}
	pointer, _ := openapi.Follow(c.tree, op.Pointer+"/requestBody", op.Node["requestBody"])
	if err := c.validate(pointer+"/content/application~1json/schema", value); err != nil {
		return fmt.Errorf("answered although the body is not documented: %w", err)
	}
	return nil
}

// absent tells whether a request says nothing in its body, where it need not.
func absent(body []byte) bool {
	text := string(bytes.TrimSpace(body))
	return text == "" || text == "null"
}

// CheckBody holds a JSON body against a response of the document's components. Of an attributed call's answer Check cannot: it may
// be the upstream's.
func (c *Checker) CheckBody(response string, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("body is not JSON: %w", err)
	}
	return c.validate("/components/responses/"+response+"/content/application~1json/schema", value)
}

func (c *Checker) validate(pointer string, value any) error {
	schema, err := c.schema(pointer)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func (c *Checker) schema(pointer string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if schema := c.schemas[pointer]; schema != nil {
		return schema, nil
	}
	schema, err := c.compiler.Compile(resource + "#" + (&url.URL{Path: pointer}).EscapedPath())
	if err != nil {
		return nil, fmt.Errorf("schema at %s: %w", pointer, err)
	}
	c.schemas[pointer] = schema
	return schema, nil
}

// find gives the operation of a request, and whether its path is documented at all. A path without
// placeholders wins over one with them.
func (c *Checker) find(method, path string) (*openapi.Operation, bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var found *openapi.Operation
	known, fewest := false, -1
	for i, op := range c.operations {
		placeholders, ok := match(op.Path, path)
		if op.Method != method && op.Path != "/gateway/{path}" && strings.HasPrefix(op.Path, "/gateway/") {
			continue // the placeholder beside it takes every method
		}
		if !ok || fewest >= 0 && placeholders > fewest {
			continue
		}
		if placeholders != fewest {
			found, fewest = nil, placeholders
		}
		known = true
		if op.Method == method || forwards(op.Path) && op.Method == http.MethodPost && found == nil {
			found = &c.operations[i]
		}
	}
	return found, known
}

// forwards tells whether what is below a template is the gateway's, which takes every method.
func forwards(template string) bool {
	return strings.HasPrefix(template, "/gateway/") || strings.HasPrefix(template, "/via/")
}

// match compares a path with a template; the gateway's last placeholder takes slashes too, and counts for two: any other
// template says more.
func match(template, path string) (placeholders int, ok bool) {
	if rest, found := strings.CutPrefix(path, "/gateway/"); found && template == "/gateway/{path}" {
		return 2, rest != ""
	}
	if rest, found := strings.CutPrefix(path, "/via/"); found && template == "/via/{capability}/{path}" {
		capability, rest, _ := strings.Cut(rest, "/")
		return 2, capability != "" && rest != ""
	}
	want, got := strings.Split(template, "/"), strings.Split(strings.TrimSuffix(path, "/"), "/")
	if len(want) != len(got) {
		return 0, false
	}
	for i := range want {
		switch {
		case strings.HasPrefix(want[i], "{"):
			placeholders++
			if got[i] == "" {
				return 0, false
			}
		case !strings.EqualFold(want[i], got[i]): // as Fiber matches
			return 0, false
		}
	}
	return placeholders, true
}
