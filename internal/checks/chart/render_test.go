// Package chart holds the Helm chart in deploy/chart against what Kubernetes takes and what the product serves.
// It is apart from the other checks because Helm's and Kubernetes' libraries take long to compile.
package chart

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const dir = "../../../deploy/chart"

// examples are the names of the example values files.
func examples(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "examples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".yaml"))
	}
	return names
}

func values(t *testing.T, example string) map[string]any {
	t.Helper()
	v, err := chartutil.ReadValuesFile(filepath.Join(dir, "examples", example+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// manifests are the objects of a release, by file and order in it.
type manifests struct {
	objects []runtime.Object // of Kubernetes itself
	custom  []custom         // of the Prometheus operator
}

// custom is an object of a kind that Kubernetes itself does not know.
type custom struct {
	Kind string
	Text []byte
}

// knownKinds decodes strictly: an unknown or doubled field is an error.
var knownKinds = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}()

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render is what `helm install callgate deploy/chart -f …` would send.
func render(t *testing.T, given map[string]any) (manifests, error) {
	t.Helper()
	c := load(t)
	release := chartutil.ReleaseOptions{Name: "callgate", Namespace: "models", IsInstall: true}
	full, err := chartutil.ToRenderValues(c, given, release, chartutil.DefaultCapabilities) // checks values.schema.json
	if err != nil {
		return manifests{}, err
	}
	files, err := engine.Engine{Strict: true}.Render(c, full)
	if err != nil {
		return manifests{}, err
	}
	var all manifests
	for name, text := range files {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		if err := all.decode(text); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
	}
	return all, nil
}

func (m *manifests) decode(text string) error {
	reader := yamlstream.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &head); err != nil {
			return err
		}
		switch {
		case head.Kind == "": // nothing but comments
		case strings.HasPrefix(head.APIVersion, "monitoring.coreos.com/"):
			m.custom = append(m.custom, custom{head.Kind, document})
		default:
			object, _, err := knownKinds.Decode(document, nil, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", head.Kind, err)
			}
			m.objects = append(m.objects, object)
		}
	}
}

// only is the object of a type that a release has one of.
func only[T runtime.Object](t *testing.T, m manifests) T {
	t.Helper()
	found := of[T](m)
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, want one", len(found), *new(T))
	}
	return found[0]
}

func of[T runtime.Object](m manifests) (found []T) {
	for _, object := range m.objects {
		if one, ok := object.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

func TestChartIsFreeOfFaultsThatHelmFinds(t *testing.T) {
	for _, example := range examples(t) {
		for _, m := range lint.All(dir, values(t, example), "models", true).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%s: %s", example, m)
			}
		}
	}
}

func TestEveryExampleRendersToObjectsThatKubernetesTakes(t *testing.T) {
	names := examples(t)
	if strings.Join(names, " ") != "replicated sharded small" {
		t.Errorf("examples are %q", names)
	}
	for _, example := range names {
		m, err := render(t, values(t, example))
		if err != nil {
			t.Errorf("%s: %v", example, err)
			continue
		}
		if len(m.objects) < 9 {
			t.Errorf("%s: %d objects", example, len(m.objects))
		}
	}
}

func TestChartSaysWhatIsMissingOrWrong(t *testing.T) {
	set := func(path string, value any) map[string]any {
		v := values(t, "small")
		at := v
		names := strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			next, ok := at[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[name] = next
			}
			at = next
		}
		at[names[len(names)-1]] = value
		return v
	}
	for want, given := range map[string]map[string]any{
		"publicBaseURL":             set("publicBaseURL", ""),
		"image.repository":          set("image.repository", ""),
		"/backup/schedule":          set("backup.schedule", "daily"),
		"/gateway/service/type":     set("gateway.service.type", "ExternalName"),
		"console.adminEmails":       set("console.adminEmails", []any{}),
		"console.mailFrom":          set("console.mailFrom", ""),
		"JWT_SECRET is a secret":    set("config", map[string]any{"JWT_SECRET": "0123456789"}),
		"SMTP_URL is a secret":      set("console.config", map[string]any{"SMTP_URL": "smtp://u:p@mail"}),
		"write $(PASSWORD)":         set("stores.redis.url", "redis://:hunter2@redis:6379"),
		"passwordSecret.name":       set("stores.redis.url", "redis://:$(PASSWORD)@redis:6379"),
		"replicass":                 set("gateway.replicass", 3),
		"ingress.hosts":             set("ingress.hosts", []any{}),
		"/drain/delaySeconds":       set("drain.delaySeconds", -1),
		"/gateway/spool/size":       set("gateway.spool.size", "plenty"),
		"set by the chart: LISTEN":  set("config", map[string]any{"LISTEN": "0.0.0.0:80"}),
		"lower_case does not match": set("config", map[string]any{"lower_case": "x"}),
		"/gateway/autoscaling/min":  set("gateway.autoscaling.minReplicas", 0),
		"/proxies/trusted/0":        set("proxies", map[string]any{"trusted": []any{"the ingress"}}),
		"/proxies/addressHeader":    set("proxies.addressHeader", "X-Client"),
		"needs proxies.trusted":     set("proxies", map[string]any{"trusted": []any{}, "protocol": true}),
		"chart: TRUSTED_PROXIES":    set("config", map[string]any{"TRUSTED_PROXIES": "10.0.0.1"}),
		"/secrets/optional":         set("secrets.optional", []any{"PASSWORD"}),
	} {
		if _, err := render(t, given); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "'", ""), want) {
			t.Errorf("want a sentence with %q, got %v", want, err)
		}
	}
}

func TestExamplesHoldNoSecret(t *testing.T) {
	for _, example := range examples(t) {
		text, err := os.ReadFile(filepath.Join(dir, "examples", example+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if _, credentials, ok := strings.Cut(line, "://"); ok && !strings.HasPrefix(line, "#") {
				user, _, ok := strings.Cut(credentials, "@")
				if ok && !strings.HasSuffix(user, ":$(PASSWORD)") {
					t.Errorf("%s: %s", example, line)
				}
			}
		}
	}
}
