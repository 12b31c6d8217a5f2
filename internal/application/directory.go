package application

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"callgate/internal/fault"
)

// The choices of the directory.
const (
	DisabledByAdministrator = "disabledByAdministrator" // a status beside Active and Disabled, which has these too

	Newest  = "newest"
	ByName  = "name"
	ByOwner = "owner" // by the e-mail address of its owner
)

// maxSought is how many characters a text may have that is searched for.
const maxSought = 64

// Entry is an application in the directory of all owners' applications. It never holds a key.
type Entry struct {
	Owned
	Disabling    *Disabling // nil: no administrator has disabled it
	OwnerStatus  string     // as its owner wants it
	Capabilities int64      // that are bound, disabled ones included
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// DirectoryFilter says which applications are listed, and how. The zero value is all, newest first.
type DirectoryFilter struct {
	Text       string // part of name, id or owner's e-mail address, whatever the case
	Status     string // Active, Disabled, DisabledByAdministrator or empty
	Order      string // Newest, ByName, ByOwner or empty
	Page, Size int
}

var (
	directoryStatus = map[string]string{
		"": `true`, Active: `a.status = 'active'`, Disabled: `a.status = 'disabled'`,
		DisabledByAdministrator: `a.administrator_disabled_at IS NOT NULL`,
	}
	directoryOrder = map[string]string{
		"": ``, Newest: ``, ByName: `lower(a.name), a.name, `, ByOwner: `u.email, `,
	}
)

func (f *DirectoryFilter) check() error {
	wrong := fault.Fields{}
	f.Text = strings.ToLower(strings.TrimSpace(f.Text))
	wrong.Text("q", f.Text, 0, maxSought)
	if _, known := directoryStatus[f.Status]; !known {
		wrong.Add("status", "must be active, disabled or disabledByAdministrator, or left out")
	}
	if _, known := directoryOrder[f.Order]; !known {
		wrong.Add("sort", "must be newest, name or owner")
	}
	return wrong.Err()
}

const entryColumns = `
	SELECT a.id, a.name, a.status, u.id, u.email, ` + disablingColumns + `,
	       (SELECT count(*) FROM application_capabilities b WHERE b.application_id = a.id), a.created_at, a.updated_at`

const directory = `
	FROM applications a JOIN users u ON u.id = a.owner_id
	WHERE (position($1 in lower(a.name)) > 0 OR position($1 in a.id::text) > 0 OR position($1 in u.email) > 0) AND `

// Directory gives one page of the applications of all owners, for administrators alone, and how many are listed. page
// counts from 1; one past the end is empty. Faults: Invalid.
func (s *Store) Directory(ctx context.Context, f DirectoryFilter) (list []Entry, total int, err error) {
	if err := f.check(); err != nil {
		return nil, 0, err
	}
	from := directory + directoryStatus[f.Status]
	if err := s.pool.QueryRow(ctx, `SELECT count(*)`+from, f.Text).Scan(&total); err != nil {
		return nil, 0, fmt.Errorf("count the directory of applications: %w", err)
	}
	rows, err := s.pool.Query(ctx, entryColumns+from+` ORDER BY `+directoryOrder[f.Order]+`a.created_at DESC, a.id DESC LIMIT $2 OFFSET $3`,
		f.Text, f.Size, int64(f.Page-1)*int64(f.Size))
	if err == nil {
		list, err = pgx.CollectRows(rows, scanEntry)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("directory of applications: %w", err)
	}
	return list, total, nil
}

func scanEntry(row pgx.CollectableRow) (e Entry, err error) {
	var by disabling
	columns := append([]any{&e.ID, &e.Name, &e.Status, &e.OwnerID, &e.Email}, by.into(&e.OwnerStatus)...)
	err = row.Scan(append(columns, &e.Capabilities, &e.CreatedAt, &e.UpdatedAt)...)
	e.Disabling = by.told()
	return e, err
}

func entry(ctx context.Context, db querier, id uuid.UUID) (Entry, error) {
	rows, err := db.Query(ctx, entryColumns+` FROM applications a JOIN users u ON u.id = a.owner_id WHERE a.id = $1`, id)
	if err != nil {
		return Entry{}, fmt.Errorf("entry of an application: %w", err)
	}
	e, err := pgx.CollectExactlyOneRow(rows, scanEntry)
	return e, absentOr(err, "entry of an application")
}
