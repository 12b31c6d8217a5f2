package console

import (
	"errors"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"

	"callgate/internal/fault"
	"callgate/internal/identity"
)

// OIDCCallbackPath is where the company's OpenID provider sends the browser back to.
const OIDCCallbackPath = oidcPath + "/callback"

const (
	oidcPath   = "/api/auth/oidc"
	oidcCookie = "callgate_oidc" // holds a sign-in under way
)

// oidcLogin sends the browser to the company's OpenID provider; the query parameter next is the page
// of ours to end on.
func (c *Console) oidcLogin(ctx *fiber.Ctx) (any, error) {
	if _, enabled := c.Identity.OIDCName(); !enabled {
		return nil, fiber.ErrNotFound
	}
	if err := c.anonymous.admit(identity.Network(ctx.IP())); err != nil {
		return c.oidcFailed(ctx, err, "")
	}
	address, attempt, err := c.Identity.StartOIDC(ctx.UserContext(), ctx.Query("next"))
	if err != nil {
		return c.oidcFailed(ctx, err, "")
	}
	cookie := c.oidcCookie()
	cookie.Value, cookie.SessionOnly = attempt, true // its end is signed into it
	ctx.Cookie(cookie)
	return written, ctx.Redirect(address)
}

// oidcCallback opens a session for whom the provider vouches and goes on to the page asked for. A
// browser is shown pages, never JSON: failures end at the sign-in page, which words them.
func (c *Console) oidcCallback(ctx *fiber.Ctx) (any, error) {
	if _, enabled := c.Identity.OIDCName(); !enabled {
		return nil, fiber.ErrNotFound
	}
	ctx.Set(fiber.HeaderReferrerPolicy, "no-referrer") // the address holds the code
	if err := c.anonymous.admit(identity.Network(ctx.IP())); err != nil {
		return c.oidcFailed(ctx, err, "")
	}
	used := c.oidcCookie()
	used.Expires = time.Unix(0, 0)
	ctx.Cookie(used)
	in, next, err := c.Identity.FinishOIDC(ctx.UserContext(), identity.OIDCAnswer{
		Attempt: ctx.Cookies(oidcCookie),
		State:   ctx.Query("state"), Code: ctx.Query("code"), Error: ctx.Query("error"), Issuer: ctx.Query("iss"),
	}, ctx.Get(fiber.HeaderUserAgent))
	if err != nil {
		return c.oidcFailed(ctx, err, next)
	}
	cookie := c.cookieOf(developers)
	cookie.Value, cookie.Expires = in.SessionToken, in.SessionExpires
	ctx.Cookie(cookie)
	return written, ctx.Redirect(next)
}

// oidcCookie is Lax, not Strict: the provider's redirect must bring it along.
func (c *Console) oidcCookie() *fiber.Cookie {
	cookie := c.cookieOf(developers)
	cookie.Name, cookie.Path = oidcCookie, oidcPath
	return cookie
}

func (c *Console) oidcFailed(ctx *fiber.Ctx, err error, next string) (any, error) {
	c.Logger.WarnContext(ctx.UserContext(), "a company sign-in failed", "error", err)
	query := url.Values{"error": {oidcError(err)}}
	if next != "" && next != "/" {
		query.Set("next", next)
	}
	return written, ctx.Redirect("/sign-in?" + query.Encode())
}

// oidcError is what the sign-in page is told of a failed company sign-in: one of expired, denied,
// not_allowed, too_many_attempts, unavailable and failed.
func oidcError(err error) string {
	switch {
	case errors.Is(err, identity.ErrSignInDenied):
		return "denied"
	case errors.Is(err, identity.ErrAddressNotAllowed):
		return "not_allowed"
	}
	switch asFault(err).Kind {
	case fault.Unauthenticated:
		return "expired"
	case fault.TooManyAttempts:
		return "too_many_attempts"
	case fault.Unavailable:
		return "unavailable"
	}
	return "failed"
}
