package application

import (
	"testing"

	"github.com/google/uuid"

	"callgate/internal/databasetest"
	"callgate/internal/secret"
)

var pepper = secret.Pepper("a pepper of thirty-two bytes long")

type world struct {
	*Store
	databasetest.Database
}

// newWorld is an empty database with the capabilities a, b, c and off, which is disabled.
func newWorld(t *testing.T) *world {
	t.Helper()
	database := databasetest.New(t)
	w := &world{New(database.Pool, database.Ring, pepper), database}
	w.Exec(`INSERT INTO capability_groups (id, name) VALUES ('g', 'Group')`)
	w.Exec(`INSERT INTO capabilities (id, name, group_id, status, upstream_base_url, upstream_key)
		SELECT id, id, 'g', CASE id WHEN 'off' THEN 'disabled' ELSE 'enabled' END, 'http://upstream', 'sealed'
		FROM unnest(ARRAY['a', 'b', 'c', 'off']) AS id`)
	return w
}

func (w *world) user() uuid.UUID {
	w.T.Helper()
	id := uuid.New()
	w.Exec(`INSERT INTO users (id, email) VALUES ($1, $2)`, id, id.String()+"@example.com")
	return id
}

func (w *world) create(owner uuid.UUID, name string, capabilities ...string) (Application, string) {
	w.T.Helper()
	a, key, err := w.Create(w.Ctx, owner, Draft{Name: name, CapabilityIDs: capabilities})
	if err != nil {
		w.T.Fatal(err)
	}
	return a, key
}
