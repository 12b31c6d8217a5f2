package catalog

import (
	"testing"

	"callgate/internal/databasetest"
	"callgate/internal/fault"
)

func TestGroupsAndCapabilitiesAreNotNamedByWhatNobodyCanSee(t *testing.T) {
	w := newWorld(t)
	w.group("g", 1)
	w.capability("c", "g", 1)
	for _, name := range []string{"\u200b\u200d", "a\u202eb", "\u2800"} {
		_, err := w.CreateGroup(w.Ctx, admin, GroupSettings{ID: new("h"), Name: &name})
		databasetest.MustFail(t, err, fault.Invalid, "name")
		_, err = w.Update(w.Ctx, admin, "c", Settings{Name: &name})
		databasetest.MustFail(t, err, fault.Invalid, "name")
	}
	if _, err := w.Update(w.Ctx, admin, "c", Settings{Name: new("👩‍💻 می\u200cخواهم")}); err != nil {
		t.Error(err)
	}
}
