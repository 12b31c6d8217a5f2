// Package verify proves the statistics: it recounts every one of them from the rows of calls, without
// rollups, and compares that with what is answered. It knows the answers by the contract alone, and says
// for itself how a figure stands in them, so that neither a wrong rollup nor a wrong answer goes unseen.
package verify

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	"callgate/internal/calls/ledger/days"
	"callgate/internal/catalog"
	"callgate/internal/fault"
	"callgate/internal/openapi"
	"callgate/internal/pricing"
	"callgate/internal/report"
	"callgate/internal/stats"
)

const (
	// attempts and pause give rollups, which commit a moment after the rows they
	// count, five seconds before a difference is one.
	attempts = 10
	pause    = 500 * time.Millisecond
	// maxLines bounds what is remembered and printed of one account's differences.
	maxLines = 200
	// concurrency is how many accounts are compared at the same time.
	concurrency = 4
)

// Answers is what answers the statistics endpoints, in the contract's own types: *report.Report, but for tests.
type Answers interface {
	Overview(ctx context.Context, owner uuid.UUID, days beijing.Range) (openapi.Overview, error)
	ApplicationReasons(ctx context.Context, id uuid.UUID, days beijing.Range, model *string) (openapi.ApplicationReasons, error)
	OverviewReasons(ctx context.Context, owner uuid.UUID, days beijing.Range, model *string) (openapi.OverviewReasons, error)
	ApplicationList(ctx context.Context, owner uuid.UUID, by report.ApplicationChoice, page int) (openapi.ApplicationUsagePage, error)
	ApplicationDetail(ctx context.Context, a application.Application, days beijing.Range) (openapi.ApplicationStatistics, error)
	CallPage(ctx context.Context, q stats.CallsQuery) (openapi.CallPage, error)
	FailedCall(ctx context.Context, application, call uuid.UUID) (openapi.FailedCall, error)
	FiguresOverview(ctx context.Context, days beijing.Range) (openapi.FiguresOverview, error)
	CapabilityFiguresList(ctx context.Context, days beijing.Range) (openapi.CapabilityFiguresList, error)
	CapabilityFigures(ctx context.Context, id string, days beijing.Range) (openapi.CapabilityFigures, error)
	ApplicationFigures(ctx context.Context, by report.FiguresChoice) (openapi.ApplicationFiguresPage, error)
	OwnerFigures(ctx context.Context, by report.FiguresChoice) (openapi.OwnerFiguresPage, error)
	CountedForInvoice(ctx context.Context, month time.Time) (openapi.InvoiceCounts, error)
}

// Deps is everything a verification asks.
type Deps struct {
	Answers      Answers
	Applications *application.Store
	Catalog      *catalog.Store
	Pricing      *pricing.Store
	Stats        *stats.Reader // of the rows
	Ledger       *ledger.Ledger
	Days         *days.Store
	Everyone     bool   // the accounts are all there are: administrators' figures are compared too
	Verified     func() // called after each account, by several goroutines; nil: nobody counts them
}

// Result is what was compared and found.
type Result struct {
	Accounts, Applications int
	Calls                  int64 // counted from the rows
	Differences            int
	ClosedDays             int // compared with what they were closed with
	Moving                 int // accounts of which the last days could not be compared: calls kept arriving
}

// Run asks what every statistics endpoint would answer for these accounts and their applications,
// over these days, and compares it with a recount of the rows of calls. Every
// difference is a line on out. It works while calls arrive: what differs is compared again; days on
// which the number of rows keeps changing meanwhile are left out, with a line that says so, and the
// days before them are compared for themselves. The rollups by the hour, and what closed days were closed with, are
// compared too. Memory is bounded by the histograms of four applications, and the figures of all on one day.
func Run(ctx context.Context, d Deps, owners []uuid.UUID, days beijing.Range, out io.Writer) (Result, error) {
	v := &verifier{Deps: d, out: out, attempts: attempts, pause: pause, confirm: confirm}
	err := v.run(ctx, owners, days)
	return v.result, err
}

type verifier struct {
	Deps
	attempts int
	pause    time.Duration
	confirm  time.Duration

	whole *everyone // nil: not all accounts

	mu     sync.Mutex // guards the rest
	out    io.Writer
	result Result
	said   map[string]bool
}

func (v *verifier) run(ctx context.Context, owners []uuid.UUID, days beijing.Range) error {
	through, err := v.Ledger.Through(ctx)
	if err != nil {
		return err
	}
	if v.Everyone {
		v.whole = newEveryone()
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, owner := range owners {
		group.Go(func() error {
			if err := v.account(groupCtx, owner, days); err != nil {
				return fmt.Errorf("account %s: %w", owner, err)
			}
			if v.Verified != nil {
				v.Verified()
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if v.Everyone && v.result.Moving == 0 {
		if err := v.compareEveryone(ctx, v.whole, days); err != nil {
			return fmt.Errorf("everyone: %w", err)
		}
	}
	only, err := v.only(ctx, owners)
	if err != nil {
		return err
	}
	if err := v.compareClosed(ctx, days, only); err != nil {
		return err
	}
	fmt.Fprintf(v.out, "%s to %s, data through %s: %d accounts, %d applications, %d closed days, %d calls; %d differences\n",
		days.Start, days.End, beijing.Format(through), v.result.Accounts, v.result.Applications, v.result.ClosedDays, v.result.Calls, v.result.Differences)
	return nil
}

// only are the applications of these accounts; nil: all there are.
func (v *verifier) only(ctx context.Context, owners []uuid.UUID) ([]uuid.UUID, error) {
	if v.Everyone {
		return nil, nil
	}
	ids := []uuid.UUID{}
	for _, owner := range owners {
		all, err := v.Applications.All(ctx, owner)
		if err != nil {
			return nil, err
		}
		for _, a := range all {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}

// say writes a line once.
func (v *verifier) say(format string, values ...any) {
	line := fmt.Sprintf(format, values...)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.said == nil {
		v.said = map[string]bool{}
	}
	if !v.said[line] {
		v.said[line] = true
		fmt.Fprintln(v.out, line)
	}
}

// account compares an account until there is no difference, or the difference is certain.
func (v *verifier) account(ctx context.Context, owner uuid.UUID, days beijing.Range) error {
	for attempt := 1; ; attempt++ {
		found, err := v.compareAccount(ctx, owner, days)
		vanished := err != nil && fault.KindOf(err) == fault.NotFound // deleted meanwhile: look again
		switch {
		case err != nil && (!vanished || attempt == v.attempts):
			return err
		case err == nil && (found.differences == 0 || attempt == v.attempts && !found.moving):
			if v.add(found); v.whole != nil {
				v.whole.add(found)
			}
			return nil
		case attempt < v.attempts:
			if err := sleep(ctx, v.pause); err != nil {
				return err
			}
			continue
		}
		v.keepsMoving(owner, found.moved)
		if days.End = found.moved - 1; days.Days() < 1 {
			return nil
		}
		attempt = 0
	}
}

func (v *verifier) keepsMoving(owner uuid.UUID, from beijing.Day) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintf(v.out, "account %s: calls keep arriving; compared before %s only\n", owner, from)
	v.result.Moving++
}

func (v *verifier) add(found *findings) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, line := range found.lines {
		fmt.Fprintln(v.out, line)
	}
	if hidden := found.differences - len(found.lines); hidden > 0 {
		fmt.Fprintf(v.out, "and %d more of the same\n", hidden)
	}
	v.result.Accounts += found.accounts
	v.result.Applications += found.applications
	v.result.ClosedDays += found.closedDays
	v.result.Calls += found.calls
	v.result.Differences += found.differences
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
