package spool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestWhatIsPutBackNeverTakesThePlaceOfWhatIsThere, sent or not, and is a segment of long ago: its rows are looked for.
func TestWhatIsPutBackNeverTakesThePlaceOfWhatIsThere(t *testing.T) {
	dir, id := t.TempDir(), uuid.New()
	home := filepath.Join(dir, id.String())
	waiting, sent := "000000000001-"+uuid.NewString(), "000000000002-"+uuid.NewString()
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{waiting + unsentSuffix: "longer", sent + sentSuffix: "sent"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fresh := "000000000003-" + uuid.NewString() + unsentSuffix
	for name, want := range map[string]bool{waiting + unsentSuffix: false, sent + unsentSuffix: false, fresh: true} {
		for range 2 {
			put, err := PutBack(dir, id, name, strings.NewReader("short"))
			if err != nil || put != want {
				t.Errorf("%s: %v, %v", name, put, err)
			}
			want = false
		}
	}
	info, err := os.Stat(filepath.Join(home, fresh))
	if err != nil || time.Since(info.ModTime()) < tokensForgotten/2 {
		t.Errorf("%v, %v", info, err)
	}
	if kept, err := os.ReadFile(filepath.Join(home, waiting+unsentSuffix)); err != nil || string(kept) != "longer" {
		t.Errorf("%s, %v", kept, err)
	}
	for _, name := range []string{"../x" + unsentSuffix, "lock", ""} {
		if put, err := PutBack(dir, id, name, strings.NewReader("x")); err == nil || put {
			t.Errorf("%q is put", name)
		}
	}
	left, err := Unconfirmed(dir)
	if err != nil || len(left) != 1 || left[0].ID != id || len(left[0].Files) != 2 {
		t.Errorf("waiting: %+v, %v", left, err)
	}
}
