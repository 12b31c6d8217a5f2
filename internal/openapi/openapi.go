// Package openapi is the HTTP contract: the OpenAPI document, which is written by hand and is the
// source of truth, and the page that shows it. internal/openapi/contract holds real answers against it.
package openapi

//go:generate go -C ../checks tool oapi-codegen -config ../openapi/types.yaml ../openapi/openapi.yaml

import (
	_ "embed" // the document
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is the contract in YAML.
//
//go:embed openapi.yaml
var Document []byte

// Tree parses the document into maps, slices and scalars; a new tree each time. Keys are strings.
func Tree() map[string]any {
	var tree map[string]any
	if err := yaml.Unmarshal(Document, &tree); err != nil {
		panic(fmt.Sprintf("openapi.yaml: %v", err)) // part of the program, read by every test
	}
	return tree
}

// Operation is one method of one path.
type Operation struct {
	Method  string // upper case
	Path    string // a template, e.g. /api/applications/{id}
	ID      string
	Tag     string
	Pointer string // JSON pointer to it
	Node    map[string]any
	// Parameters holds those of the path too, with every reference resolved.
	Parameters []map[string]any
	// Body is the request body with its reference resolved, nil without one.
	Body map[string]any
}

var methods = []string{"get", "head", "post", "put", "patch", "delete", "options"}

// Operations lists every operation of a tree, by path and then by method.
func Operations(tree map[string]any) []Operation {
	paths := object(tree["paths"])
	var all []Operation
	for _, path := range sortedKeys(paths) {
		item := object(paths[path])
		for _, method := range methods {
			node, ok := item[method].(map[string]any)
			if !ok {
				continue
			}
			op := Operation{
				Method: strings.ToUpper(method), Path: path, Node: node,
				Pointer: "/paths/" + Escape(path) + "/" + method,
				Body:    Resolve(tree, node["requestBody"]),
			}
			op.ID, _ = node["operationId"].(string)
			if tags := array(node["tags"]); len(tags) > 0 {
				op.Tag, _ = tags[0].(string)
			}
			for _, p := range slices.Concat(array(item["parameters"]), array(node["parameters"])) {
				op.Parameters = append(op.Parameters, Resolve(tree, p))
			}
			all = append(all, op)
		}
	}
	return all
}

// Resolve follows a reference within the tree, if node is one; nil for what is no object.
func Resolve(tree map[string]any, node any) map[string]any {
	_, resolved := Follow(tree, "", node)
	return resolved
}

// Follow is Resolve that also gives the JSON pointer of where it ended; pointer is where node stands.
func Follow(tree map[string]any, pointer string, node any) (string, map[string]any) {
	found := object(node)
	reference, ok := found["$ref"].(string)
	if !ok {
		return pointer, found
	}
	pointer = strings.TrimPrefix(reference, "#")
	at := tree
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		at = object(at[unescape(part)])
	}
	return Follow(tree, pointer, at)
}

// Escape makes a part of a JSON pointer (RFC 6901).
func Escape(part string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(part)
}

func unescape(part string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}

func object(node any) map[string]any {
	found, _ := node.(map[string]any)
	return found
}

func array(node any) []any {
	found, _ := node.([]any)
	return found
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
