package boot

import (
	"context"
	"fmt"
	"strings"

	"callgate/internal/application"
	"callgate/internal/budget"
	"callgate/internal/catalog"
)

// keyMoveNotice is the mail that tells the other administrators of a stored key which will be sent elsewhere: whoever
// may edit a capability can take its key that way, and nobody else would see it.
func keyMoveNotice(move catalog.KeyMove, baseURL string) (subject, text string) {
	return "Callgate：已保存的上游 Key 将发往新的地址 / A stored upstream key is now sent to another address", fmt.Sprintf(
		`管理员 %[1]s 修改了能力「%[2]s」（%[3]s）的上游地址，并保留了已保存的 Key：

    %[4]s → %[5]s

如果这不是预期的修改，请改回地址，并在提供方处更换该 Key。

The administrator %[1]s changed the upstream address of the capability %[2]s (%[3]s) and kept its stored key, which is
now sent to the address above. If that was not intended, change the address back and replace the key at its provider.

%[6]s/admin/audit
`, move.Actor, move.Name, move.ID, move.From, move.To, strings.TrimRight(baseURL, "/"))
}

// moveNotice is the mail that tells the former and the new owner, which is to, of an application that an administrator
// has moved. It does not name the administrator.
func moveNotice(move application.Moved, to, baseURL string) (subject, text string) {
	zh, en := "", ""
	if move.Reason != "" {
		zh, en = "\n原因："+move.Reason, "\nThe reason: "+move.Reason
	}
	if to == move.To {
		return "Callgate：您有了一个应用 / An application is yours now", fmt.Sprintf(
			`管理员将应用「%[1]s」从 %[2]s 移交给您。它的密钥、限额、绑定与全部统计都归您；原所有者的告警已结束（%[3]d 个），需要时请自行添加。
知道密钥的人仍可调用：如有需要，请轮换密钥。%[4]s

An administrator moved the application %[1]s from %[2]s to you. Its keys, limits, bindings and all of its statistics are
yours. The alerts of its former owner have ended (%[3]d): add your own where you want them. Whoever knows a key can go on
calling: rotate the keys if that is not wanted.%[5]s

%[6]s/applications/%[7]s
`, move.Name, move.From, len(move.Alerts), zh, en, strings.TrimRight(baseURL, "/"), move.ID)
	}
	return "Callgate：您的一个应用已移交 / An application of yours was moved", fmt.Sprintf(
		`管理员将应用「%[1]s」移交给 %[2]s。您不再能看到它和它的统计，您对它设置的告警已结束（%[3]d 个）；已有的密钥继续有效。%[4]s

An administrator moved the application %[1]s to %[2]s. You no longer see it or its statistics, and your alerts on it have
ended (%[3]d). Its keys go on working.%[5]s
`, move.Name, move.To, len(move.Alerts), zh, en)
}

// notifyOfBudget mails whom a budget concerns: the owner of an application or a key; of an owner's the owner and the administrators,
// and of a capability's these alone.
func (n *Node) notifyOfBudget(ctx context.Context, of budget.Notice) {
	subject, text := budgetNotice(of, n.config.PublicBaseURL)
	if of.OwnerEmail != "" {
		n.identity.Tell(ctx, of.OwnerEmail, subject, text)
	}
	if of.Scope == budget.ForOwner || of.Scope == budget.ForCapability {
		n.identity.TellAdministrators(ctx, of.OwnerEmail, subject, text)
	}
}

var periodsInChinese = map[budget.Period]string{budget.Day: "每日", budget.Week: "每周", budget.Month: "每月"}

// budgetNotice says how much of whose budget is spent.
func budgetNotice(of budget.Notice, baseURL string) (subject, text string) {
	whose, page := map[budget.Scope]string{
		budget.ForApplication: of.ApplicationName, budget.ForKey: of.ApplicationName + " / " + of.KeyName,
		budget.ForOwner: of.OwnerEmail, budget.ForCapability: of.CapabilityName,
	}[of.Scope], "/budgets"
	if of.Scope == budget.ForCapability {
		page = "/admin/budgets"
	}
	zh, en := fmt.Sprintf("已用 %d%%", of.Percent), fmt.Sprintf("%d %% is spent", of.Percent)
	switch {
	case of.Percent == 0:
		zh, en = "照此速度将于 "+of.UsedUpOn.String()+" 用完", "used up on "+of.UsedUpOn.String()+" at this rate"
	case of.Percent >= 100 && of.Action == budget.Block:
		zh, en = zh+"，调用被拒绝", en+", calls are refused"
	}
	return fmt.Sprintf("Callgate：预算 %s：%s / budget of %s: %s", whose, zh, whose, en), fmt.Sprintf(
		`%[1]s 的%[2]s预算：%[3]s。已用 %[4]s %[5]s，共 %[6]s %[5]s。

The budget of %[1]s for each %[7]s: %[8]s. %[4]s of %[6]s %[5]s are spent.

%[9]s%[10]s
`, whose, periodsInChinese[of.Period], zh, of.Spent, of.Currency, of.Holds, of.Period, en, strings.TrimRight(baseURL, "/"), page)
}
