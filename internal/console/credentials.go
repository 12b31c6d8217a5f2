package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/secret"
)

const (
	sessionCookie      = "callgate_session"
	adminSessionCookie = "callgate_admin_session"
)

type principalKey struct{}

// principal is who the request's credential speaks for; set by the as… wrappers.
func principal(ctx *fiber.Ctx) identity.Principal {
	return ctx.Locals(principalKey{}).(identity.Principal)
}

// asDeveloper demands a user JWT, or a management token of one of the kinds of access that are taken.
func (c *Console) asDeveloper(next handler, taken ...identity.Access) handler {
	return c.withToken(identity.Developer, func(ctx *fiber.Ctx) (any, error) {
		switch access := principal(ctx).Access; {
		case access == "" || slices.Contains(taken, access):
			return next(ctx)
		case len(taken) == 0:
			return nil, fault.New(fault.NotPermitted, "no management token may do this; sign in and use a user JWT")
		default:
			return nil, fault.New(fault.NotPermitted, "this management token may only read; this needs one of full access")
		}
	})
}

// asAdministrator demands an administrator's JWT.
func (c *Console) asAdministrator(next handler) handler {
	return c.withToken(identity.Admin, next)
}

// asStatisticsReader demands a user JWT, any management token or the login session. A Bearer credential
// that is present decides alone.
func (c *Console) asStatisticsReader(next handler) handler {
	bearer := c.asDeveloper(next, identity.ReadAccess, identity.FullAccess)
	return func(ctx *fiber.Ctx) (any, error) {
		cookie := ctx.Cookies(sessionCookie)
		if cookie == "" || ctx.Get(fiber.HeaderAuthorization) != "" {
			return bearer(ctx)
		}
		who, err := c.Identity.VerifySession(ctx.UserContext(), identity.Developer, cookie)
		if err != nil {
			return nil, err
		}
		return c.as(ctx, who, next)
	}
}

func (c *Console) withToken(audience identity.Audience, next handler) handler {
	return func(ctx *fiber.Ctx) (any, error) {
		token, err := bearerToken(ctx)
		if err != nil {
			return nil, err
		}
		who, err := c.Identity.VerifyToken(ctx.UserContext(), audience, token)
		if err != nil {
			if fault.KindOf(err) == fault.BadCredential && secret.BeginsLikeToken(token) {
				err = cmp.Or(c.guesses.admit(identity.Network(ctx.IP())), err)
			}
			return nil, err
		}
		return c.as(ctx, who, next)
	}
}

// as answers in the name of who, within the limit of the interface (API_RATE_LIMIT).
func (c *Console) as(ctx *fiber.Ctx, who identity.Principal, next handler) (any, error) {
	if err := c.limiter.admit(callerOf(who)); err != nil {
		return nil, err
	}
	ctx.Locals(principalKey{}, who)
	return next(ctx)
}

// asAnonymous answers without asking who it is, within the limit of one network address
// (STRANGER_RATE_LIMIT).
func (c *Console) asAnonymous(next handler) handler {
	return func(ctx *fiber.Ctx) (any, error) {
		if err := c.anonymous.admit(identity.Network(ctx.IP())); err != nil {
			return nil, err
		}
		return next(ctx)
	}
}

func bearerToken(ctx *fiber.Ctx) (string, error) {
	header := ctx.Get(fiber.HeaderAuthorization)
	if header == "" {
		return "", fault.New(fault.Unauthenticated, "sign in first: the header Authorization with Bearer and a user JWT is missing")
	}
	scheme, token, _ := strings.Cut(header, " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", fault.New(fault.BadCredential, "the Authorization header must be Bearer and a user JWT")
	}
	return token, nil
}
