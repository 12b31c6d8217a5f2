package console

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/application"
	"callgate/internal/beijing"
	"callgate/internal/identity"
	"callgate/internal/openapi"
)

// What administrators see of everybody: applications, users, a call by its id. Never a key, and of a call nothing of
// what was sent or answered.

func (c *Console) listDirectory(ctx *fiber.Ctx) (any, error) {
	text, err := textParam(ctx, "q")
	if err != nil {
		return nil, err
	}
	filter := application.DirectoryFilter{Text: text, Status: ctx.Query("status"), Order: ctx.Query("sort")}
	found, err := pageOf(ctx, unchanged[application.Entry], func(ctx context.Context, page, size int) ([]application.Entry, int, error) {
		filter.Page, filter.Size = page, size
		return c.Applications.Directory(ctx, filter)
	})
	if err != nil {
		return nil, err
	}
	last, known := c.lastCalls(ctx.UserContext(), found.Items...)
	return openapi.DirectoryPage{PageFields: found.PageFields, LastCallsKnown: known, Items: openapi.Each(found.Items, listedView(last))}, nil
}

// lastCalls waits for the statistics no longer than lastUses: they must not keep anybody from disabling an application.
func (c *Console) lastCalls(ctx context.Context, list ...application.Entry) (last map[uuid.UUID]time.Time, known bool) {
	if c.Stats == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, lastUsesWait)
	defer cancel()
	last, err := c.Stats.LastCalls(ctx, openapi.Each(list, func(e application.Entry) uuid.UUID { return e.ID }))
	return last, err == nil
}

func (c *Console) judgeApplication(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	body, seen, err := editOf[openapi.JudgementEdit](ctx)
	if err != nil {
		return nil, err
	}
	wanted := application.Judgement{Status: body.Status, EndRunning: body.EndRunning != nil && *body.EndRunning}
	if body.Reason != nil {
		wanted.Reason = *body.Reason
	}
	e, err := c.Applications.Judge(ctx.UserContext(), principal(ctx).Email, id, wanted, seen...)
	if err == nil {
		c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	}
	last, _ := c.lastCalls(ctx.UserContext(), e)
	return respond(listedView(last))(e, err)
}

func (c *Console) moveApplication(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	body, seen, err := editOf[openapi.OwnerEdit](ctx)
	if err != nil {
		return nil, err
	}
	wanted := application.Move{Owner: body.Owner}
	if body.Reason != nil {
		wanted.Reason = *body.Reason
	}
	e, err := c.Applications.Move(ctx.UserContext(), principal(ctx).Email, id, wanted, seen...)
	if err == nil {
		c.Announcer.ApplicationChanged(ctx.UserContext(), id)
	}
	last, _ := c.lastCalls(ctx.UserContext(), e)
	return respond(listedView(last))(e, err)
}

// listedView shows entries of the directory, with the last calls that are known.
func listedView(last map[uuid.UUID]time.Time) func(application.Entry) openapi.ListedApplication {
	return func(e application.Entry) openapi.ListedApplication {
		view := openapi.ListedApplication{
			ID: e.ID, Name: e.Name, Status: e.Status, Owner: openapi.User{ID: e.OwnerID, Email: e.Email},
			DisabledByOwner: e.OwnerStatus == application.Disabled, CapabilityCount: e.Capabilities,
			LastCallAt: openapi.TimeOrNull(last[e.ID]), CreatedAt: beijing.Format(e.CreatedAt), UpdatedAt: beijing.Format(e.UpdatedAt),
		}
		if d := e.Disabling; d != nil {
			view.DisabledByAdministrator = &openapi.NamedDisabling{Reason: d.Reason, By: d.By, At: beijing.Format(d.At)}
		}
		return view
	}
}

func (c *Console) listUsers(ctx *fiber.Ctx) (any, error) {
	text, err := textParam(ctx, "q")
	if err != nil {
		return nil, err
	}
	found, err := pageOf(ctx, accountView, func(ctx context.Context, page, size int) ([]identity.User, int, error) {
		return c.Identity.Users(ctx, text, page, size)
	})
	return openapi.UserPage(found), err
}

func (c *Console) endUserSessions(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return respond(accountView)(c.Identity.EndSessions(ctx.UserContext(), principal(ctx).Email, id))
}

func accountView(u identity.User) openapi.UserAccount {
	return openapi.UserAccount{
		ID: u.ID, Email: u.Email, CreatedAt: beijing.Format(u.CreatedAt), LastSignInAt: timeView(u.LastSignInAt),
		SessionCount: u.Sessions, ApplicationCount: u.Applications,
	}
}

// lookUpCall answers the facts of a call by its id alone, whichever application made it.
func (c *Console) lookUpCall(ctx *fiber.Ctx) (any, error) {
	call, err := idParam(ctx, "callId")
	if err != nil {
		return nil, err
	}
	return c.Report.CallFacts(ctx.UserContext(), call)
}

// lookUpCalls answers the facts of the calls of a trace, whichever applications made them.
func (c *Console) lookUpCalls(ctx *fiber.Ctx) (any, error) {
	days, err := c.daysOf(ctx)
	if err != nil {
		return nil, err
	}
	trace, err := traceParam(ctx)
	if err != nil {
		return nil, err
	}
	return c.Report.TraceFacts(ctx.UserContext(), days, trace)
}
