package console

import "github.com/gofiber/fiber/v2"

// routes is the whole management interface at one look (api.md).
func (c *Console) routes(api fiber.Router) {
	public := func(h handler) fiber.Handler { return c.route(c.asAnonymous(h)) }
	signIn := func(e realm, h func(*fiber.Ctx, realm) (any, error)) fiber.Handler {
		return c.route(c.limitedSignIn(e, h))
	}
	developer := func(h handler) fiber.Handler { return c.route(c.asDeveloper(h)) }
	reader := func(h handler) fiber.Handler { return c.route(c.asStatisticsReader(h)) }
	admin := func(h handler) fiber.Handler { return c.route(c.asAdministrator(h)) }

	api.Get("/config", public(c.config))
	api.Use(c.guarded)

	api.Post("/auth/code", signIn(developers, c.sendCode))
	api.Post("/auth/login", signIn(developers, c.logIn))
	api.Post("/auth/token", public(c.renewToken))
	api.Post("/auth/logout", public(c.logOut))
	api.Get("/auth/me", reader(c.me))
	api.Get("/auth/sessions", developer(c.listSessions))
	api.Delete("/auth/sessions/:id", developer(ofID(c.endSession)))
	api.Get("/auth/oidc/login", c.route(c.oidcLogin))
	api.Get("/auth/oidc/callback", c.route(c.oidcCallback))

	api.Get("/applications", developer(c.listApplications))
	api.Post("/applications", developer(c.createApplication))
	api.Get("/applications/:id", developer(ofID(c.getApplication)))
	api.Patch("/applications/:id", developer(ofID(c.updateApplication)))
	api.Delete("/applications/:id", developer(ofID(c.deleteApplication)))
	api.Get("/applications/:id/access-key", developer(ofID(c.revealAccessKey)))
	api.Post("/applications/:id/access-key/rotate", developer(ofID(c.rotateAccessKey)))
	api.Get("/applications/:id/keys", developer(ofID(c.listKeys)))
	api.Post("/applications/:id/keys", developer(ofID(c.createKey)))
	api.Patch("/applications/:id/keys/:keyId", developer(ofKey(c.updateKey)))
	api.Delete("/applications/:id/keys/:keyId", developer(ofKey(c.deleteKey)))
	api.Get("/applications/:id/keys/:keyId/secret", developer(ofKey(c.revealKey)))
	api.Patch("/applications/:id/status", developer(ofID(c.setApplicationStatus)))
	api.Patch("/applications/:id/limits", developer(ofID(c.setApplicationLimits)))
	api.Get("/applications/:id/limits/usage", developer(ofID(c.getLimitsUsage)))
	api.Patch("/applications/:id/capabilities/:capabilityId", developer(ofID(c.bindCapability)))

	api.Get("/capabilities", developer(c.listCapabilities))
	api.Get("/capabilities/groups", developer(c.listGroups))
	api.Get("/capabilities/:id", developer(ofIdentifier(c.getCapability)))
	api.Get("/capabilities/:id/applications", developer(ofIdentifier(c.listCapabilityApplications)))

	// overview before :id, or it would be taken for one.
	api.Get("/statistics/applications", reader(c.applicationStatistics))
	api.Get("/statistics/applications/overview", reader(c.overviewStatistics))
	api.Get("/statistics/applications/:id", reader(c.oneApplicationStatistics))
	api.Get("/statistics/applications/:id/calls", reader(c.listCalls))
	api.Get("/statistics/applications/:id/calls.csv", reader(c.exportCalls))
	api.Get("/statistics/applications/:id/calls/:callId", reader(c.getCall))

	api.Post("/admin/auth/code", signIn(administrators, c.sendCode))
	api.Post("/admin/auth/login", signIn(administrators, c.logIn))
	api.Post("/admin/auth/token", public(c.renewAdminToken))
	api.Post("/admin/auth/logout", public(c.adminLogOut))

	api.Get("/admin/groups", admin(c.adminListGroups))
	api.Post("/admin/groups", admin(c.createGroup))
	api.Put("/admin/groups/order", admin(c.orderGroups))
	api.Get("/admin/groups/:id", admin(ofIdentifier(c.adminGetGroup)))
	api.Patch("/admin/groups/:id", admin(ofIdentifier(c.updateGroup)))
	api.Get("/admin/capabilities", admin(c.adminListCapabilities))
	api.Post("/admin/capabilities", admin(c.createCapability))
	api.Put("/admin/capabilities/order", admin(c.orderCapabilities))
	api.Post("/admin/capabilities/check", admin(c.checkCapability))
	api.Get("/admin/capabilities/:id", admin(ofIdentifier(c.adminGetCapability)))
	api.Patch("/admin/capabilities/:id", admin(ofIdentifier(c.updateCapability)))
	api.Patch("/admin/capabilities/:id/status", admin(ofIdentifier(c.setCapabilityStatus)))
	api.Get("/admin/upstreams", admin(c.listUpstreams))
	api.Post("/admin/upstreams", admin(c.createUpstream))
	api.Get("/admin/upstreams/:id", admin(ofIdentifier(c.getUpstream)))
	api.Patch("/admin/upstreams/:id", admin(ofIdentifier(c.updateUpstream)))
	api.Delete("/admin/upstreams/:id", admin(ofIdentifier(c.deleteUpstream)))
	api.Post("/admin/upstreams/:id/check", admin(ofIdentifier(c.checkUpstream)))
	api.Post("/admin/upstreams/:id/restore-key", admin(ofIdentifier(c.restoreUpstreamKey)))
	api.Get("/admin/statistics/upstreams", admin(c.upstreamStatistics))
	api.Get("/admin/prices", admin(c.listPrices))
	api.Put("/admin/prices", admin(c.putPrice))
	api.Get("/admin/prices/suggestions", admin(c.suggestPrices))
	api.Get("/admin/prices/unpriced", admin(c.listUnpriced))
	api.Delete("/admin/prices/:id", admin(ofID(c.deletePrice)))
	api.Get("/admin/limits", admin(c.listCeilings))
	api.Put("/admin/limits", admin(c.putCeiling))
	api.Get("/admin/audit", admin(c.listAudit))
	api.Get("/admin/spools", admin(c.listSpools))
	api.Post("/admin/spools/:id/retire", admin(ofID(c.retireSpool)))
}
