package boot

import (
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// devSecrets returns the secrets of `callgate dev` as NAME=value pairs, made once and kept in
// DATA_DIR/secrets.env: data sealed under them must open again at the next start.
func devSecrets(dataDir string) (map[string]string, error) {
	path := filepath.Join(dataDir, "secrets.env")
	kept, err := readEnvFile(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	made := map[string]string{
		"JWT_SECRET":        randomSecret(),
		"ACCESS_KEY_PEPPER": randomSecret(),
		"ENCRYPTION_KEYS":   "dev:" + randomSecret(),
	}
	var text strings.Builder
	for _, name := range []string{"JWT_SECRET", "ACCESS_KEY_PEPPER", "ENCRYPTION_KEYS"} {
		fmt.Fprintf(&text, "%s=%s\n", name, made[name])
	}
	// Written aside and renamed: half a file would lock the data in for ever.
	if err := os.WriteFile(path+".new", []byte(text.String()), 0o600); err != nil {
		return nil, fmt.Errorf("keep secrets: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return nil, fmt.Errorf("keep secrets: %w", err)
	}
	return made, nil
}

func randomSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	return base64.StdEncoding.EncodeToString(key)
}

func readEnvFile(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	vars := map[string]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			vars[name] = value
		}
	}
	return vars, lines.Err()
}
