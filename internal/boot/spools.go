package boot

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/config"
)

// RetireSpool gives up a spool whose disk will never come back: its calls that were not shipped are lost.
func RetireSpool(ctx context.Context, stores config.Config, id uuid.UUID, out io.Writer) error {
	pool, err := openPostgres(ctx, stores.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	retired, err := ledger.New(pool).Retire(ctx, id, commandLine)
	if err != nil {
		return fmt.Errorf("retire spool %s: %w", id, err)
	}
	_, err = fmt.Fprintf(out, "spool %s is retired; %s\n", id, lostWith(retired))
	return err
}

// commandLine is who did what, in the audit trail, for deeds of no administrator who has signed in.
const commandLine = "command line"

// lostWith says what a spool that was given up takes with it.
func lostWith(s ledger.Spool) string {
	if s.GivenUp == nil || s.GivenUp.Calls == nil {
		return "how many calls it held is not known"
	}
	return fmt.Sprintf("%d calls that it held count as missed", *s.GivenUp.Calls)
}

// ListSpools lists the spools that hold dataThrough back, or could.
func ListSpools(ctx context.Context, stores config.Config, out io.Writer) error {
	pool, err := openPostgres(ctx, stores.DatabaseURL, nil)
	if err != nil {
		return err
	}
	defer pool.Close()
	known := ledger.New(pool)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tHOST\tSTATE\tTHROUGH\tLAST REPORT\tHELD CALLS\tHELD BYTES")
	for page := 1; ; page++ {
		spools, total, err := known.Spools(ctx, page, spoolsAtOnce)
		if err != nil {
			return err
		}
		for _, s := range spools {
			if s.State == ledger.GivenUp {
				continue
			}
			calls, bytes := "?", "?"
			if s.Gateway != nil {
				bytes = fmt.Sprint(s.Gateway.HeldBytes)
				if held := s.Gateway.Held(); held != nil {
					calls = fmt.Sprint(*held)
				}
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.Node, s.State, beijing.Format(s.Through), beijing.Format(s.UpdatedAt), calls, bytes)
		}
		if page*spoolsAtOnce >= total {
			return table.Flush()
		}
	}
}

const spoolsAtOnce = 100
