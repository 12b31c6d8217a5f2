package console

import (
	"strings"
	"testing"
)

func TestABodyThatIsTooLargeIsAnsweredThoughItIsStillBeingSent(t *testing.T) {
	m := newManager(t)
	body := `{"name":"` + strings.Repeat("a", 4*maxBody) + `"}`
	for range 10 {
		if r := m.admin.must(413, "POST", "/api/admin/groups", body); r.body.Code != 41301 {
			t.Fatalf("answered %s", r.raw)
		}
	}
}
