package main

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestBadConfigurationListsEveryFaultAndNoSecret(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), binary, "serve")
	cmd.Env = []string{
		"DATABASE_URL=mysql://user:canary-database@db/callgate",
		"CLICKHOUSE_URL=clickhouse://user:canary-clickhouse@ch:9000/callgate",
		"REDIS_URL=redis://:canary-redis@redis:6379",
		"JWT_SECRET=canary-short",
		"ACCESS_KEY_PEPPER=canary-pepper-canary-pepper-canary",
		"ENCRYPTION_KEYS=k1:Y2FuYXJ5",
		"ADMIN_EMAILS=root@example.com", "SMTP_URL=smtp://mail:25", "MAIL_FROM=callgate@example.com",
	}
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) || failed.ExitCode() == 0 {
		t.Fatalf("exit: %v\n%s", err, out)
	}
	for _, name := range []string{"DATABASE_URL", "JWT_SECRET", "ENCRYPTION_KEYS"} {
		if !strings.Contains(string(out), name) {
			t.Errorf("%s is not named:\n%s", name, out)
		}
	}
	if strings.Contains(string(out), "canary") || strings.Contains(string(out), "Y2FuYXJ5") {
		t.Errorf("a secret is printed:\n%s", out)
	}
}
