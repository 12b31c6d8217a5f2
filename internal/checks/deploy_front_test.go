package checks

import (
	"strings"
	"testing"
)

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
