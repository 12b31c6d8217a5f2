package console

import (
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"callgate/internal/beijing"
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
			err := decode(ctx, into, maxBody)
			app.ReleaseCtx(ctx)
			if kind := fault.KindOf(err); err != nil && kind != fault.Invalid && kind != fault.TooLarge {
				t.Fatalf("%T: %v", into, err)
			}
		}
	})
}

// FuzzQueriesAreTakenOrRefusedAsInvalid reads the parameters of every list from any query and path:
// what it takes is within bounds, and what it refuses is the sender's fault.
func FuzzQueriesAreTakenOrRefusedAsInvalid(f *testing.F) {
	for _, value := range badQueries {
		f.Add([]byte("page="+value+"&start="+value+"&model="+value), "zh;q=0.5,en-US, *")
	}
	f.Add([]byte("page=2&size=100&start=2026-08-11&end=2026-08-17&model=gpt%2D5"), "zh-Hant-TW")
	console, app := New(Deps{}), fiber.New()
	f.Fuzz(func(t *testing.T, query []byte, language string) {
		ctx := app.AcquireCtx(&fasthttp.RequestCtx{})
		defer app.ReleaseCtx(ctx)
		ctx.Request().URI().SetQueryStringBytes(query)
		ctx.Request().Header.Set(fiber.HeaderAcceptLanguage, language)
		page, size, err := pageAndSize(ctx)
		if err == nil && (page < 1 || size < 1 || size > maxSize) {
			t.Fatalf("page %d of size %d", page, size)
		}
		days, badDays := console.daysOf(ctx)
		if badDays == nil && (days.Days() < 1 || days.Days() > beijing.MaxDays) {
			t.Fatalf("days %v", days)
		}
		model, badModel := textParam(ctx, "model")
		if badModel == nil && !fault.Storable(model) {
			t.Fatalf("model %q", model)
		}
		for _, err := range []error{err, badDays, badModel} {
			switch fault.KindOf(err) {
			case fault.Invalid, fault.InvalidDate, fault.InvalidRange:
			default:
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if said := inLanguageOf(ctx)("no such object"); said != "no such object" && said != fault.Chinese("no such object") {
			t.Fatalf("said %q", said)
		}
	})
}
