package console

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/application"
	"callgate/internal/audit"
	"callgate/internal/beijing"
	"callgate/internal/catalog"
	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/openapi"
)

// What the domain packages answer becomes what the contract says here. Where a plain conversion does, the
// compiler holds the two types together.

// unchanged is the view of what needs more than itself to be shown.
func unchanged[T any](item T) T { return item }

// tooLate is the Changed fault of an edit with the view of the object as it is now.
type tooLate struct {
	error
	current any
}

func (e *tooLate) Unwrap() error { return e.error }

// respond answers with the view of what a domain package answers; a Changed fault comes with the current object.
func respond[T, V any](view func(T) V) func(T, error) (any, error) {
	return func(found T, err error) (any, error) {
		switch {
		case err != nil && fault.KindOf(err) == fault.Changed:
			return nil, &tooLate{err, view(found)}
		case err != nil:
			return nil, err
		}
		return view(found), nil
	}
}

// paged is any page type of the contract, which it converts to.
type paged[V any] struct {
	openapi.PageFields
	Items []V
}

// pageOf reads page and size from the query and answers that page of what find lists.
func pageOf[T, V any](ctx *fiber.Ctx, view func(T) V, find func(ctx context.Context, page, size int) ([]T, int, error)) (paged[V], error) {
	page, size, err := pageAndSize(ctx)
	if err != nil {
		return paged[V]{}, err
	}
	found, total, err := find(ctx.UserContext(), page, size)
	return paged[V]{openapi.PageOf(page, size, total), openapi.Each(found, view)}, err
}

func userView(who identity.Principal) openapi.User {
	return openapi.User{ID: who.UserID, Email: who.Email}
}

func sessionView(s identity.Session) openapi.Session {
	return openapi.Session{
		ID: s.ID, CreatedAt: beijing.Format(s.CreatedAt), LastUsedAt: beijing.Format(s.LastUsedAt),
		UserAgent: s.UserAgent, Current: s.Current,
	}
}

func accessKeyView(key string) openapi.AccessKey {
	return openapi.AccessKey{AccessKeyField: openapi.AccessKeyField{AccessKey: key}}
}

func bindingView(b application.Binding) openapi.Binding { return openapi.Binding(b) }

func groupView(g catalog.Group) openapi.Group {
	return openapi.Group{ID: g.ID, Name: g.Name, SortOrder: g.SortOrder, UpdatedAt: beijing.Format(g.UpdatedAt)}
}

func groupItems(groups []catalog.Group) openapi.GroupItems {
	return openapi.GroupItems{Items: openapi.Each(groups, groupView)}
}

func adminCapabilityView(d catalog.Details) openapi.AdminCapability {
	return openapi.AdminCapability{
		CapabilityFields: openapi.CapabilityFields(d.Capability),
		UpstreamBaseURL:  d.UpstreamBaseURL, UpstreamAuth: d.UpstreamAuth,
		Upstreams:      openapi.Each(d.Upstreams, memberView),
		AllowedMethods: d.AllowedMethods, AllowedPaths: d.AllowedPaths,
		HasUpstreamKey: d.HasUpstreamKey, BoundApplicationCount: d.BoundApplicationCount, UpdatedAt: beijing.Format(d.UpdatedAt),
	}
}

func memberView(m catalog.Member) openapi.CapabilityUpstream {
	return openapi.CapabilityUpstream{UpstreamID: m.UpstreamID, Weight: m.Weight, Priority: m.Priority, Status: m.Status, Health: m.Health}
}

func checkView(r catalog.CheckResult) openapi.CheckResult {
	view := openapi.CheckResult{OK: r.OK, Stage: string(r.Stage), DurationMs: r.DurationMs, Message: r.Message}
	if status := int64(r.Status); status != 0 {
		view.Status = &status
	}
	return view
}

func auditView(r audit.Row) openapi.AuditEntry {
	return openapi.AuditEntry{
		ID: r.ID, At: beijing.Format(r.At), Actor: r.Actor, Action: r.Action,
		TargetType: r.TargetType, TargetID: r.TargetID, TargetName: r.TargetName,
		Changes: openapi.Each(r.Changes, func(c audit.Change) openapi.AuditChange { return openapi.AuditChange(c) }),
	}
}
