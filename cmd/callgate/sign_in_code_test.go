package main

import (
	"os/exec"
	"strings"
	"testing"

	"callgate/internal/openapi"
)

// TestAnAdministratorSignsInWhileNoMailCanBeSent by the code that an operator's command prints, and the audit trail says so.
func TestAnAdministratorSignsInWhileNoMailCanBeSent(t *testing.T) {
	h := newInstallation(t)
	environment := with(h.environment, "SMTP_URL", "smtp://"+freeAddress(t))
	p := start(t, environment, "serve", "--role", "console")
	command := func(email string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binary, "sign-in-code", email)
		for name, value := range environment {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Env = append(cmd.Env, "PUBLIC_BASE_URL="+p.base)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := command("somebody@example.com"); err == nil || !strings.Contains(out, "not among ADMIN_EMAILS") {
		t.Errorf("of somebody: %v\n%s", err, out)
	}
	if status, e := (client{process: p}).try("POST", "/api/admin/auth/code", object{"email": "admin@callgate.local"}); status != 200 {
		t.Fatalf("asking for a code: %d %v", status, e)
	}
	out, err := command("admin@callgate.local")
	code, told, _ := strings.Cut(out, "\n")
	if err != nil || !strings.Contains(told, p.base+"/admin") {
		t.Fatalf("%v\n%s", err, out)
	}
	in := do[openapi.AdminToken](client{process: p}, "POST", "/api/admin/auth/login", object{"email": "admin@callgate.local", "code": code})
	trail := do[struct{ Items []openapi.AuditEntry }](client{process: p, token: in.Token}, "GET", "/api/admin/audit", nil)
	if len(trail.Items) < 2 || trail.Items[0].Action != "administrator.sign_in" || trail.Items[1].Action != "administrator.sign_in_code" || trail.Items[1].Actor != "command line" {
		t.Errorf("the audit trail: %+v", trail.Items)
	}
}
