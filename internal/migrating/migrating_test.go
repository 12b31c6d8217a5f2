package migrating_test

import (
	"os"
	"testing"

	"callgate/internal/embedded"
	"callgate/internal/progress"
	"callgate/sql"
)

// TestMigrationsThatAreShownAreThoseThatAreApplied: with progress a schema is made, made anew and left alone as without.
func TestMigrationsThatAreShownAreThoseThatAreApplied(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/progress")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	url := embedded.Postgres(t)
	newest, err := sql.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []int64{1, newest, newest - 1} {
		if err := sql.Remake(t.Context(), url, from); err != nil {
			t.Fatal(err)
		}
		if err := sql.UpWithProgress(t.Context(), url, progress.To(file)); err != nil {
			t.Fatal(err)
		}
		if err := sql.UpWithProgress(t.Context(), url, progress.To(file)); err != nil {
			t.Fatalf("when there is nothing to do: %v", err)
		}
	}
}
