package boot

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"callgate/internal/application"
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

func TestBothOwnersAreToldOfAMovedApplication(t *testing.T) {
	move := application.Moved{ID: uuid.New(), Name: "Search", From: "old@example.com", To: "new@example.com", Reason: "They have left", Alerts: []string{"a", "b"}}
	for to, parts := range map[string][]string{
		move.To:   {"from old@example.com to you", "ended (2)", "The reason: They have left", "https://callgate.example/applications/" + move.ID.String() + "\n"},
		move.From: {"to new@example.com", "no longer see", "（2 个）", "原因：They have left"},
	} {
		subject, text := moveNotice(move, to, "https://callgate.example/")
		for _, part := range append(parts, "Search") {
			if !strings.Contains(text, part) {
				t.Errorf("%q is missing in:\n%s", part, text)
			}
		}
		if strings.ContainsAny(subject, "\r\n") || strings.Contains(text, "%!") {
			t.Errorf("subject %q, text %s", subject, text)
		}
	}
	move.Reason = ""
	if _, text := moveNotice(move, move.To, ""); strings.Contains(text, "eason") {
		t.Error(text)
	}
}
