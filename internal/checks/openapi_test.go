package checks

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"callgate/internal/openapi"
)

func TestDocumentIsValidOpenAPI(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(openapi.Document)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
}
