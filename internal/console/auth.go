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

type userView struct {
	ID    uuid.UUID `json:"id"`
	Email string    `json:"email"`
}

type adminView struct {
	Email string `json:"email"`
}

type tokenView struct {
	Token     string     `json:"token"`
	ExpiresAt string     `json:"expiresAt"`
	User      *userView  `json:"user,omitempty"`
	Admin     *adminView `json:"admin,omitempty"`
}

func viewToken(token identity.Token, who identity.Principal) tokenView {
	view := tokenView{Token: token.Value, ExpiresAt: beijing.Format(token.ExpiresAt)}
	if who.Audience == identity.Admin {
		view.Admin = &adminView{who.Email}
	} else {
		view.User = &userView{who.UserID, who.Email}
	}
	return view
}

func (c *Console) sendCode(ctx *fiber.Ctx) (any, error) { return c.sendCodeFor(ctx, developers) }
func (c *Console) sendAdminCode(ctx *fiber.Ctx) (any, error) {
	return c.sendCodeFor(ctx, administrators)
}

func (c *Console) sendCodeFor(ctx *fiber.Ctx, e entrance) (any, error) {
	var body struct {
		Email string `json:"email"`
	}
	if err := c.ownPages(ctx); err != nil {
		return nil, err
	}
	if err := decode(ctx, &body); err != nil {
		return nil, err
	}
	return nil, c.Identity.SendCode(ctx.UserContext(), e.audience, body.Email, ctx.IP())
}

func (c *Console) logIn(ctx *fiber.Ctx) (any, error)      { return c.logInFor(ctx, developers) }
func (c *Console) adminLogIn(ctx *fiber.Ctx) (any, error) { return c.logInFor(ctx, administrators) }

func (c *Console) logInFor(ctx *fiber.Ctx, e entrance) (any, error) {
	var body struct {
		Email string `json:"email"`
		Code  string `json:"code"`
	}
	if err := c.ownPages(ctx); err != nil {
		return nil, err
	}
	if err := decode(ctx, &body); err != nil {
		return nil, err
	}
	in, err := c.Identity.LogIn(ctx.UserContext(), e.audience, body.Email, body.Code, ctx.IP(), ctx.Get(fiber.HeaderUserAgent))
	if err != nil {
		return nil, err
	}
	cookie := c.cookieOf(e)
	cookie.Value, cookie.Expires = in.SessionToken, in.SessionExpires
	ctx.Cookie(cookie)
	return viewToken(in.Token, in.Principal), nil
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
	return viewToken(token, who), nil
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
	who := principal(ctx)
	return userView{who.UserID, who.Email}, nil
}

type sessionView struct {
	ID         uuid.UUID `json:"id"`
	CreatedAt  string    `json:"createdAt"`
	LastUsedAt string    `json:"lastUsedAt"`
	UserAgent  string    `json:"userAgent"`
	Current    bool      `json:"current"`
}

func (c *Console) listSessions(ctx *fiber.Ctx) (any, error) {
	who := principal(ctx)
	sessions, err := c.Identity.Sessions(ctx.UserContext(), who.UserID, who.SessionID)
	if err != nil {
		return nil, err
	}
	views := make([]sessionView, 0, len(sessions))
	for _, s := range sessions {
		views = append(views, sessionView{s.ID, beijing.Format(s.CreatedAt), beijing.Format(s.LastUsedAt), s.UserAgent, s.Current})
	}
	return items[sessionView]{views}, nil
}

func (c *Console) endSession(ctx *fiber.Ctx) (any, error) {
	id, err := idParam(ctx, "id")
	if err != nil {
		return nil, err
	}
	return nil, c.Identity.EndSession(ctx.UserContext(), principal(ctx).UserID, id)
}

type oidcView struct {
	Enabled bool   `json:"enabled"`
	Name    string `json:"name"`
}

type configView struct {
	PublicBaseURL        string   `json:"publicBaseUrl"`
	OIDC                 oidcView `json:"oidc"`
	Version              string   `json:"version"`
	FailureRetentionDays int      `json:"failureRetentionDays"`
}

// config tells the console, before anybody has signed in, how this service is set up.
func (c *Console) config(*fiber.Ctx) (any, error) {
	var company oidcView
	company.Name, company.Enabled = c.Identity.OIDCName()
	return configView{
		PublicBaseURL: c.PublicBaseURL, OIDC: company, Version: c.Version, FailureRetentionDays: c.FailureRetentionDays,
	}, nil
}
