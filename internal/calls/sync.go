package calls

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// syncDir makes the entry of a new file durable.
func syncDir(name string) error {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}
