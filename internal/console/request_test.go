package console

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/openapi"
	"callgate/internal/telemetry"
)

func TestEveryLineOfARequestNamesItsID(t *testing.T) {
	var lines strings.Builder
	logger := telemetry.NewLogger(&lines, "info")
	c := New(Deps{Logger: logger})
	app := fiber.New(fiber.Config{ErrorHandler: Fail(logger)})
	app.Get("/api/broken", c.common, c.route(func(*fiber.Ctx) (any, error) { return nil, errors.New("why") }))
	app.Get("/api/panics", c.common, c.route(func(*fiber.Ctx) (any, error) { panic("why") }))
	app.Get("/early", func(*fiber.Ctx) error { return errors.New("why") })
	for path, want := range map[string]int{"/api/broken": 1, "/api/panics": 2, "/early": 1} {
		lines.Reset()
		response, err := app.Test(httptest.NewRequest("GET", path, nil), 20_000)
		if err != nil {
			t.Fatal(err)
		}
		var answer openapi.Error
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		id := answer.RequestID.String()
		if answer.Code != 50001 || id != response.Header.Get("X-Request-Id") || strings.Contains(answer.Msg, "why") ||
			strings.Count(lines.String(), "\n") != want || strings.Count(lines.String(), `"requestId":"`+id+`"`) != want {
			t.Errorf("%s: %+v and in the log %s", path, answer, lines.String())
		}
	}
}

func TestABodyThatIsTooLargeIsAnsweredThoughItIsStillBeingSent(t *testing.T) {
	m := newManager(t)
	body := `{"name":"` + strings.Repeat("a", 4*maxBody) + `"}`
	for range 10 {
		if r := m.admin.must(413, "POST", "/api/admin/groups", body); r.body.Code != 41301 {
			t.Fatalf("answered %s", r.raw)
		}
	}
}
