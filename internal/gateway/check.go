package gateway

import (
	"errors"
	"strings"
)

// prepare checks the call and makes the head that is forwarded. A refusal says what stands against it.
func (c *call) prepare() *refusal {
	opened := c.request.open(c.gateway, c.x)
	c.findLimits()
	if refused := c.check(); refused != nil {
		return refused
	}
	switch {
	case c.gateway.stopping.Load():
		return &refusedStopping
	case errors.Is(opened, errTooLarge):
		return &refusedLarge
	case errors.Is(opened, errShareExhausted):
		return &refusedShare
	case opened != nil:
		return &refusedMemory
	}
	c.choose()
	t, secret, err := c.resolve(c.upstream)
	c.target, c.secret = t, secret
	switch {
	case errors.Is(err, errKey):
		return &refusedInternal
	case err != nil:
		return &refusedUnreachable
	}
	if refused := c.askBudgets(); refused != nil {
		return refused
	}
	if refused := c.takeLimits(); refused != nil {
		return refused
	}
	c.out = takeHead()
	*c.out = c.appendForwarded((*c.out)[:0], t)
	c.headBytes = len(*c.out)
	return nil
}

// check finds the first reason to refuse the call, in the order in which it asks. A capability
// that is named and exists is recorded whatever the reason.
func (c *call) check() *refusal {
	rest, model, count := splitModel(c.query, c.key)
	c.restQuery = rest
	differs := false
	if c.via {
		named := c.model()
		differs = count == 1 && model != named
		model = named
	}
	if count <= 1 && !differs && model != "" {
		c.capability = c.gateway.config.Capability(model)
		c.named.Store(c.capability)
	}
	switch {
	case c.grant.Expired(c.start):
		return &refusedExpired
	case c.grant.Restricted() && !c.grant.AllowsFrom(c.gateway.config.CallerAddress(c.x)):
		return &refusedAddress
	case !c.grant.Active:
		return &refusedDisabled
	case count > 1:
		return &refusedModels
	case differs:
		return &refusedDiffers
	case count == 0 && c.asksForModels():
		return &modelsAsked
	case count == 0 && c.asksForCall():
		return &callAsked
	case count == 0 && c.asksForUsage():
		return &usageAsked
	case model == "":
		return &refusedNoModel
	case c.capability == nil:
		return &refusedUnknown
	case !c.capability.Enabled:
		return &refusedOff
	case !c.grant.Bound(c.capability.ID):
		return &refusedUnbound
	case c.shown:
		return &refusedShown
	case !isMethod(c.method):
		return &refusedMethod
	case !allowsMethod(c.capability.AllowedMethods, c.method):
		refused := refusedMethod
		refused.allow = strings.Join(c.capability.AllowedMethods, ", ")
		refused.message = "The capability does not allow this method. Use " + refused.allow + "."
		return &refused
	case checkPath(c.path) != nil:
		return &refusedPath
	case !allowsPath(c.capability.AllowedPaths, c.path):
		return &refusedElsewhere
	}
	return nil
}
