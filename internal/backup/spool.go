package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/calls/spool"
)

// dumpSpools copies what waits in a spool directory. A file that is gone meanwhile was confirmed.
func dumpSpools(dir string, a *archive) (spools []Spool, err error) {
	left, err := spool.Unconfirmed(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("SPOOL_DIR: %s is not there; unset it where gateways keep their spools elsewhere", dir)
	}
	if err != nil {
		return nil, err
	}
	for _, home := range left {
		s := Spool{ID: home.ID, Files: map[string]string{}}
		for _, name := range home.Files {
			from, err := os.Open(filepath.Join(dir, home.ID.String(), name))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read a segment: %w", err)
			}
			s.Files[name] = "spool/" + home.ID.String() + "/" + name + ".zst"
			out, err := a.create(s.Files[name])
			if err != nil {
				return nil, errors.Join(err, from.Close())
			}
			_, err = io.Copy(out, from)
			if err = errors.Join(err, out.Close(), from.Close()); err != nil {
				return nil, fmt.Errorf("copy a segment: %w", err)
			}
		}
		spools = append(spools, s)
	}
	return spools, nil
}

// loadSpools puts back what is not there.
func loadSpools(dir, spoolDir string, spools []Spool) (segments int, err error) {
	for _, s := range spools {
		if _, err := spool.PutBack(spoolDir, s.ID, "", nil); err != nil {
			return segments, err
		}
		for name, path := range s.Files {
			from, err := openInput(dir, path)
			if err != nil {
				return segments, err
			}
			put, err := spool.PutBack(spoolDir, s.ID, name, from)
			if err = errors.Join(err, from.Close()); err != nil {
				return segments, err
			}
			if put {
				segments++
			}
		}
	}
	return segments, nil
}

const (
	throughPatience = 30 * time.Second // of a gateway whose ClickHouse is slow
	throughEvery    = 200 * time.Millisecond
	silence         = "10 seconds" // without a report: nobody is there who could be waited for
)

// awaitThrough waits until spools that are not copied have everything in ClickHouse that was handed over before an
// instant, and names those that have not.
func awaitThrough(ctx context.Context, conn *pgx.Conn, copied []Spool, before time.Time) (behind []string, err error) {
	own := make([]uuid.UUID, len(copied))
	for i, s := range copied {
		own[i] = s.ID
	}
	for until := time.Now().Add(throughPatience); ; {
		rows, err := conn.Query(ctx, `SELECT id::text, updated_at < now() - interval '`+silence+`' FROM spools
			WHERE NOT retired AND through < $1 AND id <> ALL($2) ORDER BY 1`, before, own)
		if err != nil {
			return nil, fmt.Errorf("ask the ledger: %w", err)
		}
		behind, waiting := []string{}, false
		var id string
		var silent bool
		_, err = pgx.ForEachRow(rows, []any{&id, &silent}, func() error {
			behind, waiting = append(behind, id), waiting || !silent
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("ask the ledger: %w", err)
		}
		if !waiting || time.Now().After(until) {
			return slices.Clip(behind), nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(throughEvery):
		}
	}
}
