package chart

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// TestThePageHasEveryKeyOfTheSecretAndTimeEnough: an installation by its commands alone succeeds.
func TestThePageHasEveryKeyOfTheSecretAndTimeEnough(t *testing.T) {
	page, err := os.ReadFile("../../../deploy/docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	m, err := render(t, values(t, "small"))
	if err != nil {
		t.Fatal(err)
	}
	wanted, made := map[string]bool{}, map[string]bool{}
	for _, pod := range pods(t, m) {
		for _, v := range pod.Spec.Containers[0].Env {
			if v.ValueFrom != nil {
				wanted[v.ValueFrom.SecretKeyRef.Key] = true
			}
		}
	}
	_, block, _ := strings.Cut(string(page), "<<END\n")
	block, _, _ = strings.Cut(block, "\nEND")
	for _, line := range strings.Split(block, "\n") {
		name, _, _ := strings.Cut(line, "=")
		made[name] = true
	}
	if !maps.Equal(wanted, made) {
		t.Errorf("the page makes %v, the pods read %v", slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(wanted)))
	}
	waits, err := time.ParseDuration(regexp.MustCompile(`--timeout (\S+)`).FindStringSubmatch(string(page))[1])
	if took := time.Duration(*only[*batchv1.Job](t, m).Spec.ActiveDeadlineSeconds) * time.Second; err != nil || waits <= took {
		t.Errorf("helm waits %v for a migration of %v (%v)", waits, took, err)
	}
}
