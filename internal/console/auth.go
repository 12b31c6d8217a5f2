package console

import (
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"callgate/internal/beijing"
	"callgate/internal/fault"
	"callgate/internal/identity"
	"callgate/internal/openapi"
)

// entrance is what differs between the sign-in of developers and of administrators.
type entrance struct {
	audience               identity.Audience
	cookie, path, sameSite string
}

var (
	developers     = entrance{identity.Developer, sessionCookie, "/", fiber.CookieSameSiteLaxMode}
	administrators = entrance{identity.Admin, adminSessionCookie, "/api/admin", fiber.CookieSameSiteStrictMode}
)

// tokenView is a UserToken or an AdminToken.
func tokenView(token identity.Token, who identity.Principal) any {
	expires := beijing.Format(token.ExpiresAt)
	if who.Audience == identity.Admin {
		return openapi.AdminToken{Token: token.Value, ExpiresAt: expires, Admin: openapi.Administrator{Email: who.Email}}
	}
	return openapi.UserToken{Token: token.Value, ExpiresAt: expires, User: userView(who)}
}

func (c *Console) sendCode(ctx *fiber.Ctx) (any, error) { return c.sendCodeFor(ctx, developers) }
func (c *Console) sendAdminCode(ctx *fiber.Ctx) (any, error) {
	return c.sendCodeFor(ctx, administrators)
}

func (c *Console) sendCodeFor(ctx *fiber.Ctx, e entrance) (any, error) {
	if err := c.ownPages(ctx); err != nil {
		return nil, err
	}
	body, err := signInBodyOf[openapi.CodeRequest](ctx)
	if err != nil {
		return nil, err
	}
	return nil, c.Identity.SendCode(ctx.UserContext(), e.audience, body.Email, ctx.IP())
}

func (c *Console) logIn(ctx *fiber.Ctx) (any, error)      { return c.logInFor(ctx, developers) }
func (c *Console) adminLogIn(ctx *fiber.Ctx) (any, error) { return c.logInFor(ctx, administrators) }

func (c *Console) logInFor(ctx *fiber.Ctx, e entrance) (any, error) {
	if err := c.ownPages(ctx); err != nil {
		return nil, err
	}
	body, err := signInBodyOf[openapi.Credentials](ctx)
	if err != nil {
		return nil, err
	}
	in, err := c.Identity.LogIn(ctx.UserContext(), e.audience, body.Email, body.Code, ctx.IP(), ctx.Get(fiber.HeaderUserAgent))
	if err != nil {
		return nil, err
	}
	cookie := c.cookieOf(e)
	cookie.Value, cookie.Expires = in.SessionToken, in.SessionExpires
	ctx.Cookie(cookie)
	return tokenView(in.Token, in.Principal), nil
}

func (c *Console) renewToken(ctx *fiber.Ctx) (any, error) { return c.renewFor(ctx, developers) }
func (c *Console) renewAdminToken(ctx *fiber.Ctx) (any, error) {
	return c.renewFor(ctx, administrators)
}

func (c *Console) renewFor(ctx *fiber.Ctx, e entrance) (any, error) {
	if err := c.ownPages(ctx); err != nil {
		return nil, err
	}
	token, who, err := c.Identity.Renew(ctx.UserContext(), e.audience, ctx.Cookies(e.cookie))
	if err != nil {
		return nil, err
	}
	return tokenView(token, who), nil
}

func (c *Console) logOut(ctx *fiber.Ctx) (any, error)      { return c.logOutFor(ctx, developers) }
func (c *Console) adminLogOut(ctx *fiber.Ctx) (any, error) { return c.logOutFor(ctx, administrators) }

func (c *Console) logOutFor(ctx *fiber.Ctx, e entrance) (any, error) {
	if err := c.ownPages(ctx); err != nil {
		return nil, err
	}
	err := c.Identity.LogOut(ctx.UserContext(), e.audience, ctx.Cookies(e.cookie))
	if err == nil || fault.KindOf(err) == fault.BadCredential {
		cookie := c.cookieOf(e)
		cookie.Expires = time.Unix(0, 0)
		ctx.Cookie(cookie)
	}
	return nil, err
}

// cookieOf is the session cookie of an entrance without its value; scripts never see it.
func (c *Console) cookieOf(e entrance) *fiber.Cookie {
	return &fiber.Cookie{
		Name: e.cookie, Path: e.path, HTTPOnly: true, SameSite: e.sameSite,
		Secure: strings.HasPrefix(c.PublicBaseURL, "https://"),
	}
}

// ownPages refuses a request that a browser says was started by a page of another site. Cookies
// come with the request whoever starts it, and SameSite guards neither against sister domains nor
// against being signed in as somebody else. Programs send neither header and are let through.
func (c *Console) ownPages(ctx *fiber.Ctx) error {
	foreign := fault.New(fault.BadCredential, "sign-in requests of other sites are refused")
	switch ctx.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return nil
	case "":
	default:
		return foreign
	}
	origin := ctx.Get(fiber.HeaderOrigin)
	if origin == "" {
		return nil
	}
	// A reverse proxy may have rewritten Host, and a developer may come by another name of this
	// machine than the public one: either of the two will do.
	public, badPublic := url.Parse(c.PublicBaseURL)
	from, badOrigin := url.Parse(origin)
	if badOrigin != nil || from.Host == "" {
		return foreign
	}
	if badPublic == nil && strings.EqualFold(from.Scheme+"://"+from.Host, public.Scheme+"://"+public.Host) {
		return nil
	}
	if strings.EqualFold(from.Host, string(ctx.Context().Host())) {
		return nil
	}
	return foreign
}

func (c *Console) me(ctx *fiber.Ctx) (any, error) {
	return userView(principal(ctx)), nil
}

func (c *Console) listSessions(ctx *fiber.Ctx) (any, error) {
	who := principal(ctx)
	return shown(func(sessions []identity.Session) openapi.SessionItems {
		return openapi.SessionItems{Items: each(sessions, sessionView)}
	})(c.Identity.Sessions(ctx.UserContext(), who.UserID, who.SessionID))
}

func (c *Console) endSession(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return nil, c.Identity.EndSession(ctx.UserContext(), principal(ctx).UserID, id)
}

// config tells the console, before anybody has signed in, how this service is set up.
func (c *Console) config(*fiber.Ctx) (any, error) {
	name, enabled := c.Identity.OIDCName()
	return openapi.Config{
		PublicBaseURL: c.PublicBaseURL, OIDC: openapi.CompanySignIn{Enabled: enabled, Name: name},
		Version: c.Version, FailureRetentionDays: int64(c.FailureRetentionDays),
	}, nil
}
