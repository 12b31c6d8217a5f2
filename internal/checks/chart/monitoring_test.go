package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// serviceMonitor and prometheusRule are the fields that we use of the operator's kinds, as its reference has them
// (monitoring.coreos.com/v1).
type serviceMonitor struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		JobLabel  string               `json:"jobLabel"`
		Selector  metav1.LabelSelector `json:"selector"`
		Endpoints []struct {
			Port, Path, Interval string
			Relabelings          []struct {
				TargetLabel, Replacement string
			} `json:"relabelings"`
		} `json:"endpoints"`
	} `json:"spec"`
}

type prometheusRule struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     map[string]any    `json:"spec"`
}

// TestMonitoringFindsEveryPodOnceAndHasTheRules also demands that no Service is asked for metrics twice.
func TestMonitoringFindsEveryPodOnceAndHasTheRules(t *testing.T) {
	each(t, func(t *testing.T, m manifests) {
		for _, c := range m.custom {
			switch c.Kind {
			case "ServiceMonitor":
				var s serviceMonitor
				if err := yaml.UnmarshalStrict(c.Text, &s); err != nil {
					t.Fatal(err)
				}
				asked := map[string]int{}
				for _, service := range of[*corev1.Service](m) {
					if !matches(t, &s.Spec.Selector, service.Labels) {
						continue
					}
					for _, port := range service.Spec.Ports {
						if port.Name == s.Spec.Endpoints[0].Port {
							asked[service.Spec.Selector["app.kubernetes.io/component"]]++
						}
					}
					if service.Labels[s.Spec.JobLabel] != "callgate" { // the rules ask for it
						t.Errorf("%s: the job would be %q", service.Name, service.Labels[s.Spec.JobLabel])
					}
				}
				if by := s.Spec.Endpoints[0].Relabelings; len(by) != 1 || by[0].TargetLabel != "release" || by[0].Replacement != s.Metadata.Labels["app.kubernetes.io/instance"] {
					t.Errorf("alerts cannot tell this release from others: %+v", by)
				}
				if !reflect.DeepEqual(asked, map[string]int{"gateway": 1, "console": 1}) || s.Spec.Endpoints[0].Path != "/metrics" {
					t.Errorf("metrics are read of %v, at %s", asked, s.Spec.Endpoints[0].Path)
				}
			case "PrometheusRule":
				var r prometheusRule
				if err := yaml.UnmarshalStrict(c.Text, &r); err != nil {
					t.Fatal(err)
				}
				var file map[string]any
				text, err := os.ReadFile(filepath.Join(dir, "files", "alerts.yaml"))
				if err == nil {
					err = yaml.UnmarshalStrict(text, &file)
				}
				if err != nil || len(file) == 0 || !reflect.DeepEqual(r.Spec, file) {
					t.Errorf("the rules are not those of the file (%v)", err)
				}
			default:
				t.Errorf("an object of kind %s", c.Kind)
			}
		}
		metrics, err := os.ReadFile(filepath.Join(dir, "..", "docs", "metrics.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range of[*autoscalingv2.HorizontalPodAutoscaler](m) {
			for _, by := range h.Spec.Metrics {
				if by.Pods != nil && !strings.Contains(string(metrics), "\n| `"+by.Pods.Metric.Name+"` |") {
					t.Errorf("%s scales by %s, which is no metric", h.Name, by.Pods.Metric.Name)
				}
			}
		}
		for _, board := range of[*corev1.ConfigMap](m) {
			var held struct{ UID string }
			if err := json.Unmarshal([]byte(board.Data["callgate-operators.json"]), &held); err != nil || held.UID == "" {
				t.Errorf("%s holds no dashboard: %v", board.Name, err)
			}
		}
	})
}

func TestBothLargeExamplesAreMonitored(t *testing.T) {
	for _, example := range []string{"replicated", "sharded"} {
		m, err := render(t, values(t, example))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.custom) != 2 || len(of[*corev1.ConfigMap](m)) != 1 {
			t.Errorf("%s: %d objects of the Prometheus operator", example, len(m.custom))
		}
	}
}
