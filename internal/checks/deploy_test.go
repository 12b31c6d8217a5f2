package checks

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"callgate/internal/config"
)

// root is the product's module, as these tests see it.
const root = "../.."

// deployed is a file of deploy/. What operators start Callgate with is read here as the real tools
// would, because no test machine runs a Docker engine.
func deployed(name string) string { return filepath.Join(root, "deploy", name) }

// address is what make-env.sh is told.
const address = "https://callgate.example.com"

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

// compose reads docker-compose.yml, and files of deploy/ on top of it, as COMPOSE_FILE names them.
func compose(t *testing.T, variables []string, more ...string) (*types.Project, error) {
	t.Helper()
	files := []string{filepath.Join(root, "docker-compose.yml")}
	for _, name := range more {
		files = append(files, deployed(name))
	}
	options, err := cli.NewProjectOptions(files, cli.WithEnv(variables), cli.WithDefaultProfiles())
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
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

// TestComposeTellsTheBuildItsVersion: the tag is what the program says of itself.
func TestComposeTellsTheBuildItsVersion(t *testing.T) {
	project, err := compose(t, append(madeEnv(t), "CALLGATE_VERSION=v7-3-gabc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"migrate", "gateway", "console"} {
		service := project.Services[name]
		if version := service.Build.Args["VERSION"]; version == nil || *version != "v7-3-gabc" || service.Image != "callgate:v7-3-gabc" {
			t.Errorf("%s is built as %v and called %s", name, service.Build.Args, service.Image)
		}
	}
}

// TestComposeFillsNoDisk: every container's log is rotated.
func TestComposeFillsNoDisk(t *testing.T) {
	for name, service := range composed(t, "demo", "observability", "cluster").Services {
		if l := service.Logging; l == nil || l.Driver != "json-file" || l.Options["max-size"] == "" || l.Options["max-file"] == "" {
			t.Errorf("the log of %s is kept as %+v", name, l)
		}
	}
}

// TestComposeStopsNobodyBeforeItsTime: Docker kills after stop_grace_period.
func TestComposeStopsNobodyBeforeItsTime(t *testing.T) {
	for _, c := range []struct {
		more []string
		want time.Duration
	}{{nil, time.Minute}, {[]string{"DRAIN_TIMEOUT=10m", "STOP_GRACE_PERIOD=11m"}, 11 * time.Minute}} {
		project, err := compose(t, append(madeEnv(t), c.more...))
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range []config.Role{config.Gateway, config.Console} {
			service := project.Services[string(role)]
			loaded, err := config.Load(service.Environment.ToMapping().Values(), role)
			if err != nil || service.StopGracePeriod == nil {
				t.Fatalf("%s: %v, %v", role, service.StopGracePeriod, err)
			}
			if got := time.Duration(*service.StopGracePeriod); got != c.want || got < loaded.DrainDelay+loaded.DrainTimeout+15*time.Second {
				t.Errorf("%s is killed after %v", role, got)
			}
		}
	}
}

// TestFrontOfComposeEndsTLSWithTLSYML, and is reached no other way then.
func TestFrontOfComposeEndsTLSWithTLSYML(t *testing.T) {
	if _, err := compose(t, madeEnv(t), "tls.yml"); err == nil || !strings.Contains(err.Error(), "TLS_DIR") {
		t.Errorf("without certificates it says: %v", err)
	}
	certificates := t.TempDir()
	project, err := compose(t, append(madeEnv(t), "TLS_DIR="+certificates), "tls.yml")
	if err != nil {
		t.Fatal(err)
	}
	front := project.Services["front"]
	if len(front.Ports) != 1 || front.Ports[0].Target != 8443 || front.Ports[0].Published != "443" {
		t.Errorf("it is reached at %+v", front.Ports)
	}
	sources := map[string]string{}
	for _, volume := range front.Volumes {
		sources[volume.Target] = volume.Source
		if !volume.ReadOnly {
			t.Errorf("%s is mounted to be written", volume.Source)
		}
	}
	if sources["/etc/nginx/tls"] != certificates || len(sources) != 4 {
		t.Errorf("it mounts %v", sources)
	}
	for target, name := range map[string]string{"/etc/nginx/front.d/tls.conf": "deploy/front-tls.conf", "/etc/nginx/conf.d/default.conf": "deploy/front.conf"} {
		if mount(front, target) != name {
			t.Errorf("at %s it finds %q", target, mount(front, target))
		}
	}
}

// TestFrontOfComposeStandsBehindAProxy on the same machine or another, whom it believes.
func TestFrontOfComposeStandsBehindAProxy(t *testing.T) {
	for _, c := range []struct {
		more              []string
		ip, proxy, listen string
	}{
		{nil, "", "unix:", "8080"},
		{[]string{"FRONT_PROXY=10.213.47.1", "PORT=127.0.0.1:8080"}, "127.0.0.1", "10.213.47.1", "8080"},
		{[]string{"FRONT_PROXY=192.0.2.0/24", "PORT=80"}, "", "192.0.2.0/24", "80"},
	} {
		project, err := compose(t, append(madeEnv(t), c.more...))
		if err != nil {
			t.Fatal(err)
		}
		front := project.Services["front"]
		if got := front.Environment.ToMapping()["FRONT_PROXY"]; got != c.proxy || mount(front, "/etc/nginx/templates/proxy.conf.template") != "deploy/front-proxy.conf" {
			t.Errorf("%v: it believes %q", c.more, got)
		}
		if port := front.Ports[0]; len(front.Ports) != 1 || port.HostIP != c.ip || port.Published != c.listen || port.Target != 8080 {
			t.Errorf("%v: it is reached at %+v", c.more, front.Ports)
		}
	}
}

func TestComposeStartsEveryRoleOnOfficialImages(t *testing.T) {
	project, err := compose(t, madeEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	official := map[string]string{
		"postgres": "postgres:", "redis": "redis:", "clickhouse": "clickhouse/clickhouse-server:", "front": "nginx:",
	}
	for name, image := range official {
		if !strings.HasPrefix(project.Services[name].Image, image) {
			t.Errorf("%s runs %q, not the official image", name, project.Services[name].Image)
		}
	}
	for _, name := range []string{"migrate", "gateway", "console"} {
		if build := project.Services[name].Build; build == nil || build.Dockerfile != "deploy/Dockerfile" {
			t.Errorf("%s is not built from deploy/Dockerfile", name)
		}
	}
	for _, role := range []config.Role{config.Gateway, config.Console} {
		service := project.Services[string(role)]
		if want := "serve --role " + string(role); strings.Join(service.Command, " ") != want {
			t.Errorf("%s runs %q, want %q", role, service.Command, want)
		}
		if service.DependsOn["migrate"].Condition != types.ServiceConditionCompletedSuccessfully {
			t.Errorf("%s does not wait for the migrations", role)
		}
		if _, err := config.Load(service.Environment.ToMapping().Values(), role); err != nil {
			t.Errorf("%s would refuse its environment: %v", role, err)
		}
	}
	if _, err := config.LoadMigration(project.Services["migrate"].Environment.ToMapping().Values()); err != nil {
		t.Errorf("migrate would refuse its environment: %v", err)
	}
}

// TestComposeScalesGatewaysAndConsolesAsWritten demands that nothing of a role can be had only once on a host,
// and that the front looks for containers that come later.
func TestComposeScalesGatewaysAndConsolesAsWritten(t *testing.T) {
	project, err := compose(t, madeEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	front, err := os.ReadFile(deployed("front.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gateway", "console"} {
		service := project.Services[name]
		if len(service.Ports) > 0 || service.ContainerName != "" || service.Hostname != "" {
			t.Errorf("two of %s collide: ports %v, container %q, host %q", name, service.Ports, service.ContainerName, service.Hostname)
		}
		found := regexp.MustCompile(`upstream ` + name + ` \{[^}]*\bzone [^}]*\bserver ` + name + `:8080 resolve[ ;]`).Match(front)
		if !found || !regexp.MustCompile(`(?m)^resolver 127\.0\.0\.11 valid=\d+s;`).Match(front) {
			t.Errorf("front does not notice another %s", name)
		}
	}
	gateway := project.Services["gateway"]
	dir := gateway.Environment.ToMapping()["SPOOL_DIR"]
	if len(gateway.Volumes) != 1 || gateway.Volumes[0].Target != dir || gateway.Volumes[0].Type != types.VolumeTypeVolume {
		t.Errorf("gateways do not share a volume for %s: %+v", dir, gateway.Volumes)
	}
}

// TestComposeBelievesItsFrontAndNobodyElse about who calls: one address, which no other container is given and no
// caller has, on gateways too, for keys may be held to addresses.
func TestComposeBelievesItsFrontAndNobodyElse(t *testing.T) {
	for _, prefix := range []string{"10.213.47", "192.168.77"} {
		variables := madeEnv(t)
		if prefix != "10.213.47" {
			variables = append(variables, "NETWORK_PREFIX="+prefix)
		}
		project, err := compose(t, variables)
		if err != nil {
			t.Fatal(err)
		}
		front, err := netip.ParseAddr(project.Services["front"].Networks["default"].Ipv4Address)
		if err != nil || len(project.Networks["default"].Ipam.Config) != 1 {
			t.Fatalf("the front has no address of its own: %v, %+v", err, project.Networks["default"].Ipam)
		}
		pool := project.Networks["default"].Ipam.Config[0]
		network, given := netip.MustParsePrefix(pool.Subnet), netip.MustParsePrefix(pool.IPRange)
		if !network.Contains(front) || given.Contains(front) || !network.Overlaps(given) || front == network.Addr() || pool.Gateway == front.String() || pool.Gateway == "" {
			t.Errorf("others may have the front's address %s: %+v", front, *pool)
		}
		for name, service := range project.Services {
			if name != "front" && service.Networks["default"] != nil && service.Networks["default"].Ipv4Address != "" {
				t.Errorf("%s has a fixed address", name)
			}
		}
		for _, role := range []config.Role{config.Gateway, config.Console} {
			c, err := config.Load(project.Services[string(role)].Environment.ToMapping().Values(), role)
			if err != nil || !slices.Equal(c.TrustedProxies, []string{front.String()}) || c.ClientAddressHeader != "X-Real-IP" || c.ProxyProtocol {
				t.Errorf("%s believes %v by %s: %v", role, c.TrustedProxies, c.ClientAddressHeader, err)
			}
		}
	}
}

func TestComposeSaysWhatIsMissingWithoutSecrets(t *testing.T) {
	_, err := compose(t, nil)
	if err == nil || !strings.Contains(err.Error(), "deploy/make-env.sh") {
		t.Fatalf("without .env compose says: %v", err)
	}
}

func TestFrontObeysNoAnswerAndSendsEveryGatewayPathToTheGateway(t *testing.T) {
	front, err := os.ReadFile(deployed("front.conf"))
	if err != nil {
		t.Fatal(err)
	}
	ignored := regexp.MustCompile(`(?s)proxy_ignore_headers ([^;]*);`).FindSubmatch(front)
	if ignored == nil {
		t.Fatal("answers of upstreams are obeyed")
	}
	for _, name := range []string{"Redirect", "Expires", "Limit-Rate", "Buffering", "Charset"} {
		if !regexp.MustCompile(`\bX-Accel-` + name + `\b`).Match(ignored[1]) {
			t.Errorf("X-Accel-%s is obeyed", name)
		}
	}
	location := regexp.MustCompile(`location ~ (\S+) \{\s*proxy_pass http://gateway;`).FindSubmatch(front)
	if location == nil {
		t.Fatal("nothing is sent to the gateway")
	}
	gateway := regexp.MustCompile(string(location[1]))
	for path, want := range map[string]bool{
		"/gateway": true, "/gateway/": true, "/gateway/v1": true, "/gatewayed": false, "/api/gateway/": false,
		"/via": true, "/via/m": true, "/via/m/v1": true, "/viaduct": false, "/api/via/": false,
	} {
		if gateway.MatchString(path) != want {
			t.Errorf("%s goes to the gateway: %v", path, !want)
		}
	}
}

func TestDockerfileBuildsThisModule(t *testing.T) {
	file, err := os.Open(deployed("Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	tree, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(stages) != 3 {
		t.Fatalf("%d stages, want the pages, a build and a small image", len(stages))
	}
	pages, build, image := stages[0], stages[1], stages[2]
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if want := "golang:" + string(language[1]); build.BaseName != want {
		t.Errorf("builds on %s, go.mod needs %s", build.BaseName, want)
	}
	for _, stage := range stages {
		if !regexp.MustCompile(`:\d+\.\d+(-slim)?$`).MatchString(stage.BaseName) {
			t.Errorf("%s is built on %s, which names no minor version", stage.Name, stage.BaseName)
		}
	}
	for _, command := range append(pages.Commands, build.Commands...) {
		from, ok := command.(*instructions.CopyCommand)
		if !ok || from.From != "" {
			continue
		}
		for _, source := range from.SourcePaths {
			if _, err := os.Stat(filepath.Join(root, source)); err != nil {
				t.Errorf("COPY %s: %v", source, err)
			}
		}
	}
	compiled := 0
	for _, command := range build.Commands {
		run, ok := command.(*instructions.RunCommand)
		if !ok || !strings.Contains(run.CmdLine[0], "go build") {
			continue
		}
		compiled++
		if !strings.Contains(run.CmdLine[0], "-X callgate/internal/boot.Version=${VERSION}") {
			t.Errorf("the image's binary does not say which version it is: %q", run.CmdLine[0])
		}
		if tags := regexp.MustCompile(`-tags (\S+)`).FindStringSubmatch(run.CmdLine[0]); tags == nil || tags[1] != "webui" || !strings.Contains(run.CmdLine[0], "CGO_ENABLED=0") {
			t.Errorf("the image's binary is built by %q: with the engines of callgate dev, or not for any base image", run.CmdLine[0])
		}
	}
	if compiled != 1 {
		t.Errorf("%d programs are compiled", compiled)
	}
	var user string
	for _, command := range image.Commands {
		switch c := command.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.CopyCommand: // of what was built, the program alone
			if c.From != "build" || !slices.Contains([]string{"/out/callgate", "/etc/ssl/certs/ca-certificates.crt"}, c.SourcePaths[0]) {
				t.Errorf("the image holds %s", c.SourcePaths)
			}
		case *instructions.VolumeCommand:
			t.Errorf("the image makes volumes of its own: %s", c.Volumes)
		}
	}
	if user != "10001:10001" { // by number, or Kubernetes cannot tell that it is not root
		t.Errorf("the image runs as %q", user)
	}
}
