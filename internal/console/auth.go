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

// realm is what differs between the sign-in of developers and of administrators.
type realm struct {
	audience               identity.Audience
	cookie, path, sameSite string
	browser, browserPath   string // the cookie by which a browser's own codes are told, sent to the sign-in alone
}

var (
	developers     = realm{identity.Developer, sessionCookie, "/", fiber.CookieSameSiteLaxMode, "callgate_browser", "/api/auth"}
	administrators = realm{identity.Admin, adminSessionCookie, "/api/admin", fiber.CookieSameSiteStrictMode, "callgate_admin_browser", "/api/admin/auth"}
)

// tokenView is a UserToken or an AdminToken.
func tokenView(token identity.Token, who identity.Principal) any {
	expires := beijing.Format(token.ExpiresAt)
	if who.Audience == identity.Admin {
		return openapi.AdminToken{Token: token.Value, ExpiresAt: expires, Admin: openapi.Administrator{Email: who.Email}}
	}
	return openapi.UserToken{Token: token.Value, ExpiresAt: expires, User: userView(who)}
}

func (c *Console) sendCode(ctx *fiber.Ctx, e realm) (any, error) {
	body, err := signInBodyOf[openapi.CodeRequest](ctx)
	if err != nil {
		return nil, err
	}
	return nil, c.Identity.SendCode(ctx.UserContext(), e.audience, body.Email, asker(ctx))
}

func (c *Console) logIn(ctx *fiber.Ctx, e realm) (any, error) {
	body, err := signInBodyOf[openapi.Credentials](ctx)
	if err != nil {
		return nil, err
	}
	in, err := c.Identity.LogIn(ctx.UserContext(), e.audience, body.Email, body.Code, asker(ctx), ctx.Get(fiber.HeaderUserAgent))
	if err != nil {
		return nil, err
	}
	cookie := c.cookieOf(e)
	cookie.Value, cookie.Expires = in.SessionToken, in.SessionExpires
	ctx.Cookie(cookie)
	if isBrowser(ctx) {
		known := c.browserCookie(e)
		known.Value, known.Expires = in.Browser, c.Now().Add(identity.BrowserCookieTTL)
		ctx.Cookie(known)
	}
	return tokenView(in.Token, in.Principal), nil
}

type askerKey struct{}

// asker is who asks for a code or tries one; set by limitedSignIn.
func asker(ctx *fiber.Ctx) identity.Asker { return ctx.Locals(askerKey{}).(identity.Asker) }

// limitedSignIn answers where anybody may come to sign in, within the limit of the asker, which is spent
// before anything of the request's body is read. A browser gets the cookie that tells it from others.
func (c *Console) limitedSignIn(e realm, next func(*fiber.Ctx, realm) (any, error)) handler {
	return func(ctx *fiber.Ctx) (any, error) {
		if err := c.ownPages(ctx); err != nil {
			return nil, err
		}
		who := identity.Program(ctx.IP())
		if isBrowser(ctx) {
			var made string
			if who, made = c.Identity.Browser(e.audience, ctx.IP(), ctx.Cookies(e.browser)); made != "" {
				cookie := c.browserCookie(e)
				cookie.Value, cookie.SessionOnly = made, true
				ctx.Cookie(cookie)
			}
		}
		if err := c.signIns.admit(who.Key()); err != nil {
			return nil, err
		}
		ctx.Locals(askerKey{}, who)
		return next(ctx, e)
	}
}

// isBrowser tells a browser, which names the page a request comes from, from a program, which keeps no
// cookies either. Whoever pretends to be the other only parts with its own codes.
func isBrowser(ctx *fiber.Ctx) bool {
	return ctx.Get("Sec-Fetch-Site") != "" || ctx.Get(fiber.HeaderOrigin) != ""
}

func (c *Console) browserCookie(e realm) *fiber.Cookie {
	cookie := c.cookieOf(e)
	cookie.Name, cookie.Path, cookie.SameSite = e.browser, e.browserPath, fiber.CookieSameSiteStrictMode
	return cookie
}

func (c *Console) renewToken(ctx *fiber.Ctx) (any, error) { return c.renewFor(ctx, developers) }
func (c *Console) renewAdminToken(ctx *fiber.Ctx) (any, error) {
	return c.renewFor(ctx, administrators)
}

func (c *Console) renewFor(ctx *fiber.Ctx, e realm) (any, error) {
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

func (c *Console) logOutFor(ctx *fiber.Ctx, e realm) (any, error) {
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

// cookieOf is the session cookie of an realm without its value; scripts never see it.
func (c *Console) cookieOf(e realm) *fiber.Cookie {
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
	return respond(func(sessions []identity.Session) openapi.SessionItems {
		return openapi.SessionItems{Items: openapi.Each(sessions, sessionView)}
	})(c.Identity.Sessions(ctx.UserContext(), who.UserID, who.SessionID))
}

func (c *Console) endSession(ctx *fiber.Ctx, id uuid.UUID) (any, error) {
	return nil, c.Identity.EndSession(ctx.UserContext(), principal(ctx).UserID, id)
}

// config tells the console, before anybody has signed in, how this service is set up.
func (c *Console) config(*fiber.Ctx) (any, error) {
	name, enabled := c.Identity.OIDCName()
	return openapi.Config{
		PublicBaseURL: c.PublicBaseURL, PublicGatewayURL: c.PublicGatewayURL, OIDC: openapi.CompanySignIn{Enabled: enabled, Name: name},
		Version: c.Version, StatisticsRetentionDays: int64(c.Retention.Statistics), CallRetentionDays: int64(c.Retention.Calls),
		FailureRetentionDays: int64(c.Retention.Failures),
	}, nil
}
