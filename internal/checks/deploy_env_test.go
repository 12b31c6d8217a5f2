package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"

	"callgate/internal/config"
)

// makeEnv runs make-env.sh with some words, in a copy of the layout, and answers its question.
func makeEnv(t *testing.T, answer string, words ...string) (env, said string, err error) {
	t.Helper()
	copied := t.TempDir()
	script, err := os.ReadFile(deployed("make-env.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(copied, "deploy"), 0o755); err != nil {
		t.Fatal(err)
	}
	path, made := filepath.Join(copied, "deploy", "make-env.sh"), filepath.Join(copied, ".env")
	if err := os.WriteFile(path, script, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func() ([]byte, error) {
		command := exec.Command(path, words...)
		command.Stdin = strings.NewReader(answer)
		return command.CombinedOutput()
	}
	out, err := run()
	if err != nil {
		if _, is := os.Stat(made); is == nil {
			t.Errorf("%q fails and leaves .env", words)
		}
		return "", string(out), err
	}
	if out, err := run(); err == nil {
		t.Errorf("make-env.sh overwrote secrets:\n%s", out)
	}
	text, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf(".env can be read by others: %v, %v", info.Mode(), err)
	}
	return string(text), string(out), nil
}

// madeEnv is what make-env.sh writes for some profiles, with what it asks for filled in.
func madeEnv(t *testing.T, profiles ...string) (variables []string) {
	t.Helper()
	env, said, err := makeEnv(t, "", append([]string{address}, profiles...)...)
	if err != nil {
		t.Fatalf("make-env.sh: %v\n%s", err, said)
	}
	filled := strings.NewReplacer("ADMIN_EMAILS=\n", "ADMIN_EMAILS=root@example.com\n",
		"SMTP_URL=\n", "SMTP_URL=smtp://mail.example.com:25\n", "MAIL_FROM=\n", "MAIL_FROM=callgate@example.com\n").Replace(env)
	for _, line := range strings.Split(filled, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			variables = append(variables, line)
		}
	}
	return variables
}

func TestMakeEnvDemandsTheAddressThatIsUsed(t *testing.T) {
	for _, c := range []struct {
		words         string
		answer, wants string // wants: PUBLIC_BASE_URL; empty: refused
	}{
		{address, "", address},
		{address + "/", "", address},
		{"demo https://callgate.example.com:8443 observability", "", "https://callgate.example.com:8443"},
		{"", address + "\n", address},
		{"observability", address + "\n", address},
		{"demo", "", "http://localhost:8080"},
		{"http://localhost:8080", "", "http://localhost:8080"},
		{"", "", ""},
		{"", "\n", ""},
		{"", "callgate.example.com\n", ""},
		{"http://callgate.example.com", "", ""},
		{"http://localhost.example.com", "", ""},
		{"https://", "", ""},
		{"https://:8443", "", ""},
		{"https://callgate.example.com/console", "", ""},
		{"https://user@callgate.example.com", "", ""},
		{"https://callgate.example.com$(id)", "", ""},
		{address + " production", "", ""},
	} {
		env, said, err := makeEnv(t, c.answer, strings.Fields(c.words)...)
		switch {
		case c.wants == "" && (err == nil || !strings.Contains(said, "PUBLIC_BASE_URL") && !strings.Contains(said, "unknown profile")):
			t.Errorf("make-env.sh %s, answered %q: %v, %s", c.words, c.answer, err, said)
		case c.wants != "" && (err != nil || !strings.Contains(env, "\nPUBLIC_BASE_URL="+c.wants+"\n")):
			t.Errorf("make-env.sh %s, answered %q: %v, %s, not %s", c.words, c.answer, err, said, c.wants)
		}
	}
}

// TestDotEnvIsReadAsThePageSays: single quotes keep a value as it is, and COMPOSE_FILE names what comes on top.
func TestDotEnvIsReadAsThePageSays(t *testing.T) {
	const awkward = `smtps://user:pa$word#1@mail.example.com`
	env := strings.Join(madeEnv(t), "\n") + "\nSMTP_URL='" + awkward + "'\nOIDC_CLIENT_SECRET='" + awkward + "'\n" +
		"COMPOSE_FILE=docker-compose.yml:deploy/tls.yml\nTLS_DIR=/etc/callgate/tls\n"
	path := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(path, []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	options, err := cli.NewProjectOptions(nil, cli.WithEnvFiles(path), cli.WithDotEnv, cli.WithConfigFileEnv, cli.WithDefaultProfiles())
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	console := project.Services["console"].Environment.ToMapping()
	if console["SMTP_URL"] != awkward || console["OIDC_CLIENT_SECRET"] != awkward {
		t.Errorf("%s arrives as %s and %s", awkward, console["SMTP_URL"], console["OIDC_CLIENT_SECRET"])
	}
	if ports := project.Services["front"].Ports; len(ports) != 1 || ports[0].Target != 8443 {
		t.Errorf("COMPOSE_FILE is not obeyed: %+v", ports)
	}
}

// ours are the variables that compose sets itself, whatever .env says: they agree with its ports, volumes and front.
var ours = []string{"LISTEN", "METRICS_LISTEN", "SPOOL_DIR", "TRUSTED_PROXIES", "CLIENT_ADDRESS_HEADER", "PROXY_PROTOCOL"}

// TestEveryVariableOfEnvArrivesWhereItIsRead holds compose against the configuration and the operators' page: a variable that
// is in neither list of docker-compose.yml would do nothing, silently.
func TestEveryVariableOfEnvArrivesWhereItIsRead(t *testing.T) {
	page, err := os.ReadFile(deployed("docs/variables.md"))
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([a-z, ]+) \\|").FindAllStringSubmatch(string(page), -1) {
		of[row[1]] = row[2]
	}
	plain, err := compose(t, madeEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"CLICKHOUSE_READER_PASSWORD"}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		if name := field.Tag.Get("env"); name != "-" {
			names = append(names, name)
		}
	}
	variables := madeEnv(t)
	for _, name := range names {
		variables = append(variables, name+"=set-"+name)
	}
	set, err := compose(t, variables)
	if err != nil {
		t.Fatal(err)
	}
	readers := map[string]string{ // by whom a service's variables are read; commands run with a gateway's
		"gateway": `\b(all|gateway|verify|backup|restore|every command on stores)\b`,
		"console": `\b(all|console)\b`,
		"migrate": `\b(migrate|every command on stores)\b`,
	}
	for _, name := range names {
		for service, reads := range readers {
			if !regexp.MustCompile(reads).MatchString(of[name]) {
				continue
			}
			got, before := set.Services[service].Environment.ToMapping()[name], plain.Services[service].Environment.ToMapping()[name]
			if slices.Contains(ours, name) {
				if got != before {
					t.Errorf("%s of %s, which compose sets, is changed by .env to %q", name, service, got)
				}
			} else if got != "set-"+name {
				t.Errorf("%s of .env does not arrive at %s (%q): add it to docker-compose.yml", name, service, got)
			}
		}
	}
	for name, service := range plain.Services {
		for variable, value := range service.Environment.ToMapping() {
			if value == "" {
				t.Errorf("%s is given %s, empty", name, variable)
			}
		}
	}
}

// TestTheInstallPageNamesWhatComposeAsksFor besides the variables of the product.
func TestTheInstallPageNamesWhatComposeAsksFor(t *testing.T) {
	text := map[string]string{}
	for _, name := range []string{"../docker-compose.yml", "tls.yml", "docs/install.md", "docs/variables.md"} {
		b, err := os.ReadFile(deployed(name))
		if err != nil {
			t.Fatal(err)
		}
		text[name] = string(b)
	}
	asked := regexp.MustCompile(`\$\{([A-Z_]+)`).FindAllStringSubmatch(text["../docker-compose.yml"]+text["tls.yml"], -1)
	for _, name := range asked {
		if quoted := "`" + name[1] + "`"; !strings.Contains(text["docs/install.md"], quoted) && !strings.Contains(text["docs/variables.md"], quoted) {
			t.Errorf("%s is on neither page", name[1])
		}
	}
	if len(asked) < 20 {
		t.Errorf("compose asks for %d variables", len(asked))
	}
}

// TestSecretsAreGivenToThoseWhoNeedThem and to no other container.
func TestSecretsAreGivenToThoseWhoNeedThem(t *testing.T) {
	needed := map[string][]string{
		"POSTGRES_PASSWORD":          {"console", "gateway", "migrate", "postgres"},
		"CLICKHOUSE_PASSWORD":        {"clickhouse", "clickhouse-1a", "clickhouse-1b", "clickhouse-2a", "clickhouse-2b", "console", "gateway", "migrate"},
		"CLICKHOUSE_READER_PASSWORD": {"grafana", "migrate"},
		"GRAFANA_PASSWORD":           {"grafana"},
		"ENCRYPTION_KEYS":            {"console", "gateway"},
		"ACCESS_KEY_PEPPER":          {"console", "gateway"},
		"JWT_SECRET":                 {"console"},
		"SMTP_URL":                   {"console"},
		"OIDC_CLIENT_SECRET":         {"console"},
		"OTEL_EXPORTER_OTLP_HEADERS": {"gateway"},
	}
	variables := append(madeEnv(t, "demo", "observability", "cluster"), "OIDC_CLIENT_SECRET=canary-client", "OTEL_EXPORTER_OTLP_HEADERS=a=canary-header")
	project, err := compose(t, variables)
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range variables {
		name, secret, _ := strings.Cut(variable, "=")
		if needed[name] == nil {
			continue
		}
		var given []string
		for service, s := range project.Services {
			if strings.Contains(strings.Join(s.Environment.ToMapping().Values(), "\n"), secret) {
				given = append(given, service)
			}
		}
		if slices.Sort(given); !slices.Equal(given, needed[name]) {
			t.Errorf("%s is given to %q, needed by %q", name, given, needed[name])
		}
		delete(needed, name)
	}
	if len(needed) > 0 {
		t.Errorf("not looked for: %v", needed)
	}
	ignored, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if err != nil || !slices.Contains(strings.Fields(string(ignored)), ".env") {
		t.Errorf("builds are sent .env: %v", err)
	}
}
