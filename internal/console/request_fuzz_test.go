package console

import (
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"callgate/internal/fault"
	"callgate/internal/openapi"
)

// FuzzBodiesAreTakenOrRefusedAsInvalid decodes a body into every kind of request: it never panics, and
// what it refuses is the sender's fault.
func FuzzBodiesAreTakenOrRefusedAsInvalid(f *testing.F) {
	for _, body := range badBodies {
		if len(body) < maxBody {
			f.Add(body)
		}
	}
	for _, value := range badValues {
		f.Add([]byte(`{"name":` + string(value) + `,"capabilityIds":` + string(value) + `,"sortOrder":` + string(value) + `}`))
	}
	app := fiber.New()
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, into := range []any{
			&openapi.CodeRequest{}, &openapi.Credentials{}, &openapi.ApplicationDraft{}, &openapi.ApplicationEdit{}, &openapi.ApplicationStatusEdit{},
			&openapi.GroupDraft{}, &openapi.GroupEdit{}, &openapi.GroupOrder{}, &openapi.CapabilityDraft{}, &openapi.CapabilityEdit{},
			&openapi.CapabilityStatusEdit{}, &openapi.CapabilityOrder{}, &openapi.CheckRequest{},
		} {
			ctx := app.AcquireCtx(&fasthttp.RequestCtx{})
			ctx.Request().SetBody(body)
			err := decode(ctx, into)
			app.ReleaseCtx(ctx)
			if kind := fault.KindOf(err); err != nil && kind != fault.Invalid && kind != fault.TooLarge {
				t.Fatalf("%T: %v", into, err)
			}
		}
	})
}
