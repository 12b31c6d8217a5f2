package main

import (
	"encoding/json"
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
	var line struct {
		Level, Msg string
		Faults     []string
	}
	if err := json.Unmarshal(out, &line); err != nil || line.Level != "ERROR" || len(line.Faults) != 5 {
		t.Fatalf("it is not told by one line of the log: %v\n%s", err, out)
	}
	for i, name := range []string{"DATABASE_URL", "ENCRYPTION_KEYS", "JWT_SECRET", "PUBLIC_BASE_URL", "SPOOL_DIR"} {
		if !strings.Contains(line.Faults[i], name) {
			t.Errorf("%s is not named: %s", name, line.Faults[i])
		}
	}
	if strings.Contains(string(out), "canary") || strings.Contains(string(out), "Y2FuYXJ5") {
		t.Errorf("a secret is printed:\n%s", out)
	}
}
