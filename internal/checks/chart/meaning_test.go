package chart

import (
	"cmp"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"callgate/internal/config"
)

// each runs a test on every example's release.
func each(t *testing.T, check func(t *testing.T, m manifests)) {
	t.Helper()
	for _, example := range examples(t) {
		t.Run(example, func(t *testing.T) {
			m, err := render(t, values(t, example))
			if err != nil {
				t.Fatal(err)
			}
			check(t, m)
		})
	}
}

// pods are the pods of the roles and of the migration, by component.
func pods(t *testing.T, m manifests) map[string]corev1.PodTemplateSpec {
	t.Helper()
	all := map[string]corev1.PodTemplateSpec{
		"gateway": only[*appsv1.StatefulSet](t, m).Spec.Template,
		"console": only[*appsv1.Deployment](t, m).Spec.Template,
		"migrate": only[*batchv1.Job](t, m).Spec.Template,
	}
	for _, job := range of[*batchv1.CronJob](m) {
		all["backup"] = job.Spec.JobTemplate.Spec.Template
	}
	return all
}

// serves tells whether a component's pods answer requests.
func serves(component string) bool { return component == "gateway" || component == "console" }

// secretSettings must never stand in an object that is not a Secret.
var secretSettings = []string{"DATABASE_URL", "CLICKHOUSE_URL", "REDIS_URL", "ENCRYPTION_KEYS", "ACCESS_KEY_PEPPER", "JWT_SECRET", "SMTP_URL", "OIDC_CLIENT_SECRET", "CLICKHOUSE_READER_PASSWORD", "OTEL_EXPORTER_OTLP_HEADERS"}

// settings are the names of all variables that the product reads.
func settings() map[string]bool {
	names := map[string]bool{"CLICKHOUSE_READER_PASSWORD": true /* of migrate alone */, "SSL_CERT_FILE": true /* of Go's TLS */}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("env"), ","); name != "" && name != "-" {
			names[name] = true
		}
	}
	return names
}

// examplesOfSecrets are what the installation's Secrets might hold.
var examplesOfSecrets = map[string]string{
	"DATABASE_URL": "postgres://u:p@db:5432/callgate", "CLICKHOUSE_URL": "clickhouse://u:p@ch:9000/callgate", "REDIS_URL": "redis://redis:6379/0",
	"ENCRYPTION_KEYS": "k1:Y2FuYXJ5LWNhbmFyeS1jYW5hcnktY2FuYXJ5LWNhbmE=", "ACCESS_KEY_PEPPER": "0123456789abcdef0123456789abcdef",
	"JWT_SECRET": "0123456789abcdef0123456789abcdef", "SMTP_URL": "smtp://mail:25", "OIDC_CLIENT_SECRET": "0123456789",
	"CLICKHOUSE_READER_PASSWORD": "0123456789abcdef", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x",
}

var reference = regexp.MustCompile(`\$\(([A-Z_]+)\)`)

// environment is what Kubernetes would give a container: with Secrets, and references to what stands before.
func environment(t *testing.T, c corev1.Container) map[string]string {
	t.Helper()
	made := map[string]string{}
	for _, v := range c.Env {
		if _, twice := made[v.Name]; twice {
			t.Errorf("%s: %s is given twice", c.Name, v.Name)
		}
		if v.ValueFrom != nil {
			ref := v.ValueFrom.SecretKeyRef
			if v.Value != "" || ref == nil || ref.Name == "" || ref.Key == "" {
				t.Errorf("%s: %s comes from %+v", c.Name, v.Name, v.ValueFrom)
			}
			if made[v.Name] = examplesOfSecrets[v.Name]; made[v.Name] == "" {
				made[v.Name] = "password"
			}
			continue
		}
		made[v.Name] = reference.ReplaceAllStringFunc(v.Value, func(found string) string {
			value, before := made[reference.FindStringSubmatch(found)[1]]
			if !before {
				t.Errorf("%s: %s refers to %s, which does not stand before it", c.Name, v.Name, found)
			}
			return value
		})
	}
	return made
}

func TestProcessesGetAnEnvironmentThatTheyTake(t *testing.T) {
	known := settings()
	each(t, func(t *testing.T, m manifests) {
		for component, pod := range pods(t, m) {
			container := pod.Spec.Containers[0]
			var environ []string
			passwords := map[string]bool{}
			for name, value := range environment(t, container) {
				environ = append(environ, name+"="+value)
				if !known[name] {
					passwords[name] = true
				}
			}
			for _, v := range container.Env { // what is no setting is the password of one
				for _, used := range reference.FindAllStringSubmatch(v.Value, -1) {
					delete(passwords, used[1])
				}
			}
			if len(passwords) > 0 {
				t.Errorf("%s: the product reads no %v", component, passwords)
			}
			var err error
			switch component {
			case "migrate":
				_, err = config.LoadMigration(environ)
			case "backup":
				_, err = config.LoadBackup(environ)
			default:
				_, err = config.Load(environ, config.Role(component))
			}
			if err != nil {
				t.Errorf("%s would refuse its environment: %v", component, err)
			}
		}
	})
}

// TestGatewaysAndConsolesAreToldWhomToBelieveAboutTheClient: the same of both, and nobody where nobody is named.
func TestGatewaysAndConsolesAreToldWhomToBelieveAboutTheClient(t *testing.T) {
	for example, want := range map[string][3]string{
		"small":      {"10.244.0.0/16", "X-Real-IP", "false"},
		"replicated": {"192.0.2.10,192.0.2.11", "X-Real-IP", "true"},
		"sharded":    {"192.0.2.0/28,2001:db8:5::/64", "X-Forwarded-For", "false"},
		"":           {},
	} {
		given := values(t, cmp.Or(example, "small"))
		if example == "" {
			delete(given, "proxies")
		}
		m, err := render(t, given)
		if err != nil {
			t.Fatal(err)
		}
		for component, pod := range pods(t, m) {
			told := environment(t, pod.Spec.Containers[0])
			got := [3]string{told["TRUSTED_PROXIES"], told["CLIENT_ADDRESS_HEADER"], told["PROXY_PROTOCOL"]}
			if serves(component) && got != want || !serves(component) && got != [3]string{} {
				t.Errorf("%q: %s is told %q, want %q", example, component, got, want)
			}
		}
	}
}

func TestEverySecretComesFromASecret(t *testing.T) {
	each(t, func(t *testing.T, m manifests) {
		for component, pod := range pods(t, m) {
			for _, v := range pod.Spec.Containers[0].Env {
				if !slices.Contains(secretSettings, v.Name) || v.ValueFrom != nil {
					continue
				}
				parsed, err := url.Parse(reference.ReplaceAllString(v.Value, "reference"))
				if err != nil || parsed.User == nil {
					t.Errorf("%s: %s stands in the pod itself", component, v.Name)
				} else if password, _ := parsed.User.Password(); password != "reference" {
					t.Errorf("%s: the password of %s stands in the pod itself", component, v.Name)
				}
			}
		}
		if len(of[*corev1.Secret](m)) > 0 {
			t.Error("the chart makes Secrets: their content would be kept in its values")
		}
	})
	for name := range settings() { // a setting that is added and looks like a secret has to be sorted in
		secret := regexp.MustCompile(`SECRET|PASSWORD|PEPPER|_KEYS$|TOKEN|HEADERS$`).MatchString(name)
		if secret && !slices.Contains(secretSettings, name) {
			t.Errorf("%s looks like a secret", name)
		}
	}
}

func TestSelectorsFindTheirPods(t *testing.T) {
	each(t, func(t *testing.T, m manifests) {
		all := pods(t, m)
		find := func(what string, selector map[string]string) (component string) {
			for name, pod := range all {
				if labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
					component += name
				}
			}
			if _, one := all[component]; !one {
				t.Errorf("%s finds the pods of %q", what, component)
			}
			return component
		}
		set, deployment := only[*appsv1.StatefulSet](t, m), only[*appsv1.Deployment](t, m)
		find(set.Name, set.Spec.Selector.MatchLabels)
		find(deployment.Name, deployment.Spec.Selector.MatchLabels)
		for _, b := range of[*policyv1.PodDisruptionBudget](m) {
			find("budget "+b.Name, b.Spec.Selector.MatchLabels)
		}
		policies := of[*networkingv1.NetworkPolicy](m)
		if len(policies) != len(all) {
			t.Errorf("%d network policies for %d kinds of pods: where nothing else is allowed, the others reach no store", len(policies), len(all))
		}
		for _, p := range policies {
			component := find("policy "+p.Name, p.Spec.PodSelector.MatchLabels)
			if pod := all[component]; !serves(component) && (len(p.Spec.Ingress) > 0 || len(pod.Spec.Containers[0].Ports) > 0) {
				t.Errorf("%s lets somebody in: %+v", p.Name, p.Spec.Ingress)
			}
			pod := all[component]
			for _, rule := range p.Spec.Ingress {
				for _, port := range rule.Ports {
					hasPort(t, p.Name, pod, port.Port.String())
				}
			}
		}
		services := map[string]*corev1.Service{}
		for _, s := range of[*corev1.Service](m) {
			services[s.Name] = s
			pod := all[find("service "+s.Name, s.Spec.Selector)]
			for _, port := range s.Spec.Ports {
				hasPort(t, s.Name, pod, port.TargetPort.String())
			}
		}
		if own := services[set.Spec.ServiceName]; own == nil || own.Spec.ClusterIP != corev1.ClusterIPNone {
			t.Errorf("the gateways' names need a headless service %q", set.Spec.ServiceName)
		}
		for _, i := range of[*networkingv1.Ingress](m) {
			for _, path := range i.Spec.Rules[0].HTTP.Paths {
				b := path.Backend.Service
				if s := services[b.Name]; s == nil || !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == b.Port.Name }) {
					t.Errorf("%s leads to %s, port %s, which is not there", path.Path, b.Name, b.Port.Name)
				}
			}
		}
		for _, h := range of[*autoscalingv2.HorizontalPodAutoscaler](m) {
			if ref := h.Spec.ScaleTargetRef; ref.Kind != "StatefulSet" || ref.Name != set.Name || set.Spec.Replicas != nil {
				t.Errorf("%s scales %s %s; the set itself says %v", h.Name, ref.Kind, ref.Name, set.Spec.Replicas)
			}
		}
	})
}

func hasPort(t *testing.T, who string, pod corev1.PodTemplateSpec, name string) {
	t.Helper()
	if !slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == name }) {
		t.Errorf("%s leads to port %q, which its pods do not have", who, name)
	}
}

func TestPodsListenWhereTheyAreAsked(t *testing.T) {
	source, err := os.ReadFile("../../boot/health.go")
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, m manifests) {
		for component, pod := range pods(t, m) {
			if !serves(component) {
				continue
			}
			container := pod.Spec.Containers[0]
			env := environment(t, container)
			for name, variable := range map[string]string{"http": "LISTEN", "metrics": "METRICS_LISTEN"} {
				at := slices.IndexFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
				if at < 0 || env[variable] != "0.0.0.0:"+map[string]string{"http": "8080", "metrics": "9090"}[name] || !strings.HasSuffix(env[variable], ":"+portOf(container.Ports[at])) {
					t.Errorf("%s listens on %s", component, env[variable])
				}
			}
			for what, probe := range map[string]*corev1.Probe{"startup": container.StartupProbe, "liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
				want := map[string]string{"startup": "/health/live", "liveness": "/health/live", "readiness": "/health/ready"}[what]
				if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != want || probe.HTTPGet.Port.String() != "http" {
					t.Errorf("%s: %s probe is %+v", component, what, probe)
				} else if !strings.Contains(string(source), `app.Get("`+want+`"`) {
					t.Errorf("the product does not serve %s", want)
				}
			}
		}
	})
}

func portOf(p corev1.ContainerPort) string {
	return map[int32]string{8080: "8080", 9090: "9090"}[p.ContainerPort]
}

// matches tells whether a label selector chooses labels.
func matches(t *testing.T, selector *metav1.LabelSelector, set map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(labels.Set(set))
}
