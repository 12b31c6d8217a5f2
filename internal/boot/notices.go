package boot

import (
	"fmt"
	"strings"

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
