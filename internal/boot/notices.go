package boot

import (
	"fmt"
	"strings"

	"callgate/internal/application"
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
