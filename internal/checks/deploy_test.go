package checks

import (
	"net/netip"
	"os"
	"path/filepath"
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
