package console

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"callgate/internal/fault"
	"callgate/internal/openapi"
)

// decoded decodes body into dst as a request's.
func decoded(body string, dst any) error {
	app := fiber.New()
	ctx := app.AcquireCtx(&fasthttp.RequestCtx{})
	defer app.ReleaseCtx(ctx)
	ctx.Request().SetBodyString(body)
	return decode(ctx, dst, maxBody)
}

// manyKeys is the largest body of keys that mean nothing, or nearly something.
func manyKeys(key func(i int) string) string {
	var body strings.Builder
	body.WriteString(`{"":0`)
	for i := 0; body.Len() < maxBody-64; i++ {
		fmt.Fprintf(&body, `,"%s":7`, key(i))
	}
	return body.String() + "}"
}

func TestABodyOfManyKeysCostsOnePassAndTellsAFewFaults(t *testing.T) {
	for what, body := range map[string]string{
		"unknown": manyKeys(func(i int) string { return fmt.Sprint("k", i) }),
		"spelled": manyKeys(func(i int) string { // the bits of i make letters of it large
			name := []byte("upstreambaseurl")
			for bit := range name {
				if i>>bit&1 == 1 {
					name[bit] -= 'a' - 'A'
				}
			}
			return string(name)
		}),
		"escaped": manyKeys(func(i int) string { return fmt.Sprintf(`\u006b%d`, i) }),
	} {
		var err error
		result := testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				err = decoded(body, &openapi.CapabilityDraft{})
			}
		})
		var f *fault.Error
		if errors.As(err, &f) && len(f.Fields) > 20 {
			t.Errorf("%s: %d faults are told", what, len(f.Fields))
		}
		t.Logf("%s: %v, %d allocations of %d KiB, %v", what, time.Duration(result.NsPerOp()), result.AllocsPerOp(), result.AllocedBytesPerOp()>>10, err)
		if result.AllocedBytesPerOp() > 16*maxBody {
			t.Errorf("%s: a body of 1 MiB takes %d KiB", what, result.AllocedBytesPerOp()>>10)
		}
	}
}

func TestOfSeveralSpellingsTheContractsWinsAndOfDuplicatesTheLast(t *testing.T) {
	for body, want := range map[string]string{
		`{"name":"a","NAME":"b"}`: "a",
		`{"NAME":"b","name":"a"}`: "a",
		`{"name":"a","name":"b"}`: "b",
		`{"Name":"b"}`:            "b",
		`{"n\u0061me":"b"}`:       "b",
		`{"other":null,"x":{"name":7},"name":"}{\"","y":[["]"]]}`: `}{"`,
		" {\n\"name\" :\t\"a\" } ":                                "a",
	} {
		var draft openapi.ApplicationDraft
		if err := decoded(body, &draft); err != nil || draft.Name == nil || *draft.Name != want {
			t.Errorf("%s: %v, %v", body, draft.Name, err)
		}
	}
	for body, want := range map[string]string{
		`{"name":null}`: "name", `{"name":"a","name":null}`: "name", `{"name":7}`: "name", `{"capabilityIds":[7]}`: "capabilityIds",
	} {
		var f *fault.Error
		if err := decoded(body, &openapi.ApplicationDraft{}); !errors.As(err, &f) || f.Fields[want] == "" {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestSignInBodiesAreAtMostFourKilobytes(t *testing.T) {
	d := newAuthServer(t, "")
	for _, path := range []string{"/api/auth/code", "/api/auth/login", "/api/admin/auth/code", "/api/admin/auth/login"} {
		large := `{"email":"` + authDeveloper + `","code":"1","more":"` + strings.Repeat("a", maxSignInBody) + `"}`
		d.want(fault.TooLarge, d.ask("POST", path, large))
		if got := d.ask("POST", path, large[:maxSignInBody-2]+`"}`); got.status == http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d bytes are refused", path, maxSignInBody)
		}
	}
}

func TestStrangersAreLimitedByTheirAddressBeforeTheirBodiesAreRead(t *testing.T) {
	m := newManager(t)
	log, now := slog.New(slog.DiscardHandler), time.Now()
	m.listen(New(Deps{Identity: m.identity, StrangerRateLimit: 3, Now: func() time.Time { return now }, Logger: log}), log)
	wait := func(from string, status int, method, path string) (retryAfter string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, m.url+path, strings.NewReader("{"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Real-Ip", from)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != status {
			t.Errorf("%s %s of %s: %d, want %d", method, path, from, response.StatusCode, status)
		}
		return response.Header.Get("Retry-After")
	}
	const stranger, neighbour = "203.0.113.7", "203.0.113.8"
	for range 3 {
		wait(stranger, 400, "POST", "/api/auth/login")
	}
	if seconds := wait(stranger, 429, "POST", "/api/admin/auth/code"); seconds != "20" {
		t.Errorf("Retry-After %q", seconds)
	}
	wait(neighbour, 400, "POST", "/api/auth/login")
	// What the pages ask for is counted apart from what a flood of sign-ins spends.
	for range 3 {
		wait(stranger, 200, "GET", "/api/config")
	}
	wait(stranger, 429, "GET", "/api/config")
	for _, path := range []string{"/api/auth/token", "/api/auth/logout", "/api/admin/auth/token", "/api/admin/auth/logout"} {
		wait(stranger, 429, "POST", path)
	}
	m.developer("ada").must(200, "GET", "/api/auth/me", "")
}
