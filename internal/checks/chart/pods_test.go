package chart

import (
	"os"
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
			if component == "migrate" {
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
				if component != "gateway" || !ok || claim.Spec.Resources.Requests.Storage().IsZero() {
					t.Errorf("%s mounts %q, which is no volume", component, mount.Name)
				}
				mounted[mount.MountPath] = mount.Name
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
			if want := []string{"serve", "--role", component}; component != "migrate" && !slices.Equal(pod.Spec.Containers[0].Args, want) {
				t.Errorf("%s runs %v", component, pod.Spec.Containers[0].Args)
			}
		}
	})
}
