package console

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/stats"
)

const (
	// verifyAttempts and verifyPause give rollups, which commit a moment after the rows they
	// count, five seconds before a difference is one.
	verifyAttempts = 10
	verifyPause    = 500 * time.Millisecond
	// verifyLines bounds what is remembered and printed of one account's differences.
	verifyLines = 200
	// verifyAtOnce is how many accounts are compared at the same time.
	verifyAtOnce = 4
)

// Verification is what Verify compared and found.
type Verification struct {
	Accounts, Applications int
	Calls                  int64 // counted from the rows
	Differences            int
	Moving                 int // accounts of which the last days could not be compared: calls kept arriving
}

// Verify asks what every statistics endpoint would answer for these accounts and their applications,
// over these days, and compares it with a recount of the rows of calls (design section 2). Every
// difference is a line on out. It works while calls arrive: what differs is compared again; days on
// which the number of rows keeps changing meanwhile are left out, with a line that says so, and the
// days before them are compared for themselves. Memory is bounded by the histograms of four applications.
func (c *Console) Verify(ctx context.Context, owners []uuid.UUID, days beijing.Range, out io.Writer) (Verification, error) {
	v := &verifier{console: c, out: out, attempts: verifyAttempts, pause: verifyPause}
	err := v.run(ctx, owners, days)
	return v.Verification, err
}

type verifier struct {
	console  *Console
	attempts int
	pause    time.Duration

	mu  sync.Mutex // guards the rest
	out io.Writer
	Verification
}

func (v *verifier) run(ctx context.Context, owners []uuid.UUID, days beijing.Range) error {
	through, err := v.console.Ledger.Through(ctx)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(verifyAtOnce)
	for _, owner := range owners {
		group.Go(func() error {
			if err := v.account(groupCtx, owner, days); err != nil {
				return fmt.Errorf("account %s: %w", owner, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(v.out, "%s to %s, data through %s: %d accounts, %d applications, %d calls; %d differences\n",
		days.Start, days.End, beijing.Format(through), v.Accounts, v.Applications, v.Calls, v.Differences)
	return nil
}

// account compares an account until there is no difference, or the difference is certain.
func (v *verifier) account(ctx context.Context, owner uuid.UUID, days beijing.Range) error {
	for attempt := 1; ; attempt++ {
		found, err := v.console.compareAccount(ctx, owner, days)
		vanished := err != nil && fault.KindOf(err) == fault.NotFound // deleted meanwhile: look again
		switch {
		case err != nil && (!vanished || attempt == v.attempts):
			return err
		case err == nil && (found.differences == 0 || attempt == v.attempts && !found.moving):
			v.settle(found)
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
	v.Moving++
}

func (v *verifier) settle(found *findings) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, line := range found.lines {
		fmt.Fprintln(v.out, line)
	}
	if hidden := found.differences - len(found.lines); hidden > 0 {
		fmt.Fprintf(v.out, "and %d more of this account\n", hidden)
	}
	v.Accounts++
	v.Applications += found.applications
	v.Calls += found.calls
	v.Differences += found.differences
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

// findings are the differences of one account in one attempt.
type findings struct {
	applications int
	calls        int64
	differences  int
	lines        []string
	moving       bool
	moved        beijing.Day // the first day on which rows arrived or went meanwhile
}

func (f *findings) differ(where, format string, values ...any) {
	if f.differences++; len(f.lines) < verifyLines {
		f.lines = append(f.lines, where+": "+fmt.Sprintf(format, values...))
	}
}

// compareAccount compares the overview and the list of an account, and all of its applications.
func (c *Console) compareAccount(ctx context.Context, owner uuid.UUID, days beijing.Range) (*findings, error) {
	all, err := c.Applications.All(ctx, owner)
	if err != nil {
		return nil, err
	}
	found := &findings{applications: len(all)}
	account := stats.NewRecount()
	ids := make([]uuid.UUID, len(all))
	totals := make(map[uuid.UUID]stats.Metrics, len(all))
	for i, a := range all {
		recount, err := c.Stats.Recount(ctx, a.ID, days)
		if err != nil {
			return nil, err
		}
		if err := c.compareApplication(ctx, found, owner, a.ID, days, recount); err != nil {
			return nil, err
		}
		account.Merge(recount)
		ids[i], totals[a.ID] = a.ID, recount.Summary()
	}
	if err := c.compareOverview(ctx, found, owner, days, account); err != nil {
		return nil, err
	}
	if err := c.compareList(ctx, found, owner, days, totals); err != nil {
		return nil, err
	}
	found.calls = account.Summary().Calls
	return found, c.noteMoved(ctx, found, ids, days, account)
}

// noteMoved looks for days whose number of rows is no longer the one that was counted.
func (c *Console) noteMoved(ctx context.Context, found *findings, ids []uuid.UUID, days beijing.Range, account *stats.Recount) error {
	if found.differences == 0 {
		return nil
	}
	now, err := c.Stats.RowsPerDay(ctx, ids, days)
	if err != nil {
		return err
	}
	before := account.CallsPerDay()
	for day := range days.Each() {
		if now[day] != before[day] {
			found.moving, found.moved = true, day
			return nil
		}
	}
	return nil
}

func (c *Console) compareOverview(ctx context.Context, found *findings, owner uuid.UUID, days beijing.Range, account *stats.Recount) error {
	got, err := c.overviewOf(ctx, owner, days)
	if err != nil {
		return err
	}
	usage := account.Usage(days)
	want := got
	want.MetricsFields, want.Daily = metricsFields(usage.Summary), each(usage.Daily, dayView)
	if want.Models, err = c.named(ctx, usage.Models); err != nil {
		return err
	}
	found.compare(fmt.Sprintf("account %s overview", owner), got, want)
	return nil
}

// compareList reads every page of the account's list.
func (c *Console) compareList(ctx context.Context, found *findings, owner uuid.UUID, days beijing.Range, totals map[uuid.UUID]stats.Metrics) error {
	listed := 0
	for page := 1; ; page++ {
		got, err := c.usageListOf(ctx, owner, days, page)
		if err != nil {
			return err
		}
		if len(got.Items) == 0 {
			break
		}
		listed += len(got.Items)
		for _, line := range got.Items {
			want := line
			want.MetricsFields = metricsFields(totals[line.ID])
			found.compare(fmt.Sprintf("account %s list, application %s", owner, line.ID), line, want)
		}
	}
	if listed != len(totals) {
		found.differ(fmt.Sprintf("account %s list", owner), "%d applications are listed, %d exist", listed, len(totals))
	}
	return nil
}
