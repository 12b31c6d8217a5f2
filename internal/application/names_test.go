package application

import (
	"testing"

	"callgate/internal/fault"
)

func TestAnApplicationIsNotNamedByWhatNobodyCanSee(t *testing.T) {
	w := newWorld(t)
	owner := w.user()
	for _, name := range []string{"\u200b\u200d", "a\u202eb", "\u2800"} {
		if _, _, err := w.Create(w.Ctx, owner, Draft{Name: name}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q is taken for a name: %v", name, err)
		}
	}
	if _, _, err := w.Create(w.Ctx, owner, Draft{Name: "👩‍💻 می\u200cخواهم"}); err != nil {
		t.Error(err)
	}
}
