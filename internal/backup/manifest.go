package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

const (
	manifestName  = "manifest.json"
	manifestToday = 1 // the format of a backup
)

// Manifest says what is in a backup.
type Manifest struct {
	Format  int       `json:"format"`
	ID      uuid.UUID `json:"id"`
	Version string    `json:"version"` // of the callgate that made it
	BeganAt time.Time `json:"beganAt"` // every call that was recorded before is in it, but for Behind
	EndedAt time.Time `json:"endedAt"`

	Postgres   Postgres        `json:"postgres"`
	ClickHouse ClickHouse      `json:"clickhouse"`
	Spools     []Spool         `json:"spools"` // those in SPOOL_DIR
	Behind     []string        `json:"behind"` // spools on other disks that were not through
	Keys       []Key           `json:"keys"`
	Pepper     string          `json:"pepper"` // fingerprint
	Files      map[string]File `json:"files"`  // by their path, all that there are
}

// Postgres is what is kept of PostgreSQL: the version of the schema, tables in the order of their references, sequences.
type Postgres struct {
	Schema    int64            `json:"schema"`
	Tables    []Table          `json:"tables"`
	Sequences map[string]int64 `json:"sequences"`
}

// ClickHouse is what is kept of ClickHouse.
type ClickHouse struct {
	Schema    int64   `json:"schema"`
	Shards    int     `json:"shards"`    // 0: a single server
	CallsFrom string  `json:"callsFrom"` // first Beijing day whose calls are kept; rollups are of days before
	Tables    []Table `json:"tables"`    // a table may be there several times, once a file
}

// Table is the rows of a table in a file.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	File    string   `json:"file"`
}

// Spool is one process's directory in SPOOL_DIR.
type Spool struct {
	ID    uuid.UUID         `json:"id"`
	Files map[string]string `json:"files"` // name there: file here
}

// Key is an encryption key under which values of the backup are sealed.
type Key struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint"`
	Values      int    `json:"values"`
}

// File is what a file must be.
type File struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// calls is how many calls are in it, whose records do not wait in a spool.
func (m *Manifest) calls() (n int64) {
	for _, t := range m.ClickHouse.Tables {
		if t.Name == rawTable {
			n += t.Rows
		}
	}
	return n
}

// bytes is the size of all files.
func (m *Manifest) bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// ReadManifest reads the manifest of a backup.
func ReadManifest(dir string) (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no backup: there is no %s in it; name the directory that callgate backup wrote", dir, manifestName)
	}
	if err != nil {
		return nil, fmt.Errorf("read the backup: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%s of the backup is damaged: %w", manifestName, err)
	}
	if m.Format != manifestToday {
		return nil, fmt.Errorf("the backup is of format %d, written by callgate %s: restore it with that version", m.Format, m.Version)
	}
	for path := range m.Files {
		if !filepath.IsLocal(path) {
			return nil, fmt.Errorf("%s of the backup is damaged: it names a file outside", manifestName)
		}
	}
	return &m, nil
}
