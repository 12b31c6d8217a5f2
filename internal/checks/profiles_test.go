package checks

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/openai/openai-go/v3"
	"go.yaml.in/yaml/v3"

	"callgate/internal/config"
)

// profiles are what each profile of docker-compose.yml adds.
var profiles = map[string][]string{
	"demo":          {"mail", "upstream"},
	"observability": {"grafana", "prometheus"},
	"cluster":       {"clickhouse-1a", "clickhouse-1b", "clickhouse-2a", "clickhouse-2b", "keeper"},
}

// composed is the project with the profiles that make-env.sh was given.
func composed(t *testing.T, names ...string) *types.Project {
	t.Helper()
	project, err := compose(t, madeEnv(t, names...))
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func TestProfilesOfComposeAddWhatTheySayOnPinnedImages(t *testing.T) {
	plain := slices.Sorted(slices.Values(composed(t).ServiceNames()))
	for name, added := range profiles {
		got := slices.Sorted(slices.Values(composed(t, name).ServiceNames()))
		if want := slices.Sorted(slices.Values(append(slices.Clone(plain), added...))); !slices.Equal(got, want) {
			t.Errorf("profile %s runs %q, want %q", name, got, want)
		}
	}
	project := composed(t, "demo", "observability", "cluster")
	if len(project.Services) != len(plain)+9 {
		t.Errorf("all together are %q", project.ServiceNames())
	}
	for name, service := range project.Services {
		if service.Build == nil && !regexp.MustCompile(`^[a-z0-9/-]+:v?\d+(\.\d+){1,2}$`).MatchString(service.Image) {
			t.Errorf("%s runs %q, which names no minor version", name, service.Image)
		}
		for _, port := range service.Ports {
			if name != "front" && port.HostIP != "127.0.0.1" {
				t.Errorf("%s is open to the network at %s", name, port.Published)
			}
		}
		for _, volume := range service.Volumes {
			if volume.Type != types.VolumeTypeBind {
				continue
			}
			if info, err := os.Stat(volume.Source); err != nil || info.IsDir() || !volume.ReadOnly {
				t.Errorf("%s mounts %s: %v", name, volume.Source, err)
			}
		}
	}
}

func TestProductsContainersCanWriteToTheirSpoolOnly(t *testing.T) {
	project := composed(t)
	for _, name := range []string{"migrate", "gateway", "console"} {
		service := project.Services[name]
		if !service.ReadOnly || !slices.Equal(service.CapDrop, []string{"ALL"}) || !slices.Equal(service.SecurityOpt, []string{"no-new-privileges:true"}) || service.User != "" {
			t.Errorf("%s has more rights than it needs", name)
		}
		if name != "gateway" && len(service.Volumes) > 0 {
			t.Errorf("%s has volumes: %+v", name, service.Volumes)
		}
	}
}

func TestRolesTakeTheEnvironmentOfEveryProfile(t *testing.T) {
	for _, names := range [][]string{{"demo"}, {"cluster"}, {"demo", "observability", "cluster"}} {
		project := composed(t, names...)
		for _, role := range []config.Role{config.Gateway, config.Console} {
			if _, err := config.Load(project.Services[string(role)].Environment.ToMapping().Values(), role); err != nil {
				t.Errorf("%v: %s would refuse its environment: %v", names, role, err)
			}
		}
		if _, err := config.LoadMigration(project.Services["migrate"].Environment.ToMapping().Values()); err != nil {
			t.Errorf("%v: migrate would refuse its environment: %v", names, err)
		}
	}
}

func TestDemoUpstreamAnswersAsAModelDoes(t *testing.T) {
	text, err := os.ReadFile(deployed("demo/upstream.conf"))
	if err != nil {
		t.Fatal(err)
	}
	answer := regexp.MustCompile(`return 200 '(.*)';`).FindSubmatch(text)
	if answer == nil {
		t.Fatal("it answers nothing")
	}
	var completion openai.ChatCompletion
	if err := json.Unmarshal(answer[1], &completion); err != nil || completion.Choices[0].Message.Content == "" || completion.Usage.TotalTokens == 0 {
		t.Errorf("%+v, %v", completion, err)
	}
}

// readYAML decodes a file of deploy/ strictly.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	file, err := os.Open(deployed(name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// mount is the file of the repository that a service finds at a path; empty: none.
func mount(service types.ServiceConfig, at string) string {
	for _, volume := range service.Volumes {
		if volume.Target == at {
			return filepath.Base(filepath.Dir(volume.Source)) + "/" + filepath.Base(volume.Source)
		}
	}
	return ""
}

func TestPrometheusOfComposeFindsEveryProcessAndTheRules(t *testing.T) {
	var c struct {
		Global  map[string]string
		Files   []string `yaml:"rule_files"`
		Scrapes []struct {
			Job string `yaml:"job_name"`
			DNS []struct {
				Names           []string
				Type            string
				Port            string
				RefreshInterval string `yaml:"refresh_interval"`
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	readYAML(t, "observability/prometheus.yml", &c)
	project := composed(t, "observability")
	server := project.Services["prometheus"]
	if mount(server, "/etc/prometheus/prometheus.yml") != "observability/prometheus.yml" || len(c.Files) != 1 || mount(server, "/etc/prometheus/"+c.Files[0]) != "files/alerts.yaml" {
		t.Errorf("it has %+v", server.Volumes)
	}
	if len(c.Scrapes) != 1 || c.Scrapes[0].Job != "callgate" || len(c.Scrapes[0].DNS) != 1 {
		t.Fatalf("it reads %+v", c.Scrapes)
	}
	found := c.Scrapes[0].DNS[0]
	for _, name := range found.Names {
		if listen := project.Services[name].Environment.ToMapping()["METRICS_LISTEN"]; listen != "0.0.0.0:"+found.Port {
			t.Errorf("%s has its metrics at %s", name, listen)
		}
	}
	if !slices.Equal(found.Names, []string{"gateway", "console"}) || found.Type != "A" {
		t.Errorf("it looks for %+v", found)
	}
}

func TestGrafanaOfComposeHasBothDashboardsAndTheirSources(t *testing.T) {
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, UID, Type, Access, URL string
			IsDefault                    bool              `yaml:"isDefault"`
			JSONData                     map[string]any    `yaml:"jsonData"`
			SecureJSONData               map[string]string `yaml:"secureJsonData"`
		}
	}
	readYAML(t, "observability/datasources.yaml", &sources)
	var boards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Folder, Type string
			AllowUIUpdates     bool `yaml:"allowUiUpdates"`
			Options            map[string]string
		}
	}
	readYAML(t, "observability/dashboards.yaml", &boards)
	service := composed(t, "observability").Services["grafana"]
	kinds := map[string]bool{}
	for _, source := range sources.Datasources {
		kinds[source.Type] = true
		for _, value := range append(slices.Collect(func(yield func(string) bool) {
			for _, v := range source.JSONData {
				if text, ok := v.(string); ok && !yield(text) {
					return
				}
			}
		}), source.SecureJSONData["password"]) {
			if name, is := strings.CutPrefix(value, "$"); is {
				if set := service.Environment[name]; set == nil || *set == "" {
					t.Errorf("%s needs %s, which grafana is not given", source.Name, name)
				}
			}
		}
	}
	path := boards.Providers[0].Options["path"]
	for target, file := range map[string]string{"operators.json": "chart/files/dashboard.json", "calls.json": "../clickhouse/grafana/dashboard.json"} {
		text, err := os.ReadFile(deployed(file))
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			Templating struct {
				List []struct{ Type, Query string }
			}
		}
		if err := json.Unmarshal(text, &board); err != nil || mount(service, path+"/"+target) == "" {
			t.Errorf("%s is not at %s/%s: %v", file, path, target, err)
			continue
		}
		if source := board.Templating.List[0]; source.Type != "datasource" || !kinds[source.Query] {
			t.Errorf("%s asks a source of type %s, of which there is none", file, source.Query)
		}
	}
}

// TestClusterOfComposeIsOfTwoShardsOfTwoReplicas holds the nodes' configuration against the services.
func TestClusterOfComposeIsOfTwoShardsOfTwoReplicas(t *testing.T) {
	type fromEnv struct {
		Name string `xml:"from_env,attr"`
	}
	var c struct {
		Shard       fromEnv `xml:"macros>shard"`
		Replica     fromEnv `xml:"macros>replica"`
		Interserver fromEnv `xml:"interserver_http_host"`
		Keeper      string  `xml:"zookeeper>node>host"`
		KeeperPort  string  `xml:"zookeeper>node>port"`
		Shards      []struct {
			Replicas []struct {
				Host     string  `xml:"host"`
				Port     string  `xml:"port"`
				User     string  `xml:"user"`
				Password fromEnv `xml:"password"`
			} `xml:"replica"`
			Internal bool `xml:"internal_replication"`
		} `xml:"remote_servers>callgate>shard"`
	}
	var keeper struct {
		Port string `xml:"keeper_server>tcp_port"`
		Host string `xml:"keeper_server>raft_configuration>server>hostname"`
	}
	for name, into := range map[string]any{"cluster/nodes.xml": &c, "cluster/keeper.xml": &keeper} {
		text, err := os.ReadFile(deployed(name))
		if err == nil {
			err = xml.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	project := composed(t, "cluster")
	if _, ok := project.Services[c.Keeper]; !ok || c.KeeperPort != keeper.Port || keeper.Host != c.Keeper {
		t.Errorf("Keeper is looked for at %s:%s, and listens on %s:%s", c.Keeper, c.KeeperPort, keeper.Host, keeper.Port)
	}
	var nodes []string
	for i, shard := range c.Shards {
		if len(shard.Replicas) != 2 || !shard.Internal {
			t.Errorf("shard %d is %+v", i+1, shard)
		}
		for _, replica := range shard.Replicas {
			nodes = append(nodes, replica.Host)
			service, ok := project.Services[replica.Host]
			env := service.Environment.ToMapping()
			if !ok || env[c.Shard.Name] != string(rune('1'+i)) || env[c.Replica.Name] != replica.Host || service.Hostname != env[c.Interserver.Name] {
				t.Errorf("%s believes to be %s of shard %s, and is called %s", replica.Host, env[c.Replica.Name], env[c.Shard.Name], service.Hostname)
			}
			if env["CLICKHOUSE_USER"] != replica.User || env[replica.Password.Name] == "" || replica.Port != "9000" || mount(service, "/etc/clickhouse-server/config.d/nodes.xml") != "cluster/nodes.xml" {
				t.Errorf("%s cannot be reached as %+v", replica.Host, replica)
			}
		}
	}
	if len(c.Shards) != 2 || !slices.Equal(nodes, profiles["cluster"][:4]) {
		t.Errorf("the cluster is of %q", nodes)
	}
	gateway := project.Services["gateway"].Environment.ToMapping()
	for _, node := range nodes {
		if !strings.Contains(gateway["CLICKHOUSE_URL"], node+":9000") || gateway["CLICKHOUSE_CLUSTER"] != "callgate" {
			t.Errorf("gateways ask the cluster %q at %s", gateway["CLICKHOUSE_CLUSTER"], gateway["CLICKHOUSE_URL"])
		}
		if waits := project.Services["migrate"].DependsOn[node]; waits.Condition != types.ServiceConditionHealthy || waits.Required {
			t.Errorf("migrations do not wait for %s, or always do", node)
		}
	}
}
