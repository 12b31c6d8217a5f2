package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/beijing"
	"callgate/internal/calls/ledger"
	closings "callgate/internal/calls/ledger/days"
	"callgate/internal/days"
	"callgate/internal/openapi"
)

func (c *Console) listDays(ctx *fiber.Ctx) (any, error) {
	found, err := c.Days.List(ctx.UserContext(), c.Now())
	return openapi.ClosedDayItems{Items: openapi.Each(found, dayView)}, err
}

func dayView(d closings.Day) openapi.ClosedDay {
	view := openapi.ClosedDay{
		Day: d.Day, State: string(d.State), Since: timeView(d.Since), Revision: int64(d.Revision), ClosedAt: timeView(d.ClosedAt),
		WaitsFor: openapi.TextOrNull(d.WaitsFor), HeldBy: openapi.Each(d.HeldBy, holderView), Spools: []openapi.MissingSpool{},
	}
	if f := d.Figures; f != nil {
		failures, applications := f.Calls-f.Successes, int64(d.Applications)
		view.Calls, view.Failures, view.ApplicationCount = &f.Calls, &failures, &applications
	}
	if m := d.Missing; m != nil {
		view.MissingCalls, view.Spools = &m.Calls, openapi.Each(m.Spools, func(s days.Spool) openapi.MissingSpool {
			return openapi.MissingSpool{ID: s.ID, Host: s.Node, RetiredAt: beijing.Format(s.At), RetiredBy: s.By, Calls: s.Calls}
		})
	}
	return view
}

func holderView(h ledger.Holder) openapi.SpoolBehind {
	return openapi.SpoolBehind{ID: h.ID, Host: h.Node, Through: beijing.Format(h.Through), Silent: h.Silent}
}
