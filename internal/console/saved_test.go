package console

import (
	"fmt"
	"strings"
	"testing"

	"callgate/internal/openapi"
)

// TestViewsAreSavedByTheirOwners, by a name of their own on each page, a hundred at most; nobody else sees or deletes them.
func TestViewsAreSavedByTheirOwners(t *testing.T) {
	m := newManager(t)
	ada, eve := m.developer("ada"), m.developer("eve")
	save := func(c *client, status int, page, name, query string) *reply {
		t.Helper()
		return c.must(status, "POST", "/api/views", fmt.Sprintf(`{"page":%q,"name":%q,"query":%q}`, page, name, query))
	}
	of := func(c *client) (names []string) {
		t.Helper()
		for _, v := range dataOf[openapi.SavedViewItems](t, c.must(200, "GET", "/api/views", "")).Items {
			names = append(names, v.Page+" "+v.Name+" "+v.Query)
		}
		return names
	}
	costs := field[string](t, save(ada, 201, "explore", " Costs ", "metric=cost&by=tag:team"), "id")
	save(ada, 201, "explore", "by user", "by=user")
	save(ada, 201, "calls", "Costs", "")
	if got, want := fmt.Sprint(of(ada)), "[calls Costs  explore by user by=user explore Costs metric=cost&by=tag:team]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := save(ada, 409, "explore", "COSTS", ""); !strings.Contains(got.raw, "has this name already") {
		t.Error(got.raw)
	}
	for body, says := range map[string]string{
		`{"page":"alerts","name":"x","query":""}`:                                 "must be one of calls, explore",
		`{"page":"calls","name":"","query":""}`:                                   "name",
		`{"page":"calls","name":"x","query":"?a=b"}`:                              "must be the query of a URL",
		`{"page":"calls","name":"x","query":"a=%zz"}`:                             "must be the query of a URL",
		`{"page":"calls","name":"x","query":"` + strings.Repeat("a", 4097) + `"}`: "at most 4096 bytes",
	} {
		if got := ada.must(400, "POST", "/api/views", body); !strings.Contains(got.raw, says) {
			t.Errorf("%.60s: %s, want %q", body, got.raw, says)
		}
	}
	save(eve, 201, "explore", "Costs", "")
	eve.must(404, "DELETE", "/api/views/"+costs, "")
	ada.must(200, "DELETE", "/api/views/"+costs, "")
	ada.must(404, "DELETE", "/api/views/"+costs, "")
	if got := of(eve); len(got) != 1 {
		t.Errorf("%v", got)
	}
	for i := range 98 {
		save(ada, 201, "calls", fmt.Sprint(i), "")
	}
	if got := save(ada, 409, "calls", "one more", ""); !strings.Contains(got.raw, "there are 100 saved views already") {
		t.Error(got.raw)
	}
}
