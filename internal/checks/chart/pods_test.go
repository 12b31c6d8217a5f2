package chart

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestPodsAreGivenTheTimeTheyLeaveIn demands that a process is gone from every balancer before it stops to take
// connections, and is not killed before its records are shipped (deploy/docs/operations.md, "Stopping and losing things").
func TestPodsAreGivenTheTimeTheyLeaveIn(t *testing.T) {
	each(t, func(t *testing.T, m manifests) {
		for component, pod := range pods(t, m) {
			if !serves(component) {
				continue
			}
			env := environment(t, pod.Spec.Containers[0])
			delay, errDelay := time.ParseDuration(env["DRAIN_DELAY"])
			timeout, errTimeout := time.ParseDuration(env["DRAIN_TIMEOUT"])
			grace := time.Duration(*pod.Spec.TerminationGracePeriodSeconds) * time.Second
			if errDelay != nil || errTimeout != nil || grace < delay+timeout+15*time.Second {
				t.Errorf("%s has %v to leave, and needs DRAIN_DELAY %s + DRAIN_TIMEOUT %s + 15s", component, grace, env["DRAIN_DELAY"], env["DRAIN_TIMEOUT"])
			}
			probe := pod.Spec.Containers[0].ReadinessProbe
			if noticed := time.Duration(probe.PeriodSeconds*probe.FailureThreshold+probe.TimeoutSeconds) * time.Second; noticed > delay {
				t.Errorf("%s: that it is leaving is noticed within %v, and it serves on for %v", component, noticed, delay)
			}
			if pod.Spec.Containers[0].Lifecycle != nil {
				t.Errorf("%s: a preStop hook would come on top", component)
			}
		}
	})
}

func TestPodsHaveNoRightThatTheyDoNotNeed(t *testing.T) {
	each(t, func(t *testing.T, m manifests) {
		for component, pod := range pods(t, m) {
			s, c := pod.Spec.SecurityContext, pod.Spec.Containers[0].SecurityContext
			if s == nil || !*s.RunAsNonRoot || *s.RunAsUser == 0 || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%s runs as %+v", component, s)
			}
			if c == nil || *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || !slices.Contains(c.Capabilities.Drop, "ALL") {
				t.Errorf("%s: %+v", component, c)
			}
			if *pod.Spec.AutomountServiceAccountToken {
				t.Errorf("%s has a token for the cluster", component)
			}
			dockerfile, err := os.ReadFile(filepath.Join(dir, "..", "Dockerfile"))
			if err != nil || !strings.Contains(string(dockerfile), "--uid 10001") || *s.RunAsUser != 10001 || *s.FSGroup != 10001 {
				t.Errorf("%s does not run as the image's user (%v)", component, err)
			}
		}
		for _, p := range of[*networkingv1.NetworkPolicy](m) {
			if len(p.Spec.PolicyTypes) != 2 || len(p.Spec.Egress) != 2 {
				t.Errorf("%s: %+v", p.Name, p.Spec)
				continue
			}
			for _, to := range p.Spec.Egress[1].To {
				if to.IPBlock != nil && len(to.IPBlock.Except) != 1 {
					t.Errorf("%s lets its pods reach the cloud's metadata service in %s", p.Name, to.IPBlock.CIDR)
				}
			}
		}
	})
}

func TestMountedVolumesExistAndOutliveTheirPods(t *testing.T) {
	each(t, func(t *testing.T, m manifests) {
		set := only[*appsv1.StatefulSet](t, m)
		claims := map[string]corev1.PersistentVolumeClaim{}
		for _, claim := range set.Spec.VolumeClaimTemplates {
			claims[claim.Name] = claim
		}
		mounted := map[string]string{}
		for component, pod := range pods(t, m) {
			for _, mount := range pod.Spec.Containers[0].VolumeMounts {
				claim, ok := claims[mount.Name]
				ok = ok && component == "gateway" && !claim.Spec.Resources.Requests.Storage().IsZero()
				if !ok && !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name }) {
					t.Errorf("%s mounts %q, which is no volume", component, mount.Name)
				}
				if component == "gateway" {
					mounted[mount.MountPath] = mount.Name
				}
			}
		}
		for _, claim := range of[*corev1.PersistentVolumeClaim](m) {
			if claim.Annotations["helm.sh/resource-policy"] != "keep" || claim.Spec.Resources.Requests.Storage().IsZero() {
				t.Errorf("what is on %s goes with the release: %v", claim.Name, claim.Annotations)
			}
		}
		if dir := environment(t, set.Spec.Template.Spec.Containers[0])["SPOOL_DIR"]; mounted[dir] == "" {
			t.Errorf("SPOOL_DIR %s is no volume: %v", dir, mounted)
		}
		if kept := set.Spec.PersistentVolumeClaimRetentionPolicy; kept == nil || kept.WhenScaled != appsv1.RetainPersistentVolumeClaimRetentionPolicyType || kept.WhenDeleted != kept.WhenScaled {
			t.Errorf("records on a volume would go with it: %+v", kept)
		}
	})
}

func TestMigrationsRunBeforePodsOfAVersionStart(t *testing.T) {
	each(t, func(t *testing.T, m manifests) {
		job := only[*batchv1.Job](t, m)
		if job.Annotations["helm.sh/hook"] != "pre-install,pre-upgrade" || !slices.Equal(job.Spec.Template.Spec.Containers[0].Args, []string{"migrate"}) {
			t.Errorf("%v runs %v", job.Annotations, job.Spec.Template.Spec.Containers[0].Args)
		}
		image := job.Spec.Template.Spec.Containers[0].Image
		for component, pod := range pods(t, m) {
			if pod.Spec.Containers[0].Image != image {
				t.Errorf("%s runs %s, the migration %s", component, pod.Spec.Containers[0].Image, image)
			}
			if want := []string{"serve", "--role", component}; serves(component) && !slices.Equal(pod.Spec.Containers[0].Args, want) {
				t.Errorf("%s runs %v", component, pod.Spec.Containers[0].Args)
			}
		}
	})
}

// TestPodsAreSpreadAndSetAsTheInstallationSays: without a word over zones and nodes, softly; else as it says, each with its labels,
// priority, variables and files, the Services of a type of its own.
func TestPodsAreSpreadAndSetAsTheInstallationSays(t *testing.T) {
	small, err := render(t, values(t, "small"))
	if err != nil {
		t.Fatal(err)
	}
	for component, pod := range pods(t, small) {
		if !serves(component) {
			continue
		}
		spread := pod.Spec.TopologySpreadConstraints
		if len(spread) != 2 || spread[0].WhenUnsatisfiable != corev1.ScheduleAnyway || !matches(t, spread[1].LabelSelector, pod.Labels) {
			t.Errorf("%s is spread by %+v", component, spread)
		}
	}
	given := values(t, "small")
	given["extraEnv"] = []any{map[string]any{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}}
	given["extraEnvFrom"] = []any{map[string]any{"configMapRef": map[string]any{"name": "more"}}}
	given["extraVolumes"] = []any{map[string]any{"name": "ca", "configMap": map[string]any{"name": "ca"}}}
	given["extraVolumeMounts"] = []any{map[string]any{"name": "ca", "mountPath": "/ca"}}
	given["backup"] = map[string]any{"enabled": true, "keep": 3}
	own := map[string]any{
		"podLabels": map[string]any{"team": "models"}, "priorityClassName": "high", "service": map[string]any{"type": "LoadBalancer", "externalTrafficPolicy": "Local", "annotations": map[string]any{"a": "b"}},
		"topologySpreadConstraints": []any{map[string]any{"maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}},
	}
	for _, component := range []string{"gateway", "console"} {
		maps.Copy(given[component].(map[string]any), own)
	}
	given["gateway"].(map[string]any)["updateStrategy"] = map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"partition": 2}}
	set, err := render(t, given)
	if err != nil {
		t.Fatal(err)
	}
	if gateways := only[*appsv1.StatefulSet](t, set); *gateways.Spec.UpdateStrategy.RollingUpdate.Partition != 2 {
		t.Errorf("gateways are updated by %+v", gateways.Spec.UpdateStrategy)
	}
	all := pods(t, set)
	if len(all) != 4 {
		t.Fatalf("%d kinds of pods", len(all))
	}
	for component, pod := range all {
		c := pod.Spec.Containers[0]
		if environment(t, c)["HTTPS_PROXY"] == "" || len(c.EnvFrom) != 1 || c.VolumeMounts[len(c.VolumeMounts)-1].MountPath != "/ca" || pod.Spec.Volumes[len(pod.Spec.Volumes)-1].ConfigMap.Name != "ca" {
			t.Errorf("%s lacks what the installation adds: %+v", component, c)
		}
		if serves(component) && (pod.Labels["team"] != "models" || pod.Spec.PriorityClassName != "high" || len(pod.Spec.TopologySpreadConstraints) != 1) {
			t.Errorf("%s: %+v", component, pod)
		}
	}
	balanced := 0
	for _, s := range of[*corev1.Service](set) {
		if s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal && s.Annotations["a"] == "b" {
			balanced++
		}
	}
	if balanced != 2 {
		t.Errorf("%d Services are of the type that was asked for", balanced)
	}
}

// TestBackupsAreMadeKeptAndCounted runs the job's script with a backup command of the test's own: what is not whole is neither
// kept nor counted, of the others the newest stay, and a backup that fails takes none away.
func TestBackupsAreMadeKeptAndCounted(t *testing.T) {
	given := values(t, "small")
	given["backup"] = map[string]any{"enabled": true, "keep": 2}
	m, err := render(t, given)
	if err != nil {
		t.Fatal(err)
	}
	c := pods(t, m)["backup"].Spec.Containers[0]
	kept, programs := t.TempDir(), t.TempDir()
	for _, name := range []string{"2026-11-20T191500Z", "2026-11-21T191500Z", "2026-11-22T191500Z.partial"} {
		if err := os.Mkdir(filepath.Join(kept, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	run := func(command string) error {
		if err := os.WriteFile(filepath.Join(programs, "callgate"), []byte("#!/bin/sh\n"+command), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), c.Command[0], c.Command[1], strings.ReplaceAll(c.Args[0], "/backups", kept)) //nolint:gosec // the chart's
		cmd.Env = []string{"PATH=" + programs + ":" + os.Getenv("PATH")}
		return cmd.Run()
	}
	there := func() (names []string) {
		entries, err := os.ReadDir(kept)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if err := run("exit 1"); err == nil || !slices.Equal(there(), []string{"2026-11-20T191500Z", "2026-11-21T191500Z"}) {
		t.Errorf("after a backup that failed (%v) there are %v", err, there())
	}
	if err := run(`test "$1" = backup && mkdir "$2"`); err != nil {
		t.Fatal(err)
	}
	if names := there(); len(names) != 2 || names[0] != "2026-11-21T191500Z" {
		t.Errorf("after the third backup there are %v", names)
	}
}
