package boot

import (
	"strings"
	"testing"

	"callgate/internal/catalog"
)

func TestTheNoticeOfAMovedKeySaysWhoWhatAndWhere(t *testing.T) {
	subject, text := keyMoveNotice(catalog.KeyMove{
		Actor: "root@example.com", ID: "gpt-5", Name: "GPT-5", From: "https://a.example", To: "https://b.example:8443",
	}, "https://callgate.example/")
	for _, part := range []string{"root@example.com", "gpt-5", "GPT-5", "https://a.example → https://b.example:8443", "https://callgate.example/admin/audit\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
	if strings.ContainsAny(subject, "\r\n") || !strings.Contains(subject, "upstream key") {
		t.Errorf("subject %q", subject)
	}
}
