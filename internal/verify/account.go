package verify

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/openapi"
	"callgate/internal/report"
)

// findings are the differences of one account in one attempt.
type findings struct {
	accounts     int
	applications int
	closedDays   int
	calls        int64
	differences  int
	lines        []string
	moving       bool
	moved        beijing.Day // the first day on which rows arrived or went meanwhile

	// What was recounted.
	recount *recounted
	counted tokens
	why     dailyReasons
	ids     []uuid.UUID
	owner   uuid.UUID
	totals  map[uuid.UUID]openapi.MetricsFields // by application
}

func (f *findings) differ(where, format string, values ...any) {
	if f.differences++; len(f.lines) < maxLines {
		f.lines = append(f.lines, where+": "+fmt.Sprintf(format, values...))
	}
}

// compareAccount compares the overview and the list of an account, and all of its applications.
func (v *verifier) compareAccount(ctx context.Context, owner uuid.UUID, days beijing.Range) (*findings, error) {
	all, err := v.Applications.All(ctx, owner)
	if err != nil {
		return nil, err
	}
	found := &findings{accounts: 1, applications: len(all)}
	account := newRecounted()
	ids := make([]uuid.UUID, len(all))
	totals := make(map[uuid.UUID]openapi.MetricsFields, len(all))
	book, err := v.Pricing.Book(ctx)
	if err != nil {
		return nil, err
	}
	tokensOfAccount := tokens{book: book}
	why := dailyReasons{}
	for i, a := range all {
		recount, err := v.recount(ctx, a.ID, days)
		if err != nil {
			return nil, err
		}
		counted, err := v.tokens(ctx, a.ID, days)
		if err != nil {
			return nil, err
		}
		if err := v.compareApplication(ctx, found, owner, a.ID, days, recount, &counted, why); err != nil {
			return nil, err
		}
		account.merge(recount)
		tokensOfAccount.add(counted)
		ids[i], totals[a.ID] = a.ID, counted.summary(recount.summary())
	}
	if err := v.compareOverview(ctx, found, owner, days, account, &tokensOfAccount); err != nil {
		return nil, err
	}
	if err := v.compareOverviewReasons(ctx, found, owner, days, why.of(days)); err != nil {
		return nil, err
	}
	if err := v.compareList(ctx, found, owner, days, totals); err != nil {
		return nil, err
	}
	found.calls = account.summary().Calls
	found.recount, found.counted, found.why, found.ids = account, tokensOfAccount, why, ids
	found.owner, found.totals = owner, totals
	return found, v.noteMoved(ctx, found, ids, days, account)
}

// noteMoved looks for days whose number of rows is no longer the one that was counted.
func (v *verifier) noteMoved(ctx context.Context, found *findings, ids []uuid.UUID, days beijing.Range, account *recounted) error {
	if found.differences == 0 {
		return nil
	}
	now, err := v.rowsPerDay(ctx, ids, days)
	if err != nil {
		return err
	}
	before := account.callsPerDay()
	for day := range days.Each() {
		if now[day] != before[day] {
			found.moving, found.moved = true, day
			return nil
		}
	}
	return nil
}

func (v *verifier) compareOverview(ctx context.Context, found *findings, owner uuid.UUID, days beijing.Range, account *recounted, counted *tokens) error {
	got, err := v.Answers.Overview(ctx, owner, days)
	if err != nil {
		return err
	}
	usage := account.usage(days)
	want := got
	want.MetricsFields, want.Daily = counted.summary(usage.Summary), each(usage.Daily, counted.day)
	if want.Models, err = v.named(ctx, usage.Models, counted); err != nil {
		return err
	}
	found.compare(fmt.Sprintf("account %s overview", owner), got, want)
	return nil
}

// compareList reads every page of the account's list.
func (v *verifier) compareList(ctx context.Context, found *findings, owner uuid.UUID, days beijing.Range, totals map[uuid.UUID]openapi.MetricsFields) error {
	listed := 0
	for page := 1; ; page++ {
		got, err := v.Answers.ApplicationList(ctx, owner, report.ApplicationChoice{Days: days}, page)
		if err != nil {
			return err
		}
		if len(got.Items) == 0 {
			break
		}
		listed += len(got.Items)
		for _, line := range got.Items {
			want := line
			want.MetricsFields = totals[line.ID]
			found.compare(fmt.Sprintf("account %s list, application %s", owner, line.ID), line, want)
		}
	}
	if listed != len(totals) {
		found.differ(fmt.Sprintf("account %s list", owner), "%d applications are listed, %d exist", listed, len(totals))
	}
	return nil
}
