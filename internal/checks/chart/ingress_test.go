package chart

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

// TestIngressLeadsBothRootsOfTheGatewayToTheGateways: on every host, and all the rest to the consoles.
func TestIngressLeadsBothRootsOfTheGatewayToTheGateways(t *testing.T) {
	given := values(t, "small")
	given["ingress"] = map[string]any{"enabled": true, "hosts": []any{"a.example.com", "b.example.com"}}
	m, err := render(t, given)
	if err != nil {
		t.Fatal(err)
	}
	rules := only[*networkingv1.Ingress](t, m).Spec.Rules
	if len(rules) != 2 {
		t.Fatalf("%d hosts", len(rules))
	}
	for _, rule := range rules {
		got := map[string]string{}
		for _, path := range rule.HTTP.Paths {
			if *path.PathType != networkingv1.PathTypePrefix {
				t.Errorf("%s is %s", path.Path, *path.PathType)
			}
			got[path.Path] = path.Backend.Service.Name
		}
		if len(got) != 3 || got["/gateway"] != "callgate-gateway" || got["/via"] != "callgate-gateway" || got["/"] != "callgate-console" {
			t.Errorf("%s: %v", rule.Host, got)
		}
	}
}
