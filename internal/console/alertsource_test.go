package console

import (
	"testing"

	"github.com/google/uuid"

	"callgate/internal/identity"
	"callgate/internal/report"
)

// A key that a rotation left behind ends because it was meant to: nobody is warned of it.
func TestOfKeysThatEndTheOldOneOfARotationIsNotTold(t *testing.T) {
	m := newManager(t)
	dev := m.signIn(identity.Developer, "dev@example.com")
	made := dev.must(201, "POST", "/api/applications", `{"name":"Bot"}`)
	id := uuid.MustParse(field[string](t, made, "id"))
	path := "/api/applications/" + id.String()
	source := report.New(report.Deps{Pool: m.pool}).AlertSource()
	expiring := func() string {
		found, err := source.ExpiringKeys(t.Context(), []uuid.UUID{id})
		if err != nil {
			t.Fatal(err)
		}
		return found[id].Name
	}
	dev.must(200, "POST", path+"/access-key/rotate", `{"overlapHours":24}`)
	if name := expiring(); name != "" {
		t.Errorf("after a rotation %q is about to end", name)
	}
	dev.must(201, "POST", path+"/keys", `{"name":"Batch","expiresAt":"2099-01-01T00:00:00+08:00"}`)
	if name := expiring(); name != "Batch" {
		t.Errorf("%q is about to end", name)
	}
}
