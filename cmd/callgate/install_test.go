package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"callgate/internal/embedded"
	"callgate/internal/nginxtest"
)

// TestTheFirstCallOfTheInstallPageIsCounted runs the page's commands, word for word but for addresses, on the roles as
// processes behind compose's front, with what make-env.sh demo sets and what the profile demo adds.
func TestTheFirstCallOfTheInstallPageIsCounted(t *testing.T) {
	page, err := os.ReadFile("../../deploy/docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?s)```sh\n(url=.*?)```").FindSubmatch(page)
	demo, err := os.ReadFile("../../deploy/demo/upstream.conf")
	if err != nil {
		t.Fatal(err)
	}
	answer := regexp.MustCompile(`return 200 '(.*)';`).FindSubmatch(demo)
	if commands == nil || answer == nil {
		t.Fatal("the page has no commands, or the demo upstream no answer")
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer[1])
	}))
	t.Cleanup(upstream.Close)

	engines := embedded.Own(t)
	environment := production(t, engines)
	environment["ADMIN_EMAILS"] = "admin@example.com"
	migrateBy(t, binary, environment)
	gateway := launch(t, environment, binary, "serve", "--role", "gateway")
	console := launch(t, environment, binary, "serve", "--role", "console")
	front := nginxtest.Start(t, []string{strings.TrimPrefix(gateway.base, "http://")}, []string{strings.TrimPrefix(console.base, "http://")})
	mail := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := append(engines.Mailbox().Mails("admin@example.com"), engines.Mailbox().Mails("dev@example.com")...)
		if r.URL.Path != "/view/latest.txt" || len(all) == 0 {
			http.NotFound(w, r)
			return
		}
		latest := all[0]
		for _, one := range all {
			if one.SentAt.After(latest.SentAt) {
				latest = one
			}
		}
		_, _ = w.Write([]byte(latest.Text))
	}))
	t.Cleanup(mail.Close)

	script := strings.NewReplacer("http://localhost:8080", front.Base, "http://localhost:8025", mail.URL, "http://upstream:8080", upstream.URL).
		Replace("set -eu\n" + string(commands[1]))
	command := exec.Command("sh", "-c", script)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("the commands end with %v\n%s%s", err, out, stderr.String())
	}
	var call struct {
		Success                   bool
		InputTokens, OutputTokens int
	}
	last := out[strings.LastIndex(string(out), "\n{\n")+1:]
	if err := json.Unmarshal(last, &call); err != nil || !call.Success || call.InputTokens != 9 || call.OutputTokens != 6 {
		t.Errorf("of the first call is known %+v, %v\n%s", call, err, out)
	}
}
