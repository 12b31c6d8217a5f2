package console

import (
	"github.com/gofiber/fiber/v2"

	"callgate/internal/identity"
)

// routes is the whole management interface at one look; openapi.yaml describes each. Which management tokens a route takes is
// said by its class: none (signedIn, and all that is an administrator's), those of full access (developer), or any, where
// nothing is changed and no secret told (reading, reader, question).
func (c *Console) routes(api fiber.Router) {
	public := func(h handler) fiber.Handler { return c.route(c.asAnonymous(h)) }
	signIn := func(e realm, h func(*fiber.Ctx, realm) (any, error)) fiber.Handler {
		return c.route(c.limitedSignIn(e, h))
	}
	signedIn := func(h handler) fiber.Handler { return c.route(c.asDeveloper(h)) }
	developer := func(h handler) fiber.Handler { return c.route(c.asDeveloper(h, identity.FullAccess)) }
	reading := func(h handler) fiber.Handler {
		return c.route(c.asDeveloper(h, identity.ReadAccess, identity.FullAccess))
	}
	reader := func(h handler) fiber.Handler { return c.route(c.asStatisticsReader(h)) }
	admin := func(h handler) fiber.Handler { return c.route(c.asAdministrator(h)) }
	question := func(h handler) fiber.Handler { return reader(c.asQuestion(h)) }
	adminQuestion := func(h handler) fiber.Handler { return admin(c.asQuestion(h)) }

	api.Get("/config", public(c.config))
	api.Use(c.guarded)

	api.Post("/auth/code", signIn(developers, c.sendCode))
	api.Post("/auth/login", signIn(developers, c.logIn))
	api.Post("/auth/token", public(c.renewToken))
	api.Post("/auth/logout", public(c.logOut))
	api.Get("/auth/me", reader(c.me))
	api.Get("/auth/sessions", signedIn(c.listSessions))
	api.Delete("/auth/sessions/:id", signedIn(ofID(c.endSession)))
	api.Get("/auth/oidc/login", c.route(c.oidcLogin))
	api.Get("/auth/oidc/callback", c.route(c.oidcCallback))

	api.Get("/tokens", signedIn(c.listTokens))
	api.Post("/tokens", signedIn(c.createToken))
	api.Delete("/tokens/:id", signedIn(ofID(c.revokeToken)))

	api.Get("/applications", reading(c.listApplications))
	api.Post("/applications", developer(c.createApplication))
	api.Get("/applications/:id", reading(ofID(c.getApplication)))
	api.Patch("/applications/:id", developer(ofID(c.updateApplication)))
	api.Delete("/applications/:id", developer(ofID(c.deleteApplication)))
	api.Get("/applications/:id/access-key", developer(ofID(c.revealAccessKey)))
	api.Post("/applications/:id/access-key/rotate", developer(ofID(c.rotateAccessKey)))
	api.Get("/applications/:id/keys", reading(c.asQuestion(ofID(c.listKeys))))
	api.Post("/applications/:id/keys", developer(ofID(c.createKey)))
	api.Patch("/applications/:id/keys/:keyId", developer(ofKey(c.updateKey)))
	api.Delete("/applications/:id/keys/:keyId", developer(ofKey(c.deleteKey)))
	api.Get("/applications/:id/keys/:keyId/secret", developer(ofKey(c.revealKey)))
	api.Patch("/applications/:id/status", developer(ofID(c.setApplicationStatus)))
	api.Patch("/applications/:id/limits", developer(ofID(c.setApplicationLimits)))
	api.Get("/applications/:id/limits/usage", reading(ofID(c.getLimitsUsage)))
	api.Get("/applications/:id/budgets", reading(c.asQuestion(ofID(c.listApplicationBudgets))))
	api.Put("/applications/:id/budgets", developer(c.asQuestion(ofID(c.setApplicationBudgets))))
	api.Post("/applications/:id/budgets/:budgetId/override", developer(c.asQuestion(ofPart("budgetId", c.overrideBudget))))
	api.Delete("/applications/:id/budgets/:budgetId/override", developer(c.asQuestion(ofPart("budgetId", c.endBudgetOverride))))
	api.Get("/applications/:id/keys/:keyId/budgets", reading(c.asQuestion(ofKey(c.listKeyBudgets))))
	api.Put("/applications/:id/keys/:keyId/budgets", developer(c.asQuestion(ofKey(c.setKeyBudgets))))
	api.Get("/budgets", reading(c.asQuestion(c.listBudgets)))
	api.Patch("/applications/:id/capabilities/:capabilityId", developer(ofID(c.bindCapability)))

	api.Get("/capabilities", reading(c.listCapabilities))
	api.Get("/capabilities/groups", reading(c.listGroups))
	api.Get("/capabilities/:id", reading(ofIdentifier(c.getCapability)))
	api.Get("/capabilities/:id/applications", reading(ofIdentifier(c.listCapabilityApplications)))

	api.Get("/views", reading(c.listViews))
	api.Post("/views", developer(c.saveView))
	api.Delete("/views/:id", developer(ofID(c.deleteView)))

	api.Get("/alerts", reading(c.listAlerts))
	api.Post("/alerts", developer(c.createAlert))
	api.Patch("/alerts/:id", developer(ofID(c.updateAlert)))
	api.Delete("/alerts/:id", developer(ofID(c.deleteAlert)))
	api.Post("/alerts/:id/test", developer(ofID(c.testAlert)))
	api.Get("/alerts/:id/deliveries", reading(ofID(c.listDeliveries)))
	api.Post("/alerts/:id/deliveries/:deliveryId/resend", developer(ofPart("deliveryId", c.resendDelivery)))
	api.Get("/alerts/:id/channels/:channelId/secret", developer(ofPart("channelId", c.revealAlertSecret)))
	api.Post("/alerts/:id/channels/:channelId/rotate-secret", developer(ofPart("channelId", c.rotateAlertSecret)))

	api.Get("/calls", question(c.findCalls))
	api.Get("/calls/:callId", question(c.findCall))
	// overview before :id, or it would be taken for one.
	api.Get("/statistics/applications", question(c.applicationStatistics))
	api.Get("/statistics/applications/overview", question(c.overviewStatistics))
	api.Get("/statistics/applications/overview/reasons", question(c.overviewReasons))
	api.Get("/statistics/applications/overview/hourly", question(c.overviewHours))
	api.Get("/statistics/explore", question(c.explore))
	api.Get("/statistics/explore.csv", question(c.exportExploration))
	api.Get("/statistics/applications/:id", question(c.oneApplicationStatistics))
	api.Get("/statistics/applications/:id/reasons", question(c.applicationReasons))
	api.Get("/statistics/applications/:id/hourly", question(c.applicationHours))
	api.Get("/statistics/applications/:id/keys", question(c.applicationKeys))
	api.Get("/statistics/applications/:id/calls", question(c.listCalls))
	api.Get("/statistics/applications/:id/calls.csv", reader(c.exportCalls))
	api.Get("/statistics/applications/:id/calls/:callId", question(c.getCall))

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
	api.Get("/admin/statistics/overview", adminQuestion(c.figuresOverview))
	api.Get("/admin/statistics/capabilities", adminQuestion(c.listCapabilityFigures))
	api.Get("/admin/statistics/capabilities/:id", adminQuestion(ofIdentifier(c.capabilityFigures)))
	api.Get("/admin/statistics/owners", adminQuestion(c.listOwnerFigures))
	api.Get("/admin/statistics/applications", adminQuestion(c.listApplicationFigures))
	api.Get("/admin/statistics/upstreams", adminQuestion(c.upstreamStatistics))
	api.Get("/admin/statistics/reconcile", adminQuestion(c.countedForInvoice))
	api.Post("/admin/statistics/reconcile", adminQuestion(c.compareInvoice))
	api.Get("/admin/prices", admin(c.listPrices))
	api.Put("/admin/prices", admin(c.putPrice))
	api.Get("/admin/prices/suggestions", adminQuestion(c.suggestPrices))
	api.Get("/admin/prices/unpriced", adminQuestion(c.listUnpriced))
	api.Delete("/admin/prices/:id", admin(ofID(c.deletePrice)))
	api.Get("/admin/prices/believed", admin(c.listBelieved))
	api.Post("/admin/prices/believed", admin(c.setBelieved))
	api.Get("/admin/rates", admin(c.listRates))
	api.Put("/admin/rates", admin(c.putRate))
	api.Delete("/admin/rates/:id", admin(ofID(c.deleteRate)))
	api.Get("/admin/limits", admin(c.listCeilings))
	api.Put("/admin/limits", admin(c.putCeiling))
	api.Get("/admin/budgets", adminQuestion(c.listAllBudgets))
	api.Put("/admin/budgets", adminQuestion(c.setBudgets))
	api.Get("/admin/budgets/uncovered", adminQuestion(c.listUncovered))
	api.Post("/admin/budgets/:id/override", adminQuestion(ofID(c.overrideAnyBudget)))
	api.Delete("/admin/budgets/:id/override", adminQuestion(ofID(c.endAnyBudgetOverride)))
	api.Get("/admin/alerts", admin(c.listAlerts))
	api.Post("/admin/alerts", admin(c.createAlert))
	api.Patch("/admin/alerts/:id", admin(ofID(c.updateAlert)))
	api.Delete("/admin/alerts/:id", admin(ofID(c.deleteAlert)))
	api.Post("/admin/alerts/:id/test", admin(ofID(c.testAlert)))
	api.Get("/admin/alerts/:id/deliveries", admin(ofID(c.listDeliveries)))
	api.Post("/admin/alerts/:id/deliveries/:deliveryId/resend", admin(ofPart("deliveryId", c.resendDelivery)))
	api.Get("/admin/alerts/:id/channels/:channelId/secret", admin(ofPart("channelId", c.revealAlertSecret)))
	api.Post("/admin/alerts/:id/channels/:channelId/rotate-secret", admin(ofPart("channelId", c.rotateAlertSecret)))
	api.Get("/admin/applications", adminQuestion(c.listDirectory))
	api.Patch("/admin/applications/:id/status", admin(ofID(c.judgeApplication)))
	api.Patch("/admin/applications/:id/owner", admin(ofID(c.moveApplication)))
	api.Get("/admin/users", admin(c.listUsers))
	api.Delete("/admin/users/:id/sessions", admin(ofID(c.endUserSessions)))
	api.Get("/admin/calls", adminQuestion(c.lookUpCalls))
	api.Get("/admin/calls/:callId", adminQuestion(c.lookUpCall))
	api.Get("/admin/audit", admin(c.listAudit))
	api.Get("/admin/audit.csv", admin(c.exportAudit))
	api.Get("/admin/days", admin(c.listDays))
	api.Get("/admin/spools", admin(c.listSpools))
	api.Post("/admin/spools/:id/retire", admin(ofID(c.retireSpool)))
}
