package gateway

import (
	"fmt"
	"time"

	"callgate/internal/beijing"
	"callgate/internal/budget"
	"callgate/internal/calls"
)

// askBudgets refuses the call where a budget that it would be charged to is used up.
func (c *call) askBudgets() *refusal {
	if c.gateway.config.Budgets == nil {
		return nil
	}
	by := budget.Caller{Key: c.grant.KeyID, Application: c.grant.ApplicationID, Owner: c.grant.OwnerID, Capability: c.capability.ID}
	bill, refused := c.gateway.config.Budgets.Admit(by, c.start)
	if refused != nil {
		return refusedBudgetOf(refused, c.start)
	}
	c.bill = bill
	return nil
}

// chargeBudgets charges what the call cost.
func (c *call) chargeBudgets(record *calls.Record) {
	if e := c.gateway.config.Budgets; e != nil {
		e.End(c.bill, record)
		c.bill = budget.Ticket{}
	}
}

// refusedBudgetOf says whose budget is used up, how much it is, and when it begins anew. How much a capability may cost is no
// caller's business.
func refusedBudgetOf(refused *budget.Refused, now time.Time) *refusal {
	b := refused.Budget
	r := refusal{status: 429, code: refused.Code, kind: "insufficient_quota", wait: refused.Begins.Sub(now), reason: calls.Limited, reasonCode: calls.ReasonCode(refused.Code)}
	whose := map[budget.Scope]string{
		budget.ForKey: "The budget of the application's key", budget.ForApplication: "The application's budget",
		budget.ForOwner:      "The budget that an administrator set for all applications of the owner",
		budget.ForCapability: "The budget that an administrator set for the capability",
	}[b.Scope]
	begins := beijing.DayOf(refused.Begins).String() + " at midnight in Beijing"
	if refused.Code == budget.CostUnknown {
		r.message = whose + " refuses calls whose cost is not known, and no price holds for this one. Ask an administrator for a price."
		return &r
	}
	if b.Scope == budget.ForCapability {
		r.message = fmt.Sprintf("%s is used up for this %s. It begins anew on %s.", whose, b.Period, begins)
		return &r
	}
	r.message = fmt.Sprintf("%s of %s %s a %s is used up. It begins anew on %s.", whose, b.Holds(now), b.Currency, b.Period, begins)
	return &r
}
