package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/config"
)

const spoolsUsage = "usage: callgate spools [retire <id>]"

// Spools lists the spools that hold dataThrough back, or retires one whose disk will never come
// back: its calls that were not shipped are given up.
func Spools(ctx context.Context, stores config.Config, args []string, out io.Writer) error {
	pool, err := openPostgres(ctx, stores.DatabaseURL)
	if err != nil {
		return err
	}
	defer pool.Close()
	known := ledger.New(pool)
	switch {
	case len(args) == 0:
		return listSpools(ctx, known, out)
	case len(args) == 2 && args[0] == "retire":
		id, err := uuid.Parse(args[1])
		if err != nil {
			return fmt.Errorf("%q is no id of a spool", args[1])
		}
		if err := known.Retire(ctx, id); err != nil {
			return fmt.Errorf("retire spool %s: %w", id, err)
		}
		_, err = fmt.Fprintf(out, "spool %s is retired\n", id)
		return err
	}
	return errors.New(spoolsUsage)
}

func listSpools(ctx context.Context, known *ledger.Ledger, out io.Writer) error {
	spools, err := known.Spools(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNODE\tTHROUGH\tLAST REPORT")
	for _, s := range spools {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.ID, s.Node, beijing.Format(s.Through), beijing.Format(s.UpdatedAt))
	}
	return table.Flush()
}
